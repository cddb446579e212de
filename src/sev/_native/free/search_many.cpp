// Three or more moves: whole sets by numbers alone where few are left, else the cells of one feature after the other.
#include <algorithm>
#include <limits>

#include "free/search.hpp"

namespace sev::free {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// The sum of the ``n`` least of some numbers; infinite when there are fewer.
double sum_of_least(std::vector<double>& numbers, std::size_t n) {
    if (numbers.size() < n) return infinite;
    if (n > 0 && n < numbers.size()) std::nth_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(n - 1), numbers.end());
    double total = 0.0;
    for (std::size_t at = 0; at < n; ++at) total += numbers[at];
    return total;
}

}  // namespace

bool Search::pick_many(std::int32_t left, std::size_t depth) {
    Level& level = level_at(depth);
    if (!budget_->spend(walker_.walk_pieces(moves_, left, affordable(), level.pieces))) return false;
    if (level.pieces.least > band_.limit) return true;
    if (!budget_->spend(bounder_.make(moves_, level.pieces, left, level.bounds))) return false;
    summarise(level, left);
    // Features that cannot be in any set that crosses are dropped, which may drop others.
    for (bool again = true; again;) {
        if (level.features.size() < static_cast<std::size_t>(left)) return true;
        halve_pairs(level, left);
        const std::size_t before = level.features.size();
        const std::vector<std::int32_t> all(level.features);
        level.features.clear();
        for (const std::int32_t feature : all) {
            double cost = 0.0;
            const double rest = rest_of(level, all, feature, left, cost);
            const auto f = static_cast<std::size_t>(feature);
            if (rest + level.least[f] <= band_.limit && cost + level.cheapest[f] < found_.cost_limit()) level.features.push_back(feature);
        }
        again = level.features.size() < before;
        if (!budget_->spend(static_cast<std::int64_t>(before * before))) return false;
    }
    if (level.features.size() < static_cast<std::size_t>(left)) return true;
    if (level.features.size() == static_cast<std::size_t>(left)) return pick_last_set(left, depth);
    std::int64_t n_children = 0;
    for (const std::int32_t feature : level.features) {
        double cost = 0.0;
        n_children += count_cells(level, feature, rest_of(level, level.features, feature, left, cost));
    }
    if (list_sets(level, left, static_cast<std::size_t>(n_children))) return pick_sets(left, depth);
    return pick_features(left, depth);
}

/// For each feature half of what its worst pairs can add, when so many features are picked.
void Search::halve_pairs(Level& level, std::int32_t left) {
    const std::size_t n = moves_.n();
    for (const std::int32_t feature : level.features) {
        scratch_.clear();
        for (const std::int32_t other : level.features)
            if (other != feature) scratch_.push_back(level.bounds.of(static_cast<std::size_t>(feature), static_cast<std::size_t>(other), n));
        level.half[static_cast<std::size_t>(feature)] = 0.5 * sum_of_least(scratch_, std::min(scratch_.size(), static_cast<std::size_t>(std::max(0, left - 2))));
    }
}

/// A bound of everything but the change of one feature, when it is picked with ``left - 1`` of the others.
double Search::rest_of(const Level& level, const std::vector<std::int32_t>& features, std::int32_t feature, std::int32_t left, double& cost) {
    const std::size_t n = moves_.n();
    scratch_.clear();
    for (const std::int32_t other : features)
        if (other != feature) {
            const auto j = static_cast<std::size_t>(other);
            scratch_.push_back(level.least[j] + level.bounds.of(static_cast<std::size_t>(feature), j, n) + level.half[j]);
        }
    const double rest = level.bounds.value + sum_of_least(scratch_, static_cast<std::size_t>(left - 1));
    scratch_.clear();
    for (const std::int32_t other : features)
        if (other != feature) scratch_.push_back(level.cheapest[static_cast<std::size_t>(other)]);
    cost = moves_.spent + sum_of_least(scratch_, static_cast<std::size_t>(left - 1));
    return rest;
}

