#include "trees/branch.hpp"

#include <algorithm>
#include <numeric>

#include "trees/margin.hpp"

namespace sev::trees {

namespace {

/// Scratch of the weights, zero before and after.
struct WeightScratch {
    double* delta;
    double* rho;
};

/// The effect of each feature alone on one tree; returns the sum of those above zero.
double single_effects(const Cubes& cubes, std::size_t begin, std::size_t end, double now, double* delta) {
    double positive = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
        if (cubes.need[i] != 1) continue;
        const double effect = cubes.leaf[i] - now;
        delta[cubes.member[static_cast<std::size_t>(cubes.first[i])]] = effect;
        positive += std::max(effect, 0.0);
    }
    return positive;
}

/// Share out what the leaves of one tree fall short of the single effects among the features that they need.
void share_residues(const Cubes& cubes, std::size_t begin, std::size_t end, double known, const WeightScratch& scratch) {
    for (std::size_t i = begin; i < end; ++i) {
        if (cubes.need[i] == 0) continue;
        const std::int32_t *member = cubes.member.data() + cubes.first[i], *middle = member + cubes.need[i],
                           *last = cubes.member.data() + cubes.first[i + 1];
        double residue = cubes.leaf[i] - known;
        for (const std::int32_t* a = member; a < middle; ++a) residue -= std::min(scratch.delta[*a], 0.0);
        for (const std::int32_t* a = middle; a < last; ++a) residue += std::max(scratch.delta[*a], 0.0);
        if (residue >= 0.0) continue;
        const double share = residue / cubes.need[i];
        for (const std::int32_t* a = member; a < middle; ++a) scratch.rho[*a] = std::min(scratch.rho[*a], share);
    }
}

/// Add to ``weight`` what each feature can lower the margin by, at most; returns the trees' sum as it stands.
///
/// For a tree, let d[j] be the effect of j alone. At another leaf than the present one the tree falls short of the sum
/// of d over the set by at most some residue, and that is shared out among the features which the leaf needs. Hence the
/// margin of any set is at least the present one plus the weights of its features.
double add_weights(const Cubes& cubes, TreeRange trees, const WeightScratch& scratch, double* weight) {
    double total = 0.0;
    for (std::size_t t = trees.begin; t < trees.end; ++t) {
        const auto begin = static_cast<std::size_t>(cubes.tree[t]), end = static_cast<std::size_t>(cubes.tree[t + 1]);
        double now = 0.0;
        for (std::size_t i = begin; i < end; ++i)
            if (cubes.need[i] == 0) {
                now = cubes.leaf[i];
                break;
            }
        total += now;
        const double positive = single_effects(cubes, begin, end, now, scratch.delta);
        share_residues(cubes, begin, end, now + positive, scratch);
        for (std::size_t i = begin; i < end; ++i) {
            const std::int32_t* member = cubes.member.data() + cubes.first[i];
            for (const std::int32_t* a = member; a < member + cubes.need[i]; ++a) {
                weight[*a] += scratch.delta[*a] + scratch.rho[*a];
                scratch.delta[*a] = scratch.rho[*a] = 0.0;
            }
        }
    }
    return total;
}

/// Lowest weight first; equal weights keep their order.
void sort_by_weight(std::vector<std::int32_t>& order, const std::vector<double>& weight) {
    std::stable_sort(order.begin(), order.end(), [&weight](std::int32_t one, std::int32_t other) {
        return weight[static_cast<std::size_t>(one)] < weight[static_cast<std::size_t>(other)];
    });
}

}  // namespace

std::int64_t order_features(Row& row, double limit) {
    const std::size_t n = row.feature.size();
    std::vector<double> delta(n, 0.0), rho(n, 0.0), weight(row.linear), linear(n);
    std::vector<std::int32_t> order(n), place(n), feature(n);
    std::iota(order.begin(), order.end(), 0);
    double reach = row.constant + add_weights(row.cubes, {0, row.cubes.n_trees()}, {delta.data(), rho.data()}, weight.data());
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
    stack_ = row.cubes;
    depths_.resize(deepest + 1);
    out_.assign(n_, 0);
    delta_.assign(n_, 0.0);
    rho_.assign(n_, 0.0);
    picks_.resize(n_ + 1);
    Depth& root = depths_[0];
    root.first_tree = 0;
    root.end_tree = row.cubes.n_trees();
    root.constant = row.constant;
    root.linear = row.linear;
    root.order.resize(n_);
    std::iota(root.order.begin(), root.order.end(), 0);
}

