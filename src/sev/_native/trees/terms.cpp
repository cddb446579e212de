#include "trees/terms.hpp"

#include <algorithm>
#include <cmath>

namespace sev::trees {

namespace {

SEV_WIDE_REGISTERS
void add_stretch(double* to, const double* from, const double* beside, std::size_t n) {
    for (std::size_t e = 0; e < n; ++e) to[e] = from[e] + beside[e];
}

SEV_WIDE_REGISTERS
std::int64_t count_low(std::size_t n, double here, const double* single, const double* pair, double limit) {
    std::int64_t hits = 0;
    for (std::size_t i = 0; i < n; ++i) hits += here + (single[i] + pair[i]) <= limit ? 1 : 0;
    return hits;
}

constexpr std::int64_t most_terms = std::int64_t{1} << 40;

}  // namespace

Facts facts_of(const Row& row) {
    const Cubes& cubes = row.cubes;
    Facts facts;
    facts.n_features = row.n();
    facts.n_members = cubes.first.back();
    for (std::size_t i = 0; i < cubes.n_cubes(); ++i)
        facts.widest_cube = std::max(facts.widest_cube, cubes.first[i + 1] - cubes.first[i]);
    return facts;
}

std::int64_t count_terms(const Row& row, int size) {
    const Cubes& cubes = row.cubes;
    // How many sets of up to d of m features there are.
    const std::size_t n = row.feature.size(), width = static_cast<std::size_t>(size) + 1;
    std::vector<std::int64_t> subsets((n + 1) * width, 1);
    for (std::size_t m = 1; m <= n; ++m)
        for (std::size_t d = 1; d < width; ++d)
            subsets[m * width + d] = std::min(subsets[(m - 1) * width + d] + subsets[(m - 1) * width + d - 1], most_terms);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < cubes.n_cubes(); ++i) {
        if (cubes.need[i] > size) continue;
        const auto outside = static_cast<std::size_t>(cubes.first[i + 1] - cubes.first[i] - cubes.need[i]);
        total = std::min(total + subsets[outside * width + static_cast<std::size_t>(size - cubes.need[i])], most_terms);
    }
    return total;
}

void TermSearch::count_sets(std::size_t n) {
    counts_.assign((n + 1) * (size_ + 1), 0);
    for (std::size_t p = 0; p <= n; ++p) {
        counts_[p * (size_ + 1)] = 1;
        for (std::size_t d = 1; d <= size_ && p > 0; ++d)
            counts_[p * (size_ + 1) + d] = count_at(p - 1, d) + count_at(p - 1, d - 1);
    }
}

/// After j picks at most n - j features are left, and at most size - j degrees matter.
void TermSearch::lay_out(std::size_t n) {
    offsets_.assign(size_ * (size_ + 2), 0);
    std::size_t end = 0;
    for (std::size_t j = 0; j + 1 < size_; ++j)
        for (std::size_t d = 1; d <= std::min(size_ - j, highest_); ++d) {
            offset_at(j, d) = end;
            end += count_at(n - j, d);
        }
    terms_.resize(end);
}

/// The terms of one cube: all needed features, and any of the others, in order of their numbers.
void TermSearch::expand_cube(const Cubes& cubes, std::size_t cube) {
    members_.clear();
    const std::int64_t middle = cubes.first[cube] + cubes.need[cube];
    for (std::int64_t a = cubes.first[cube]; a < cubes.first[cube + 1]; ++a)
        members_.push_back(static_cast<std::uint32_t>(cubes.member[static_cast<std::size_t>(a)]) << 1 | (a < middle ? 0 : 1));
    std::sort(members_.begin(), members_.end());
    expanded_.assign(1, {0, 0});
    for (const std::uint32_t member : members_) {
        const std::size_t *counts = counts_.data() + (member >> 1) * (size_ + 1), n = expanded_.size();
        if ((member & 1) == 0) {  // needed: in every term, and those without a place for it are gone
            std::size_t kept = 0;
            for (const Term term : expanded_)
                if (term.degree < size_)
                    expanded_[kept++] = {term.degree + 1, term.rank + static_cast<std::uint32_t>(counts[term.degree + 1])};
            expanded_.resize(kept);
            continue;
        }
        for (std::size_t at = 0; at < n; ++at) {
            const Term term = expanded_[at];
            if (term.degree < size_)
                expanded_.push_back({term.degree + 1, term.rank + static_cast<std::uint32_t>(counts[term.degree + 1])});
        }
    }
}

