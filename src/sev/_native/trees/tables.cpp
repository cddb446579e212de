#include "trees/tables.hpp"

namespace sev::trees {

namespace {

/// The first feature from ``from`` on that may be the higher one of a pair that brings the margin down to the limit.
/// No branch in the inner loop, so that several entries are looked at in one step.
SEV_WIDE_REGISTERS
std::size_t next_low(std::size_t from, const PairTables& tables, double limit) {
    const double* single = tables.single();
    for (std::size_t j = from; j < tables.n; ++j) {
        const double here = tables.start + single[j];
        const double* pair = tables.pair() + n_pairs(j);
        std::int64_t hits = 0;
        for (std::size_t i = 0; i < j; ++i) hits += here + (single[i] + pair[i]) <= limit ? 1 : 0;
        if (hits > 0) return j;
    }
    return tables.n;
}

bool is_usable(const std::uint8_t* usable, std::size_t feature) { return usable == nullptr || usable[feature] != 0; }

void record_singles(const PairTables& tables, const std::uint8_t* usable, Found& found) {
    for (std::size_t i = 0; i < tables.n; ++i) {
        const double value = tables.start + tables.single()[i];
        const auto pick = static_cast<std::int32_t>(i);
        if (value <= found.limit() && is_usable(usable, i)) found.record(&pick, 1, value);
    }
}

void record_pairs(const PairTables& tables, const std::uint8_t* usable, Found& found) {
    const double* single = tables.single();
    for (std::size_t j = next_low(1, tables, found.limit()); j < tables.n; j = next_low(j + 1, tables, found.limit())) {
        const double here = tables.start + single[j];
        const double* pair = tables.pair() + n_pairs(j);
        if (!is_usable(usable, j)) continue;
        for (std::size_t i = 0; i < j; ++i) {
            const double value = here + (single[i] + pair[i]);
            const std::int32_t picks[2] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)};
            if (value <= found.limit() && is_usable(usable, i)) found.record(picks, 2, value);
        }
    }
}

}  // namespace

void PairTables::clear(std::size_t n_features) {
    n = n_features;
    terms.assign(n + n_pairs(n), 0.0);
}

double expand_pairs(const Cubes& cubes, TreeRange trees, double* single, double* pair) {
    const std::int32_t* member = cubes.member.data();
    double constant = 0.0;
    const auto end_cube = static_cast<std::size_t>(cubes.tree[trees.end]);
    for (auto i = static_cast<std::size_t>(cubes.tree[trees.begin]); i < end_cube; ++i) {
        const std::int64_t begin = cubes.first[i], end = cubes.first[i + 1];
        const std::int32_t need = cubes.need[i];
        double value = cubes.leaf[i];
        if (need == 0) {
            constant += value;
            for (std::int64_t a = begin; a < end; ++a) single[member[a]] -= value;
        } else if (need == 1) {
            single[member[begin]] += value;
            value = -value;
        }
        if (need > 2 || pair == nullptr) continue;
        // Pairs to write: all of the cube (none needed), the needed one with each other, or the two needed ones.
        const std::int64_t end_one = need == 0 ? end : begin + 1, end_other = need < 2 ? end : begin + 2;
        for (std::int64_t a = begin; a < end_one; ++a)
            for (std::int64_t b = a + 1; b < end_other; ++b)
                pair[pair_at(static_cast<std::size_t>(member[a]), static_cast<std::size_t>(member[b]))] += value;
    }
    return constant;
}

void make_pair_tables(const Row& row, PairTables& tables) {
    tables.clear(row.feature.size());
    for (std::size_t i = 0; i < tables.n; ++i) tables.single()[i] = row.linear[i];
    tables.start =
        row.constant + expand_pairs(row.cubes, {0, row.cubes.n_trees()}, tables.single(), tables.pair());
}

std::int64_t search_pairs(const PairTables& tables, const std::uint8_t* usable, std::int64_t from,
                          std::int64_t max_size, Found& found) {
    if (from == 1) {
        record_singles(tables, usable, found);
        from = 2;
    }
    if (found.any() || from > 2 || max_size < 2) return from;
    record_pairs(tables, usable, found);
    return 3;
}

}  // namespace sev::trees
