// Sets of features that cross, each with the cheapest cells found for it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <vector>

namespace sev::cells {

/// How a search ended for one row; the numbers are those of ``backends/trees/free/solver.py``.
enum class Outcome : std::int8_t { found = 0, none = 1, too_large = 2, spent = 4 };

/// What is wanted: one set of the smallest size, the cheapest set of the smallest size, all sets of the smallest size, or
/// the cheapest set of any size.
enum class Goal : std::int64_t { first = 0, cheapest = 1, all = 2, cost = 3 };

/// When a point crosses. Margins are sign-flipped so that it does so by going down.
struct Band {
    double sure;   // below it, surely
    double limit;  // above it, surely not; in between the model decides
};

/// Lets the model decide about points: one row of cells each; fills in 1 where it crosses.
using Ask = std::function<void(const std::vector<std::int32_t>& cells, std::size_t n_points, std::vector<std::uint8_t>& crosses)>;

struct FoundSet {
    std::vector<std::int32_t> cells;  // of all features of the row
    double cost = std::numeric_limits<double>::infinity();
    bool cheapest = false;  // proven: no other cells of these features cost less
};

/// The sets of one row by their features, in rising order.
class FoundSets {
public:
    using Features = std::vector<std::int32_t>;

    void begin(Goal goal) {
        goal_ = goal;
        sets_.clear();
        best_ = std::numeric_limits<double>::infinity();
    }
    bool empty() const { return sets_.empty(); }
    const std::map<Features, FoundSet>& sets() const { return sets_; }
    std::map<Features, FoundSet>& sets() { return sets_; }

    /// Points of these features that cost as much or more are of no use.
    double cost_limit(const Features& features) const {
        if (goal_ != Goal::all) return best_;
        const auto found = sets_.find(features);
        return found == sets_.end() ? std::numeric_limits<double>::infinity() : found->second.cost;
    }
    /// The same for any features.
    double cost_limit() const { return goal_ == Goal::all ? std::numeric_limits<double>::infinity() : best_; }

    void add(const Features& features, const std::vector<std::int32_t>& cells, double cost) {
        if (goal_ != Goal::all) sets_.clear();
        sets_[features] = {cells, cost, false};
        best_ = cost;
    }

private:
    Goal goal_ = Goal::first;
    double best_ = 0.0;
    std::map<Features, FoundSet> sets_;
};

}  // namespace sev::cells