std::int64_t Search::count_cells(const Level& level, std::int32_t feature, double rest) const {
    const auto f = static_cast<std::size_t>(feature);
    const double* change = &level.bounds.change[static_cast<std::size_t>(forest_->first()[f])];
    std::int64_t count = 0;
    for (std::int32_t cell = 0; cell < forest_->n_cells(f); ++cell) count += rest + change[cell] <= band_.limit && moves_.permits(f, cell) ? 1 : 0;
    return count;
}

/// Only one set is left: branch on the feature with the fewest cells.
bool Search::pick_last_set(std::int32_t left, std::size_t depth) {
    Level& level = level_at(depth);
    const std::size_t n = moves_.n();
    double bound = level.bounds.value, cost = moves_.spent;
    for (std::size_t a = 0; a < level.features.size(); ++a) {
        const auto i = static_cast<std::size_t>(level.features[a]);
        bound += level.least[i];
        cost += level.cheapest[i];
        for (std::size_t b = a + 1; b < level.features.size(); ++b) bound += level.bounds.of(i, static_cast<std::size_t>(level.features[b]), n);
    }
    if (bound > band_.limit) return true;
    std::int32_t chosen = -1;
    std::int64_t fewest = 0;
    for (const std::int32_t feature : level.features) {
        const std::int64_t count = count_cells(level, feature, bound - level.least[static_cast<std::size_t>(feature)]);
        if (chosen < 0 || count < fewest) {
            chosen = feature;
            fewest = count;
        }
    }
    const std::vector<std::uint8_t> roams(moves_.roams);
    std::fill(moves_.roams.begin(), moves_.roams.end(), std::uint8_t{0});
    for (const std::int32_t feature : level.features) moves_.roams[static_cast<std::size_t>(feature)] = 1;
    const auto f = static_cast<std::size_t>(chosen);
    const bool goes_on = pick_cells(left, depth, chosen, bound - level.least[f], cost - level.cheapest[f]);
    moves_.roams = roams;
    return goes_on;
}

/// Moves one feature to each of its cells that can still lead somewhere, the best first, and goes on from there.
bool Search::pick_cells(std::int32_t left, std::size_t depth, std::int32_t feature, double rest, double rest_cost) {
    Level& level = level_at(depth);
    const auto f = static_cast<std::size_t>(feature);
    const double* change = &level.bounds.change[static_cast<std::size_t>(forest_->first()[f])];
    std::vector<Option> options;
    for (std::int32_t cell = 0; cell < forest_->n_cells(f); ++cell) {
        if (!moves_.permits(f, cell) || rest + change[cell] > band_.limit) continue;
        options.push_back({rest + change[cell], rest_cost + moves_.cost(f, cell), cell, 0});
    }
    std::sort(options.begin(), options.end(), [](const Option& a, const Option& b) { return a.bound != b.bound ? a.bound < b.bound : a.one < b.one; });
    const std::int32_t anchor = moves_.anchor[f];
    const double spent = moves_.spent;
    bool goes_on = true;
    moves_.roams[f] = 0;
    moves_.picks.push_back(feature);
    for (const Option& option : options) {
        if (is_done()) break;
        if (!(option.cost < found_.cost_limit())) continue;
        moves_.anchor[f] = option.one;
        moves_.spent = spent + moves_.cost(f, option.one);
        if (!(goes_on = pick(left - 1, depth + 1))) break;
    }
    moves_.picks.pop_back();
    moves_.anchor[f] = anchor;
    moves_.spent = spent;
    moves_.roams[f] = 1;
    return goes_on;
}