/// Weigh the features that are left, once the trees of a depth are on the stack.
void BranchSearch::enter(std::size_t depth) {
    Depth& at = depths_[depth];
    at.weight = at.linear;
    at.value = at.constant + add_weights(stack_, {at.first_tree, at.end_tree}, {delta_.data(), rho_.data()}, at.weight.data());
    sort_by_weight(at.order, at.weight);
    at.next = 0;
}

/// A bound from below on the margin of the sets that have the next feature or a later one: ``most`` further picks, or
/// any number of them.
double BranchSearch::bound(const Depth& at, std::size_t most, bool probing) const {
    double low = at.value;
    const std::size_t end = probing ? at.order.size() : std::min(at.order.size(), at.next + most);
    for (std::size_t a = at.next; a < end; ++a) {
        const double weight = at.weight[static_cast<std::size_t>(at.order[a])];
        if (weight < 0.0 || !probing) low += weight;
    }
    return low;
}

/// Put the cubes as they are after a pick on the stack, behind their own.
///
/// Cubes that need a feature which is out, or more than ``left`` further ones, can no longer be reached.
void BranchSearch::descend(std::size_t depth, std::int32_t pick, std::int64_t left) {
    const Depth& at = depths_[depth];
    Depth& to = depths_[depth + 1];
    to.linear = at.linear;
    to.constant = at.constant + at.linear[static_cast<std::size_t>(pick)];
    stack_.tree.resize(at.end_tree + 1);
    const auto n_cubes = static_cast<std::size_t>(stack_.tree.back());
    stack_.leaf.resize(n_cubes);
    stack_.need.resize(n_cubes);
    stack_.first.resize(n_cubes + 1);
    stack_.member.resize(static_cast<std::size_t>(stack_.first.back()));
    for (std::size_t t = at.first_tree; t < at.end_tree; ++t) {
        const auto end = static_cast<std::size_t>(stack_.tree[t + 1]);
        for (auto i = static_cast<std::size_t>(stack_.tree[t]); i < end; ++i) copy_cube(i, pick, left);
        finish_tree(to);
    }
    to.first_tree = at.end_tree;
    to.end_tree = stack_.n_trees();
}

void BranchSearch::copy_cube(std::size_t cube, std::int32_t pick, std::int64_t left) {
    const auto begin = static_cast<std::size_t>(stack_.first[cube]), end = static_cast<std::size_t>(stack_.first[cube + 1]);
    const std::size_t middle = begin + static_cast<std::size_t>(stack_.need[cube]), write = stack_.member.size();
    std::int32_t required = 0;
    stack_.member.resize(write + (end - begin));
    std::int32_t *member = stack_.member.data(), *to = member + write;
    for (std::size_t a = begin; a < end; ++a) {
        const std::int32_t group = member[a];
        const bool needed = a < middle, gone = out_[static_cast<std::size_t>(group)] != 0;
        if (group == pick ? !needed : gone && needed) {
            stack_.member.resize(write);
            return;
        }
        if (group == pick || gone) continue;
        *to++ = group;
        if (needed) ++required;
    }
    if (required > left) {
        stack_.member.resize(write);
        return;
    }
    stack_.member.resize(static_cast<std::size_t>(to - member));
    stack_.need.push_back(required);
    stack_.leaf.push_back(stack_.leaf[cube]);
    stack_.first.push_back(static_cast<std::int64_t>(stack_.member.size()));
}

/// A tree that is left with one cube is a constant; one with a single feature goes to the linear part.
void BranchSearch::finish_tree(Depth& to) {
    const auto begin = static_cast<std::size_t>(stack_.tree.back());
    const std::size_t n = stack_.n_cubes() - begin;
    const std::int64_t first = stack_.first[begin];
    const bool single = n == 2 && stack_.first[begin + 2] == first + 2;
    if (n > 1 && !single) {
        stack_.tree.push_back(static_cast<std::int32_t>(stack_.n_cubes()));
        return;
    }
    if (n == 1) to.constant += stack_.leaf[begin];
    if (single) {
        const std::size_t inside = stack_.need[begin] == 1 ? begin : begin + 1, outside = begin + begin + 1 - inside;
        to.constant += stack_.leaf[outside];
        to.linear[static_cast<std::size_t>(stack_.member[static_cast<std::size_t>(first)])] +=
            stack_.leaf[inside] - stack_.leaf[outside];
    }
    stack_.leaf.resize(begin);
    stack_.need.resize(begin);
    stack_.first.resize(begin + 1);
    stack_.member.resize(static_cast<std::size_t>(first));
}

