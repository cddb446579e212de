#include "trees/joint.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sev::trees {

namespace {

/// Shares of what is missing are compared with this allowance for the rounding of their sums.
constexpr double share_rounding = 1e-9;

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace

void align(Row& one, Row& other) {
    std::vector<std::int32_t> number(other.feature.size());
    std::vector<double> linear(one.feature.size(), 0.0);
    for (std::size_t g = 0; g < other.feature.size(); ++g) {
        const auto same = std::find(one.feature.begin(), one.feature.end(), other.feature[g]);
        number[g] = static_cast<std::int32_t>(same - one.feature.begin());
        if (same == one.feature.end()) {
            one.feature.push_back(other.feature[g]);
            one.linear.push_back(0.0);
            linear.push_back(0.0);
        }
        linear[at(number[g])] = other.linear[g];
    }
    for (std::int32_t& member : other.cubes.member) member = number[at(member)];
    other.linear.swap(linear);
    other.feature = one.feature;
}

void JointSearch::begin(const Row& first, const Row& second, double second_limit) {
    row_[0] = &first;
    row_[1] = &second;
    second_limit_ = second_limit;
    n_ = first.feature.size();
    picks_.assign(n_ + 1, 0);
}

/// Back to no pick at all.
void JointSearch::restart(std::size_t deepest) {
    for (int k = 0; k < 2; ++k) stack_[k].begin(*row_[k], deepest);
    depths_.resize(deepest + 1);
    out_.assign(n_, 0);
    depths_[0].order.resize(n_);
    std::iota(depths_[0].order.begin(), depths_[0].order.end(), 0);
}

/// Weigh the features that are left for both, and put them in the order of what they do for both together.
void JointSearch::enter(std::size_t depth, double limit) {
    Depth& here = depths_[depth];
    const double limits[2] = {limit, second_limit_};
    here.score.assign(n_, 0.0);
    here.together = 0.0;
    for (int k = 0; k < 2; ++k) {
        stack_[k].weigh(depth);
        const CubeStack::Depth& trees = stack_[k].at(depth);
        here.missing[k] = trees.value - limits[k];
        double unit = std::max(std::abs(here.missing[k]), 1e-12);
        for (const std::int32_t g : here.order) unit = std::max(unit, std::abs(trees.weight[at(g)]));
        here.together += here.missing[k] / unit;
        for (const std::int32_t g : here.order) here.score[at(g)] += trees.weight[at(g)] / unit;
    }
    sort_by_weight(here.order, here.score);
    here.next = 0;
}

/// The sum of the lowest weights of so many features.
double JointSearch::lowest(const std::vector<double>& weight, const std::vector<std::int32_t>& order, std::size_t from, std::size_t most) {
    scratch_.clear();
    for (std::size_t a = from; a < order.size(); ++a) scratch_.push_back(weight[at(order[a])]);
    if (most < scratch_.size())
        std::nth_element(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(most), scratch_.end());
    const std::size_t end = std::min(most, scratch_.size());
    return std::accumulate(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
}

/// Whether ``most`` of the features from a place in the order on, with one more that is given (or none: -1), may bring
/// both down: each for itself, and the two together.
bool JointSearch::may_reach(std::size_t depth, std::size_t from, std::size_t most, std::int32_t with) {
    const Depth& here = depths_[depth];
    double together = here.together;
    if (with >= 0) together += here.score[at(with)];
    for (std::size_t a = from; a < std::min(here.order.size(), from + most); ++a) together += here.score[at(here.order[a])];
    if (together > share_rounding) return false;
    for (int k = 0; k < 2; ++k) {
        const std::vector<double>& weight = stack_[k].at(depth).weight;
        const double given = with >= 0 ? weight[at(with)] : 0.0;
        if (here.missing[k] + given + lowest(weight, here.order, from, most) > 0.0) return false;
    }
    return true;
}

/// The same for any number of features.
bool JointSearch::may_reach_at_all(std::size_t depth) const {
    const Depth& here = depths_[depth];
    double together = here.together, missing[2] = {here.missing[0], here.missing[1]};
    for (std::size_t a = here.next; a < here.order.size(); ++a) {
        const std::size_t g = at(here.order[a]);
        together += std::min(here.score[g], 0.0);
        for (int k = 0; k < 2; ++k) missing[k] += std::min(stack_[k].at(depth).weight[g], 0.0);
    }
    return together <= share_rounding && missing[0] <= 0.0 && missing[1] <= 0.0;
}

void JointSearch::descend(std::size_t depth, std::int32_t pick, std::size_t left) {
    for (CubeStack& stack : stack_) stack.descend(depth, pick, static_cast<std::int64_t>(left), out_);
    out_[at(pick)] = 1;
}

/// Features that were given up at a depth are back for the depths above.
void JointSearch::leave(std::size_t depth) {
    const Depth& here = depths_[depth];
    for (std::size_t a = 0; a < here.next; ++a) out_[at(here.order[a])] = 0;
}

std::int64_t JointSearch::least_size(double limit) {
    restart(0);
    enter(0, limit);
    for (std::size_t size = 1; size <= n_; ++size)
        if (may_reach(0, 0, size, -1)) return static_cast<std::int64_t>(size);
    return static_cast<std::int64_t>(n_) + 1;
}

/// Record the sets that end with one of some features; the trees lie at a depth.
void JointSearch::record_singles(std::size_t depth, const std::int32_t* from, const std::int32_t* end, Found& found) {
    const double first = stack_[0].expand(depth, nullptr), second = stack_[1].expand(depth, nullptr);
    const std::vector<double>&one = stack_[0].at(depth).linear, &two = stack_[1].at(depth).linear;
    for (const std::int32_t* a = from; a < end; ++a) {
        const double value = first + one[at(*a)];
        if (value > found.limit() || second + two[at(*a)] > second_limit_) continue;
        picks_[depth] = *a;
        found.record(picks_.data(), static_cast<int>(depth) + 1, value);
    }
}

/// The same for two of them.
void JointSearch::record_pairs(std::size_t depth, const std::int32_t* from, const std::int32_t* end, Found& found) {
    for (std::vector<double>& pair : pair_) {
        pair.resize(n_pairs(n_));
        for (const std::int32_t* a = from; a < end; ++a)
            for (const std::int32_t* b = from; b < a; ++b) pair[pair_at(at(*a), at(*b))] = 0.0;
    }
    const double first = stack_[0].expand(depth, pair_[0].data()), second = stack_[1].expand(depth, pair_[1].data());
    const std::vector<double>&one = stack_[0].at(depth).linear, &two = stack_[1].at(depth).linear;
    for (const std::int32_t* a = from; a < end; ++a)
        for (const std::int32_t* b = a + 1; b < end; ++b) {
            const std::size_t both = pair_at(at(*a), at(*b));
            const double value = first + one[at(*a)] + one[at(*b)] + pair_[0][both];
            if (value > found.limit() || second + two[at(*a)] + two[at(*b)] + pair_[1][both] > second_limit_) continue;
            picks_[depth] = *a;
            picks_[depth + 1] = *b;
            found.record(picks_.data(), static_cast<int>(depth) + 2, value);
        }
}

JointSearch::Answer JointSearch::search(int size, Found& found, Budget& budget) {
    const auto wanted = static_cast<std::size_t>(size);
    if (wanted > n_) return Answer::no;
    const std::size_t last = n_ <= widest_pairs_ ? 2 : 1;  // one table answers for the last two picks at once
    restart(wanted);
    const std::int32_t* everything = depths_[0].order.data();
    if (wanted <= last) {
        if (wanted == 1)
            record_singles(0, everything, everything + n_, found);
        else
            record_pairs(0, everything, everything + n_, found);
        budget.spend(work_of(0) + static_cast<std::int64_t>(n_ * n_));
        return found.any() ? Answer::yes : Answer::no;
    }
    enter(0, found.limit());
    for (std::size_t depth = 0;;) {
        Depth& here = depths_[depth];
        const std::size_t left = wanted - depth;
        if (here.order.size() < here.next + left || !may_reach(depth, here.next, left, -1)) {
            leave(depth);
            if (depth == 0) return found.any() ? Answer::yes : Answer::no;
            --depth;
            continue;
        }
        const std::int32_t pick = here.order[here.next++];
        const std::size_t rest = here.order.size() - here.next;
        if (!may_reach(depth, here.next, left - 1, pick)) {
            out_[at(pick)] = 1;
            if (!budget.spend(static_cast<std::int64_t>(2 * rest) + 10)) return Answer::unknown;
            continue;
        }
        picks_[depth] = pick;
        descend(depth, pick, left - 1);
        std::int64_t work = 4 * work_of(depth) + static_cast<std::int64_t>(8 * rest) + 100;
        if (left - 1 == last) {
            const std::int32_t *from = here.order.data() + here.next, *end = here.order.data() + here.order.size();
            if (last == 2)
                record_pairs(depth + 1, from, end, found);
            else
                record_singles(depth + 1, from, end, found);
            work += static_cast<std::int64_t>(rest * rest);
        } else {
            depths_[depth + 1].order.assign(here.order.begin() + static_cast<std::ptrdiff_t>(here.next), here.order.end());
            enter(++depth, found.limit());
        }
        if (!budget.spend(work)) return Answer::unknown;
    }
}

JointSearch::Answer JointSearch::exists(double limit, Budget& budget) {
    restart(n_ + 1);
    enter(0, limit);
    for (std::size_t depth = 0;;) {
        Depth& here = depths_[depth];
        if (here.next == here.order.size() || !may_reach_at_all(depth)) {
            leave(depth);
            if (depth == 0) return Answer::no;
            --depth;
            continue;
        }
        const std::int32_t pick = here.order[here.next++];
        picks_[depth] = pick;
        descend(depth, pick, n_);
        const auto rest = static_cast<std::int64_t>(here.order.size() - here.next);
        const std::int64_t work = 4 * work_of(depth) + 8 * rest + 100;
        depths_[depth + 1].order.assign(here.order.begin() + static_cast<std::ptrdiff_t>(here.next), here.order.end());
        enter(++depth, limit);
        if (depths_[depth].missing[0] <= 0.0 && depths_[depth].missing[1] <= 0.0) {
            picks_.resize(depth);
            return Answer::yes;
        }
        if (!budget.spend(work)) return Answer::unknown;
    }
}

}  // namespace sev::trees