/// One feature after the other, the strongest first; those before it are left out afterwards.
bool Search::pick_features(std::int32_t left, std::size_t depth) {
    Level& level = level_at(depth);
    const std::vector<std::uint8_t> roams(moves_.roams);
    std::vector<std::pair<double, std::int32_t>> order;
    for (const std::int32_t feature : level.features) {
        double cost = 0.0;
        order.emplace_back(rest_of(level, level.features, feature, left, cost) + level.least[static_cast<std::size_t>(feature)], feature);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::int32_t> open;
    for (const auto& one : order) open.push_back(one.second);
    std::fill(moves_.roams.begin(), moves_.roams.end(), std::uint8_t{0});
    for (const std::int32_t feature : open) moves_.roams[static_cast<std::size_t>(feature)] = 1;
    bool goes_on = true;
    while (goes_on && !is_done() && open.size() >= static_cast<std::size_t>(left)) {
        const std::int32_t feature = open.front();
        double rest_cost = 0.0;
        const double rest = rest_of(level, open, feature, left, rest_cost);
        goes_on = pick_cells(left, depth, feature, rest, rest_cost);
        moves_.roams[static_cast<std::size_t>(feature)] = 0;
        open.erase(open.begin());
    }
    moves_.roams = roams;
    return goes_on;
}

/// Lists the sets that the numbers leave; false when there are more than ``most``.
bool Search::list_sets(Level& level, std::int32_t left, std::size_t most) {
    level.sets.clear();
    chosen_.clear();
    std::sort(level.features.begin(), level.features.end(), [&](std::int32_t a, std::int32_t b) {
        const double one = level.least[static_cast<std::size_t>(a)], other = level.least[static_cast<std::size_t>(b)];
        return one != other ? one < other : a < b;
    });
    list_work_ = static_cast<std::int64_t>(most) * 200;
    return extend_set(level, left, 0, level.bounds.value, moves_.spent, most);
}

bool Search::extend_set(Level& level, std::int32_t left, std::size_t from, double bound, double cost, std::size_t most) {
    const std::size_t n = moves_.n();
    if (left == 0) {
        level.sets.push_back({bound, cost, chosen_});
        return level.sets.size() <= most;
    }
    const auto gain = [&](std::int32_t feature) {
        double total = level.least[static_cast<std::size_t>(feature)];
        for (const std::int32_t other : chosen_) total += level.bounds.of(static_cast<std::size_t>(feature), static_cast<std::size_t>(other), n);
        return total;
    };
    for (std::size_t at = from; at + static_cast<std::size_t>(left) <= level.features.size(); ++at) {
        list_work_ -= static_cast<std::int64_t>(level.features.size() - at);
        if (list_work_ < 0) return false;
        // What this and all later features can do at most; the halves are for sets of which one feature is known.
        scratch_.clear();
        for (std::size_t later = at; later < level.features.size() && !chosen_.empty(); ++later)
            scratch_.push_back(gain(level.features[later]) + (left > 1 ? level.half[static_cast<std::size_t>(level.features[later])] : 0.0));
        if (!chosen_.empty() && bound + sum_of_least(scratch_, static_cast<std::size_t>(left)) > band_.limit) return true;
        const std::int32_t feature = level.features[at];
        const double next = bound + gain(feature), next_cost = cost + level.cheapest[static_cast<std::size_t>(feature)];
        if (left == 1 && next > band_.limit) continue;
        if (!(next_cost < found_.cost_limit())) continue;
        chosen_.push_back(feature);
        const bool goes_on = extend_set(level, left - 1, at + 1, next, next_cost, most);
        chosen_.pop_back();
        if (!goes_on) return false;
    }
    return true;
}

/// Each set alone, the best first: with all other features fixed the bounds are much closer.
bool Search::pick_sets(std::int32_t left, std::size_t depth) {
    std::vector<SetOption> sets;
    sets.swap(level_at(depth).sets);
    const bool by_cost = goal_ == Goal::cheapest || goal_ == Goal::cost;
    std::sort(sets.begin(), sets.end(), [&](const SetOption& a, const SetOption& b) {
        if (by_cost && !found_.empty() && a.cost != b.cost) return a.cost < b.cost;
        return a.bound != b.bound ? a.bound < b.bound : a.features < b.features;
    });
    const std::vector<std::uint8_t> roams(moves_.roams);
    bool goes_on = budget_->spend(static_cast<std::int64_t>(sets.size() * 20));
    for (const SetOption& set : sets) {
        if (!goes_on || is_done()) break;
        if (!(set.cost < found_.cost_limit())) continue;
        std::fill(moves_.roams.begin(), moves_.roams.end(), std::uint8_t{0});
        for (const std::int32_t feature : set.features) moves_.roams[static_cast<std::size_t>(feature)] = 1;
        goes_on = pick_many(left, depth + 1);
    }
    moves_.roams = roams;
    return goes_on;
}

}  // namespace sev::free
