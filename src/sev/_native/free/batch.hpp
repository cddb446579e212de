// The rows of one call, one after the other.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/budget.hpp"
#include "free/boxes.hpp"
#include "free/search.hpp"

namespace sev::free {

/// Where every row is, and what every cell costs it (infinite: not permitted).
struct Rows {
    Matrix<const std::int64_t> at;
    Matrix<const double> cost;
    /// Of rows whose least costly smallest set is known, its features: only the others are listed. No rows: none is known.
    Matrix<const std::int64_t> known{};
};

struct Request {
    Goal goal;
    Band band;
    std::int64_t max_size, max_sets;
    std::int64_t work;   // for one row
    double seconds;      // for one row
    double processor_seconds = std::numeric_limits<double>::infinity();  // for one row
};

/// Lets the model decide about points of a row.
using AskRow = std::function<void(std::size_t row, const std::vector<std::int32_t>& cells, std::size_t n_points, std::vector<std::uint8_t>& crosses)>;

/// How the search ended for each row; the sets of all rows are one after the other, the cheapest of a row first.
struct Answers {
    std::vector<std::int8_t> outcome;
    std::vector<std::int64_t> proven;  // no set of so many features crosses
    std::vector<std::int64_t> work, n_sets;
    std::vector<std::uint8_t> complete;  // all sets of the size, or proven to be the cheapest
    std::vector<std::int64_t> cells;     // of each set: one for each feature
    std::vector<double> cost;
    std::vector<std::uint8_t> cheapest;
    std::vector<double> start;  // the sum of each row's own leaves
};

Answers solve(const CellForest& forest, const Rows& rows, const Request& request, const AskRow& ask, Pulse& pulse);

/// Boxes around points that cross; marks of cells, one row for each point. ``ordered`` has an entry for each feature.
std::vector<std::uint8_t> grow(const CellForest& forest, const Rows& rows, Matrix<const std::int64_t> points, const std::vector<std::uint8_t>& ordered,
                               Band band, std::int64_t work, std::int64_t most_walks, const AskRow& ask, Pulse& pulse);

}  // namespace sev::free