/// Write the terms of all cubes; returns a bound on what rounding has done to the margin of any set.
double TermSearch::write_terms(const Row& row, Budget& budget) {
    const std::size_t n = row.feature.size();
    const Cubes& cubes = row.cubes;
    double total = std::fabs(row.constant), constant = row.constant;
    std::fill_n(terms_.begin(), offset_at(1, 1), 0.0);  // the tables before the first pick
    for (std::size_t g = 0; g < n; ++g) {
        terms_[g] = row.linear[g];
        total += std::fabs(row.linear[g]);
    }
    for (std::size_t i = 0; i < cubes.n_cubes(); ++i) {
        const auto need = static_cast<std::uint32_t>(cubes.need[i]);
        if (need > size_) continue;
        expand_cube(cubes, i);
        // The sign turns with each feature that is not needed.
        const double signed_leaf[2] = {cubes.leaf[i], -cubes.leaf[i]};
        for (const Term term : expanded_)
            (term.degree == 0 ? constant : terms_[offset_at(0, term.degree) + term.rank]) += signed_leaf[(term.degree - need) & 1];
        total += std::fabs(cubes.leaf[i]) * static_cast<double>(expanded_.size());
        budget.spend(3 * static_cast<std::int64_t>(expanded_.size()));
    }
    values_[0] = constant;
    return addition_error * total * (static_cast<double>(cubes.n_cubes()) + 2.0 * static_cast<double>(n) + 2.0);
}

/// The tables of the features below a pick once it is in the set.
void TermSearch::fold(std::size_t pick, std::size_t depth) {
    const std::size_t left = size_ - depth, highest = std::min(left, highest_);
    for (std::size_t d = 1; d <= std::min(left - 1, highest); ++d) {
        double* to = terms_.data() + offset_at(depth + 1, d);
        const double* from = terms_.data() + offset_at(depth, d);
        if (d < highest)
            add_stretch(to, from, terms_.data() + offset_at(depth, d + 1) + count_at(pick, d + 1), count_at(pick, d));
        else
            std::copy_n(from, count_at(pick, d), to);
    }
}

/// Record the sets that end with two of the features that are left.
bool TermSearch::scan_pairs(const Row& row, std::size_t depth, double slack, Found& found, Budget& budget) {
    const double *single = terms_.data() + offset_at(depth, 1), *pairs = terms_.data() + offset_at(depth, 2);
    for (std::size_t j = 1; j < top_[depth]; ++j) {
        const double here = values_[depth] + single[j];
        const double* pair = pairs + j * (j - 1) / 2;
        if (count_low(j, here, single, pair, found.limit() + slack) == 0) continue;
        picks_[depth] = static_cast<std::int32_t>(j);
        for (std::size_t i = 0; i < j; ++i) {
            if (here + (single[i] + pair[i]) > found.limit() + slack) continue;
            picks_[depth + 1] = static_cast<std::int32_t>(i);
            const double value = margin_of(row, picks_.data(), static_cast<int>(size_), chosen_);
            if (value <= found.limit()) found.record(picks_.data(), static_cast<int>(size_), value);
            if (!budget.spend(row.cubes.first.back())) return false;
        }
    }
    return budget.spend(static_cast<std::int64_t>(top_[depth] * top_[depth]));
}

bool TermSearch::search(const Row& row, int size, Found& found, Budget& budget) {
    const std::size_t n = row.feature.size();
    if (static_cast<std::size_t>(size) > n) return true;
    size_ = static_cast<std::size_t>(size);
    highest_ = std::max<std::size_t>(2, std::min(size_, static_cast<std::size_t>(facts_of(row).widest_cube)));
    values_.resize(size_);
    picks_.resize(size_);
    top_.resize(size_);
    chosen_.assign(n, 0);
    count_sets(n);
    lay_out(n);
    const double slack = write_terms(row, budget);
    top_[0] = n;
    for (std::size_t depth = 0;;) {
        const std::size_t left = size_ - depth;
        if (left > 2 && top_[depth] >= left) {
            const std::size_t pick = --top_[depth];  // the highest that is left
            picks_[depth] = static_cast<std::int32_t>(pick);
            values_[depth + 1] = values_[depth] + terms_[offset_at(depth, 1) + pick];
            fold(pick, depth);
            top_[++depth] = pick;
            continue;
        }
        if (left == 2 && !scan_pairs(row, depth, slack, found, budget)) return false;
        if (depth == 0) return true;
        --depth;
    }
}

}  // namespace sev::trees
