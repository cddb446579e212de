#include "free/moves.hpp"

#include <algorithm>

namespace sev::free {

Moves::Moves(const CellForest& forest)
    : anchor(forest.n_features()), query(forest.n_features()), roams(forest.n_features()), forest_(&forest),
      counts_(forest.n_entries()), least_(forest.n_features()), order_(forest.n_features()), next_(forest.n_entries()), previous_(forest.n_entries()) {}

void Moves::begin(const std::int64_t* at, const double* cost) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    cost_ = cost;
    picks.clear();
    spent = 0.0;
    std::fill(order_.begin(), order_.end(), Order::unknown);
    for (std::size_t feature = 0; feature < n(); ++feature) {
        anchor[feature] = query[feature] = static_cast<std::int32_t>(at[feature]);
        const auto first = static_cast<std::size_t>(forest_->first()[feature]);
        std::int32_t before = 0;
        double least = infinite;
        for (std::int32_t cell = 0; cell < forest_->n_cells(feature); ++cell) {
            counts_[first + static_cast<std::size_t>(cell)] = before;
            const double here = cost[first - feature + static_cast<std::size_t>(cell)];
            if (cell != query[feature] && here < infinite) {
                ++before;
                least = std::min(least, here);
            }
        }
        counts_[first + static_cast<std::size_t>(forest_->n_cells(feature))] = before;
        least_[feature] = least;
        roams[feature] = before > 0 && !forest_->trees_of(feature).empty();
    }
}

void Moves::rank_costs(std::size_t feature) {
    const auto first = static_cast<std::size_t>(forest_->first()[feature]);
    const std::int32_t n = forest_->n_cells(feature), own = query[feature];
    bool rising = true;
    for (std::int32_t cell = 0, last = -1; cell < n; ++cell) {
        if (permits(feature, cell)) {
            if (last >= 0) {
                const double before = cost(feature, last), here = cost(feature, cell);
                if (cell < own ? here > before : last > own && here < before) rising = false;
            }
            last = cell;
        }
        previous_[first + static_cast<std::size_t>(cell)] = last;
    }
    for (std::int32_t cell = n, last = n; cell-- > 0;) {
        if (permits(feature, cell)) last = cell;
        next_[first + static_cast<std::size_t>(cell)] = last;
    }
    order_[feature] = rising ? Order::rising : Order::any;
}

double Moves::least_cost(std::size_t feature, std::int32_t lo, std::int32_t hi) {
    if (order_[feature] == Order::unknown) rank_costs(feature);
    const auto first = static_cast<std::size_t>(forest_->first()[feature]);
    const std::int32_t own = query[feature];
    if (order_[feature] == Order::rising && (hi < own || lo > own)) {
        const std::int32_t nearest = lo > own ? next_[first + static_cast<std::size_t>(lo)] : previous_[first + static_cast<std::size_t>(hi)];
        return cost(feature, nearest);
    }
    double least = std::numeric_limits<double>::infinity();
    for (std::int32_t cell = next_[first + static_cast<std::size_t>(lo)]; cell <= hi; ++cell)
        if (permits(feature, cell)) least = std::min(least, cost(feature, cell));
    return least;
}

}  // namespace sev::free
