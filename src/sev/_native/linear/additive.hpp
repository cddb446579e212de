// Margins to which each feature adds a fixed amount. Everything is sign-flipped so that crossing means falling below zero.
#pragma once

#include <cstdint>
#include <vector>

#include "core/best_sets.hpp"
#include "core/budget.hpp"
#include "core/views.hpp"

namespace sev::linear {

/// A weighted sum, and where the rows begin and end.
struct Model {
    Span<const double> weights;
    double intercept;
    Span<const double> reference;
    Span<const std::int64_t> column_feature;
    bool minus;   // the start is the query and features move to the reference; else the other way round
    double sign;  // -1: margins are sign-flipped
};

/// Start value, what changing each feature adds to it (zeros before), and the sum of the sizes of all terms.
void write_moves(const Model& model, const double* query, double& start, double* gains, double& magnitude);

/// One row: sets cross below ``low``; above ``high`` they do not; between the two only the model knows.
struct Row {
    double start;
    const double* gains;
    const std::uint8_t* active;
    double low, high;
    double grid;  // margins closer than this count as equal in the order of sets
};

struct Sizes {
    std::int64_t sure = -1;      // the fewest features that take the row below ``low``; -1: not even all helpful ones
    std::int64_t possible = -1;  // the fewest that might, reaching ``high``
};

class Search {
public:
    explicit Search(std::size_t n_features) : n_features_(n_features) {}

    Sizes sizes(const Row& row);
    /// After ``sizes``: the features of the first set, the ``size`` strongest ones.
    const std::int32_t* first() const { return order_.data(); }
    /// Whether no other set of that size is as good, so that only one can come first.
    bool first_is_clear(const Row& row, std::int64_t size);
    /// Add all sets of one size that reach ``high``, in any order; false when the budget ends.
    bool list(const Row& row, std::int64_t size, BestSets& sets, Budget& budget);

private:
    void bring_lowest(const Row& row, std::size_t to);
    void sort_features(const Row& row);
    void add(std::size_t size, double value, BestSets& sets);

    std::size_t n_features_;
    std::vector<std::int32_t> order_;  // features, largest fall first
    std::vector<double> sums_, values_;
    std::vector<std::size_t> picks_;
    std::vector<std::uint64_t> set_;
};

}  // namespace sev::linear
