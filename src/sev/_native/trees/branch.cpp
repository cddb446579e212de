#include "trees/branch.hpp"

#include <algorithm>
#include <numeric>

#include "trees/margin.hpp"

namespace sev::trees {

std::int64_t order_features(Row& row, double limit) {
    const std::size_t n = row.feature.size();
    std::vector<double> delta(n, 0.0), rho(n, 0.0), weight(row.linear), linear(n);
    std::vector<std::int32_t> order(n), place(n), feature(n);
    std::iota(order.begin(), order.end(), 0);
    double reach = row.constant + add_weights(row.cubes, {0, row.cubes.n_trees()}, delta, rho, weight.data());
    sort_by_weight(order, weight);
    auto needed = static_cast<std::int64_t>(n) + 1;
    for (std::size_t a = 0; a < n; ++a) {
        const auto old = static_cast<std::size_t>(order[a]);
        reach += weight[old];
        if (reach <= limit && needed > static_cast<std::int64_t>(n)) needed = static_cast<std::int64_t>(a) + 1;
        place[old] = static_cast<std::int32_t>(a);
        feature[a] = row.feature[old];
        linear[a] = row.linear[old];
    }
    row.feature.swap(feature);
    row.linear.swap(linear);
    for (std::int32_t& member : row.cubes.member) member = place[static_cast<std::size_t>(member)];
    return needed;
}

void BranchSearch::begin(const Row& row, std::size_t deepest) {
    n_ = row.feature.size();
    stack_.begin(row, deepest);
    depths_.resize(deepest + 1);
    out_.assign(n_, 0);
    picks_.resize(n_ + 1);
    depths_[0].order.resize(n_);
    std::iota(depths_[0].order.begin(), depths_[0].order.end(), 0);
}

/// Put the features that are left in the order of their weights, once the trees of a depth are on the stack.
void BranchSearch::enter(std::size_t depth) {
    stack_.weigh(depth);
    sort_by_weight(depths_[depth].order, stack_.at(depth).weight);
    depths_[depth].next = 0;
}

/// A bound from below on the margin of the sets that have the next feature or a later one: ``most`` further picks, or
/// any number of them.
double BranchSearch::bound(std::size_t depth, std::size_t most, bool probing) const {
    const Depth& at = depths_[depth];
    const std::vector<double>& weights = stack_.at(depth).weight;
    double low = stack_.at(depth).value;
    const std::size_t end = probing ? at.order.size() : std::min(at.order.size(), at.next + most);
    for (std::size_t a = at.next; a < end; ++a) {
        const double weight = weights[static_cast<std::size_t>(at.order[a])];
        if (weight < 0.0 || !probing) low += weight;
    }
    return low;
}

/// Features that were given up at a depth are back for the depths above.
void BranchSearch::leave(std::size_t depth) {
    const Depth& at = depths_[depth];
    for (std::size_t a = 0; a < at.next; ++a) out_[static_cast<std::size_t>(at.order[a])] = 0;
}

void BranchSearch::record_singles(const std::vector<double>& single, const std::int32_t* from, const std::int32_t* end, double start,
                                  int picked, Found& found) {
    for (const std::int32_t* a = from; a < end; ++a) {
        const double value = start + single[static_cast<std::size_t>(*a)];
        if (value > found.limit()) continue;
        picks_[static_cast<std::size_t>(picked)] = *a;
        found.record(picks_.data(), picked + 1, value);
    }
}

void BranchSearch::record_pairs(const std::vector<double>& single, const std::int32_t* from, const std::int32_t* end, double start,
                                int picked, Found& found) {
    const auto picked_at = static_cast<std::size_t>(picked);
    for (const std::int32_t* a = from; a < end; ++a) {
        const auto i = static_cast<std::size_t>(*a);
        const double here = start + single[i];
        for (const std::int32_t* b = a + 1; b < end; ++b) {
            const auto j = static_cast<std::size_t>(*b);
            const double value = here + single[j] + pair_[pair_at(i, j)];
            if (value > found.limit()) continue;
            picks_[picked_at] = *a;
            picks_[picked_at + 1] = *b;
            found.record(picks_.data(), picked + 2, value);
        }
    }
}

/// Record the sets that end with one or two of the features left at a depth, whose trees lie one depth further.
void BranchSearch::record_last(std::size_t depth, bool pairs, Found& found) {
    const Depth& at = depths_[depth];
    const std::int32_t *from = at.order.data() + at.next, *end = at.order.data() + at.order.size();
    if (pairs) {
        pair_.resize(n_pairs(n_));
        for (const std::int32_t* a = from; a < end; ++a)
            for (const std::int32_t* b = from; b < a; ++b)
                pair_[pair_at(static_cast<std::size_t>(*a), static_cast<std::size_t>(*b))] = 0.0;
    }
    const double start = stack_.expand(depth + 1, pairs ? pair_.data() : nullptr);
    const std::vector<double>& single = stack_.at(depth + 1).linear;
    const int picked = static_cast<int>(depth) + 1;
    if (pairs)
        record_pairs(single, from, end, start, picked, found);
    else
        record_singles(single, from, end, start, picked, found);
}

BranchSearch::Answer BranchSearch::search(const Row& row, int size, Found& found, Budget& budget) {
    const auto wanted = static_cast<std::size_t>(size);
    begin(row, wanted);
    if (wanted > n_) return Answer::no;
    if (size == 1) {
        const double start = stack_.expand(0, nullptr);
        const std::vector<std::int32_t>& order = depths_[0].order;
        record_singles(stack_.at(0).linear, order.data(), order.data() + n_, start, 0, found);
        return found.any() ? Answer::yes : Answer::no;
    }
    const bool pairs = n_ <= widest_pairs_ && size > 2;  // one table answers for the last two picks at once
    enter(0);
    for (std::size_t depth = 0;;) {
        Depth& at = depths_[depth];
        const std::size_t left = wanted - depth;
        if (at.order.size() < at.next + left || bound(depth, left, false) > found.limit()) {
            leave(depth);
            if (depth == 0) return found.any() ? Answer::yes : Answer::no;
            --depth;
            continue;
        }
        const std::int32_t pick = at.order[at.next++];
        picks_[depth] = pick;
        stack_.descend(depth, pick, static_cast<std::int64_t>(left) - 1, out_);
        out_[static_cast<std::size_t>(pick)] = 1;
        const auto rest = static_cast<std::int64_t>(at.order.size() - at.next);
        std::int64_t work = 4 * stack_.work_of(depth) + 4 * rest + 50;
        if (left == (pairs ? 3u : 2u)) {
            work += rest * rest;
            record_last(depth, pairs, found);
        } else {
            Depth& to = depths_[depth + 1];
            to.order.assign(at.order.begin() + static_cast<std::ptrdiff_t>(at.next), at.order.end());
            enter(++depth);
        }
        if (!budget.spend(work)) return Answer::unknown;
    }
}

BranchSearch::Answer BranchSearch::exists(const Row& row, double limit, Budget& budget) {
    begin(row, row.feature.size() + 1);
    enter(0);
    for (std::size_t depth = 0;;) {
        Depth& at = depths_[depth];
        if (at.next == at.order.size() || bound(depth, 0, true) > limit) {
            leave(depth);
            if (depth == 0) return Answer::no;
            --depth;
            continue;
        }
        const std::int32_t pick = at.order[at.next++];
        stack_.descend(depth, pick, static_cast<std::int64_t>(n_) - 1, out_);
        out_[static_cast<std::size_t>(pick)] = 1;
        const auto rest = static_cast<std::int64_t>(at.order.size() - at.next);
        const std::int64_t work = 4 * stack_.work_of(depth) + 4 * rest + 50;
        depths_[depth + 1].order.assign(at.order.begin() + static_cast<std::ptrdiff_t>(at.next), at.order.end());
        enter(++depth);
        if (stack_.at(depth).value <= limit) return Answer::yes;
        if (!budget.spend(work)) return Answer::unknown;
    }
}

bool search_greedy(const Row& row, double sure, Found& found) {
    const std::size_t n = row.feature.size();
    std::vector<std::uint8_t> chosen(n, 0);
    std::vector<double> effect(n);
    bool adding = true;
    double value = 0.0;
    for (std::size_t round = 0; round < 2 * n + 1; ++round) {
        value = flip_effects(row, chosen, effect);
        adding = adding && !(value < sure);
        std::size_t best = n;
        for (std::size_t g = 0; g < n; ++g) {
            const bool useful = adding ? !chosen[g] : chosen[g] && value + effect[g] < sure;
            if (useful && (best == n || effect[g] < effect[best])) best = g;
        }
        if (best == n) break;
        chosen[best] = adding;
    }
    if (adding) return false;
    std::vector<std::int32_t> picks;
    for (std::size_t g = 0; g < n; ++g)
        if (chosen[g]) picks.push_back(static_cast<std::int32_t>(g));
    found.record(picks.data(), static_cast<int>(picks.size()), value);
    return true;
}

}  // namespace sev::trees
