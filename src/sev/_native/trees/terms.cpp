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

/// The features of one tree that knows at most 64 in all, as bits.
std::uint64_t features_of(const Cubes& cubes, std::size_t tree) {
    std::uint64_t features = 0;
    const auto begin = static_cast<std::size_t>(cubes.tree[tree]), end = static_cast<std::size_t>(cubes.tree[tree + 1]);
    for (auto a = static_cast<std::size_t>(cubes.first[begin]); a < static_cast<std::size_t>(cubes.first[end]); ++a)
        features |= bit_of(static_cast<std::size_t>(cubes.member[a]));
    return features;
}

}  // namespace

Facts facts_of(const Row& row) {
    const Cubes& cubes = row.cubes;
    Facts facts;
    facts.n_features = row.n();
    facts.n_members = cubes.first.back();
    for (std::size_t i = 0; i < cubes.n_cubes(); ++i)
        facts.widest_cube = std::max(facts.widest_cube, cubes.first[i + 1] - cubes.first[i]);
    if (row.n() > 64) {  // as many as one tree can have: nothing is made of trees that wide
        facts.widest_tree = facts.n_features;
        return facts;
    }
    for (std::size_t t = 0; t < cubes.n_trees(); ++t) {
        const int width = count_bits(features_of(cubes, t));
        facts.widest_tree = std::max<std::int64_t>(facts.widest_tree, width);
        facts.n_terms = std::min(facts.n_terms + (std::int64_t{1} << std::min(width, 40)), std::int64_t{1} << 40);
    }
    return facts;
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

/// Add the cubes of one tree to a table over all sets of its own features; returns the sum of all absolute values.
double TermSearch::write_cubes(const Cubes& cubes, std::size_t tree) {
    double total = 0.0;
    for (auto i = static_cast<std::size_t>(cubes.tree[tree]); i < static_cast<std::size_t>(cubes.tree[tree + 1]); ++i) {
        std::uint32_t inside = 0, outside = 0;
        const std::int64_t middle = cubes.first[i] + cubes.need[i];
        for (std::int64_t a = cubes.first[i]; a < cubes.first[i + 1]; ++a)
            (a < middle ? inside : outside) |= bit_[static_cast<std::size_t>(cubes.member[static_cast<std::size_t>(a)])];
        for (std::uint32_t some = outside;; some = (some - 1) & outside) {
            local_[inside | some] += (count_bits(some) & 1) != 0 ? -cubes.leaf[i] : cubes.leaf[i];
            total += std::fabs(cubes.leaf[i]);
            if (some == 0) break;
        }
    }
    return total;
}

double TermSearch::write_tree(const Row& row, std::size_t tree) {
    own_.clear();
    for (std::size_t g = 0; features_[tree] >> g != 0; ++g) {
        if (((features_[tree] >> g) & 1) == 0) continue;
        bit_[g] = 1u << own_.size();
        own_.push_back(g);
    }
    const double total = write_cubes(row.cubes, tree);
    rank_[0] = 0;
    for (std::size_t b = 0; b < own_.size(); ++b)
        for (std::size_t low = 0; low < (std::size_t{1} << b); ++low) {
            const std::size_t mask = low + (std::size_t{1} << b);
            const auto d = static_cast<std::size_t>(count_bits(mask));
            if (d <= size_) {
                rank_[mask] = rank_[low] + count_at(own_[b], d);
                terms_[offset_at(0, d) + rank_[mask]] += local_[mask];
            }
            local_[mask] = 0.0;
        }
    return total;
}

/// Write the terms of all trees; returns a bound on what rounding has done to the margin of any set.
double TermSearch::write_terms(const Row& row, Budget& budget) {
    const std::size_t n = row.feature.size();
    double total = std::fabs(row.constant);
    std::fill_n(terms_.begin(), offset_at(1, 1), 0.0);  // the tables before the first pick
    for (std::size_t g = 0; g < n; ++g) {
        terms_[g] = row.linear[g];
        total += std::fabs(row.linear[g]);
    }
    for (std::size_t t = 0; t < row.cubes.n_trees(); ++t) {
        total += write_tree(row, t);
        budget.spend(std::int64_t{5} << own_.size());
    }
    values_[0] = row.constant + local_[0];
    local_[0] = 0.0;
    return addition_error * total * (static_cast<double>(row.cubes.n_cubes()) + 2.0 * static_cast<double>(n) + 2.0);
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
    features_.resize(row.cubes.n_trees());
    std::size_t widest = 0;
    for (std::size_t t = 0; t < features_.size(); ++t) {
        features_[t] = features_of(row.cubes, t);
        widest = std::max(widest, static_cast<std::size_t>(count_bits(features_[t])));
    }
    highest_ = std::max<std::size_t>(2, std::min(size_, widest));
    local_.assign(std::size_t{1} << widest, 0.0);
    rank_.resize(std::size_t{1} << widest);
    bit_.resize(n);
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