/// Features that were given up at a depth are back for the depths above.
void BranchSearch::leave(std::size_t depth) {
    const Depth& at = depths_[depth];
    for (std::size_t a = 0; a < at.next; ++a) out_[static_cast<std::size_t>(at.order[a])] = 0;
}

std::int64_t BranchSearch::work_of(const Depth& at) const {
    const auto cube_of = [this](std::size_t tree) { return static_cast<std::size_t>(stack_.tree[tree]); };
    return stack_.first[cube_of(at.end_tree)] - stack_.first[cube_of(at.first_tree)];
}

void BranchSearch::record_singles(const Depth& at, const std::int32_t* from, const std::int32_t* end, double start,
                                  int picked, Found& found) {
    for (const std::int32_t* a = from; a < end; ++a) {
        const double value = start + at.linear[static_cast<std::size_t>(*a)];
        if (value > found.limit()) continue;
        picks_[static_cast<std::size_t>(picked)] = *a;
        found.record(picks_.data(), picked + 1, value);
    }
}

void BranchSearch::record_pairs(const Depth& at, const std::int32_t* from, const std::int32_t* end, double start,
                                int picked, Found& found) {
    const auto picked_at = static_cast<std::size_t>(picked);
    for (const std::int32_t* a = from; a < end; ++a) {
        const auto i = static_cast<std::size_t>(*a);
        const double here = start + at.linear[i];
        for (const std::int32_t* b = a + 1; b < end; ++b) {
            const auto j = static_cast<std::size_t>(*b);
            const double value = here + at.linear[j] + pair_[pair_at(i, j)];
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
    Depth& to = depths_[depth + 1];
    const std::int32_t *from = at.order.data() + at.next, *end = at.order.data() + at.order.size();
    if (pairs) {
        pair_.resize(n_pairs(n_));
        for (const std::int32_t* a = from; a < end; ++a)
            for (const std::int32_t* b = from; b < a; ++b)
                pair_[pair_at(static_cast<std::size_t>(*a), static_cast<std::size_t>(*b))] = 0.0;
    }
    const double start = to.constant + expand_pairs(stack_, {to.first_tree, to.end_tree}, to.linear.data(),
                                                    pairs ? pair_.data() : nullptr);
    const int picked = static_cast<int>(depth) + 1;
    if (pairs)
        record_pairs(to, from, end, start, picked, found);
    else
        record_singles(to, from, end, start, picked, found);
}

BranchSearch::Answer BranchSearch::search(const Row& row, int size, Found& found, Budget& budget) {
    const auto wanted = static_cast<std::size_t>(size);
    begin(row, wanted);
    if (wanted > n_) return Answer::no;
    if (size == 1) {
        Depth& root = depths_[0];
        const double start = root.constant + expand_pairs(stack_, {0, root.end_tree}, root.linear.data(), nullptr);
        record_singles(root, root.order.data(), root.order.data() + n_, start, 0, found);
        return found.any() ? Answer::yes : Answer::no;
    }
    const bool pairs = n_ <= widest_pairs_ && size > 2;  // one table answers for the last two picks at once
    enter(0);
    for (std::size_t depth = 0;;) {
        Depth& at = depths_[depth];
        const std::size_t left = wanted - depth;
        if (at.order.size() < at.next + left || bound(at, left, false) > found.limit()) {
            leave(depth);
            if (depth == 0) return found.any() ? Answer::yes : Answer::no;
            --depth;
            continue;
        }
        const std::int32_t pick = at.order[at.next++];
        picks_[depth] = pick;
        descend(depth, pick, static_cast<std::int64_t>(left) - 1);
        out_[static_cast<std::size_t>(pick)] = 1;
        const auto rest = static_cast<std::int64_t>(at.order.size() - at.next);
        std::int64_t work = 4 * work_of(at) + 4 * rest + 50;
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
        if (at.next == at.order.size() || bound(at, 0, true) > limit) {
            leave(depth);
            if (depth == 0) return Answer::no;
            --depth;
            continue;
        }
        const std::int32_t pick = at.order[at.next++];
        descend(depth, pick, static_cast<std::int64_t>(n_) - 1);
        out_[static_cast<std::size_t>(pick)] = 1;
        const auto rest = static_cast<std::int64_t>(at.order.size() - at.next);
        const std::int64_t work = 4 * work_of(at) + 4 * rest + 50;
        depths_[depth + 1].order.assign(at.order.begin() + static_cast<std::ptrdiff_t>(at.next), at.order.end());
        enter(++depth);
        if (depths_[depth].value <= limit) return Answer::yes;
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
