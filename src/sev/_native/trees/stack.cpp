#include "trees/stack.hpp"

#include <algorithm>

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

}  // namespace

void sort_by_weight(std::vector<std::int32_t>& order, const std::vector<double>& weight) {
    std::stable_sort(order.begin(), order.end(), [&weight](std::int32_t one, std::int32_t other) {
        return weight[static_cast<std::size_t>(one)] < weight[static_cast<std::size_t>(other)];
    });
}

double add_weights(const Cubes& cubes, TreeRange trees, std::vector<double>& delta, std::vector<double>& rho, double* weight) {
    const WeightScratch scratch{delta.data(), rho.data()};
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

void CubeStack::begin(const Row& row, std::size_t deepest) {
    const std::size_t n = row.feature.size();
    cubes_ = row.cubes;
    depths_.resize(deepest + 1);
    delta_.assign(n, 0.0);
    rho_.assign(n, 0.0);
    Depth& root = depths_[0];
    root.first_tree = 0;
    root.end_tree = row.cubes.n_trees();
    root.constant = row.constant;
    root.linear = row.linear;
}

void CubeStack::weigh(std::size_t depth) {
    Depth& at = depths_[depth];
    at.weight = at.linear;
    at.value = at.constant + add_weights(cubes_, {at.first_tree, at.end_tree}, delta_, rho_, at.weight.data());
}

double CubeStack::expand(std::size_t depth, double* pair) {
    Depth& at = depths_[depth];
    return at.constant + expand_pairs(cubes_, {at.first_tree, at.end_tree}, at.linear.data(), pair);
}

void CubeStack::descend(std::size_t depth, std::int32_t pick, std::int64_t left, const std::vector<std::uint8_t>& out) {
    const Depth& at = depths_[depth];
    Depth& to = depths_[depth + 1];
    to.linear = at.linear;
    to.constant = at.constant + at.linear[static_cast<std::size_t>(pick)];
    cubes_.tree.resize(at.end_tree + 1);
    const auto n_cubes = static_cast<std::size_t>(cubes_.tree.back());
    cubes_.leaf.resize(n_cubes);
    cubes_.need.resize(n_cubes);
    cubes_.first.resize(n_cubes + 1);
    cubes_.member.resize(static_cast<std::size_t>(cubes_.first.back()));
    for (std::size_t t = at.first_tree; t < at.end_tree; ++t) {
        const auto end = static_cast<std::size_t>(cubes_.tree[t + 1]);
        for (auto i = static_cast<std::size_t>(cubes_.tree[t]); i < end; ++i) copy_cube(i, pick, left, out);
        finish_tree(to);
    }
    to.first_tree = at.end_tree;
    to.end_tree = cubes_.n_trees();
}

void CubeStack::copy_cube(std::size_t cube, std::int32_t pick, std::int64_t left, const std::vector<std::uint8_t>& out) {
    const auto begin = static_cast<std::size_t>(cubes_.first[cube]), end = static_cast<std::size_t>(cubes_.first[cube + 1]);
    const std::size_t middle = begin + static_cast<std::size_t>(cubes_.need[cube]), write = cubes_.member.size();
    std::int32_t required = 0;
    cubes_.member.resize(write + (end - begin));
    std::int32_t *member = cubes_.member.data(), *to = member + write;
    for (std::size_t a = begin; a < end; ++a) {
        const std::int32_t group = member[a];
        const bool needed = a < middle, gone = out[static_cast<std::size_t>(group)] != 0;
        if (group == pick ? !needed : gone && needed) {
            cubes_.member.resize(write);
            return;
        }
        if (group == pick || gone) continue;
        *to++ = group;
        if (needed) ++required;
    }
    if (required > left) {
        cubes_.member.resize(write);
        return;
    }
    cubes_.member.resize(static_cast<std::size_t>(to - member));
    cubes_.need.push_back(required);
    cubes_.leaf.push_back(cubes_.leaf[cube]);
    cubes_.first.push_back(static_cast<std::int64_t>(cubes_.member.size()));
}

/// A tree that is left with one cube is a constant; one with a single feature goes to the linear part.
void CubeStack::finish_tree(Depth& to) {
    const auto begin = static_cast<std::size_t>(cubes_.tree.back());
    const std::size_t n = cubes_.n_cubes() - begin;
    const std::int64_t first = cubes_.first[begin];
    const bool single = n == 2 && cubes_.first[begin + 2] == first + 2;
    if (n > 1 && !single) {
        cubes_.tree.push_back(static_cast<std::int32_t>(cubes_.n_cubes()));
        return;
    }
    if (n == 1) to.constant += cubes_.leaf[begin];
    if (single) {
        const std::size_t inside = cubes_.need[begin] == 1 ? begin : begin + 1, outside = begin + begin + 1 - inside;
        to.constant += cubes_.leaf[outside];
        to.linear[static_cast<std::size_t>(cubes_.member[static_cast<std::size_t>(first)])] +=
            cubes_.leaf[inside] - cubes_.leaf[outside];
    }
    cubes_.leaf.resize(begin);
    cubes_.need.resize(begin);
    cubes_.first.resize(begin + 1);
    cubes_.member.resize(static_cast<std::size_t>(first));
}

std::int64_t CubeStack::work_of(std::size_t depth) const {
    const Depth& at = depths_[depth];
    const auto cube_of = [this](std::size_t tree) { return static_cast<std::size_t>(cubes_.tree[tree]); };
    return cubes_.first[cube_of(at.end_tree)] - cubes_.first[cube_of(at.first_tree)];
}

}  // namespace sev::trees
