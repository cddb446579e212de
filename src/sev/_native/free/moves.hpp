// What one row may do: where it is, which cells each feature may move to, and what that costs.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "free/cell_forest.hpp"

namespace sev::free {

/// The cells of one row, some of them already moved, and the moves that are still open.
///
/// The *anchor* is the row as it is now: the query, or the query after some picks. A feature that *roams* may still move
/// to one of its permitted cells; all others stay at the anchor.
class Moves {
public:
    explicit Moves(const CellForest& forest);

    /// A new row: its own cells, and the cost of every cell (infinite where it is not permitted).
    void begin(const std::int64_t* at, const double* cost);

    const CellForest& forest() const { return *forest_; }
    std::size_t n() const { return anchor.size(); }
    /// Permitted cells of a feature in a range, other than the query's own.
    std::int32_t count(std::size_t feature, std::int32_t lo, std::int32_t hi) const {
        const std::int32_t* counts = &counts_[static_cast<std::size_t>(forest_->first()[feature])];
        return counts[hi + 1] - counts[lo];
    }
    bool permits(std::size_t feature, std::int32_t cell) const { return count(feature, cell, cell) > 0; }
    double cost(std::size_t feature, std::int32_t cell) const {
        return cost_[static_cast<std::size_t>(forest_->first()[feature]) - feature + static_cast<std::size_t>(cell)];
    }
    /// The least cost of moving a feature.
    double least_cost(std::size_t feature) const { return least_[feature]; }
    /// The least cost of moving a feature into a range that has a permitted cell.
    double least_cost(std::size_t feature, std::int32_t lo, std::int32_t hi);

    std::vector<std::int32_t> anchor, query;
    std::vector<std::uint8_t> roams;
    std::vector<std::int32_t> picks;  // features that were moved
    double spent = 0.0;               // what they cost

private:
    const CellForest* forest_;
    const double* cost_ = nullptr;
    std::vector<std::int32_t> counts_;  // permitted cells before each cell
    void rank_costs(std::size_t feature);

    std::vector<double> least_;
    // made for a feature when a range of it is first looked at: whether costs rise on both sides of the query, and the
    // nearest permitted cells at or after, and at or before each cell
    enum class Order : std::uint8_t { unknown, rising, any };
    std::vector<Order> order_;
    std::vector<std::int32_t> next_, previous_;
};

}  // namespace sev::free
