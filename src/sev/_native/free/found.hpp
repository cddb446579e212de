// Sets of features that cross, each with the cheapest cells found for it.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <vector>

namespace sev::free {

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
    using Map = std::map<Features, FoundSet>;

    /// With ``keeps_all`` sets stay listed when a cheaper one is found.
    void begin(Goal goal, bool keeps_all = false) {
        goal_ = goal;
        keeps_all_ = keeps_all;
        sets_.clear();
        first_.clear();
        best_ = std::numeric_limits<double>::infinity();
    }
    /// From now on all sets are wanted, beside the cheapest so far, which stays the first, as it is: what else was met on
    /// the way is found again, so that the others do not depend on that way.
    void list_others() {
        keep_first();
        goal_ = Goal::all;
    }
    /// Forgets all but the cheapest.
    void keep_first() {
        Map kept;
        const auto first = sets_.find(first_);
        if (first != sets_.end()) kept.insert(*first);
        sets_.swap(kept);
    }
    /// All sets but one of which everything is known.
    void begin_others(const Features& first) {
        begin(Goal::all);
        first_ = first;
    }
    bool empty() const { return sets_.empty(); }
    const Map& sets() const { return sets_; }
    Map& sets() { return sets_; }
    /// The features of the cheapest set; empty where all sets were wanted from the start.
    const Features& first() const { return first_; }

    /// Points of these features that cost as much or more are of no use. Of sets that cost the same, the one whose features
    /// come first is kept.
    double cost_limit(const Features& features) const {
        if (goal_ == Goal::cheapest && features < first_) return above(best_);
        if (goal_ != Goal::all) return best_;
        if (!first_.empty() && features == first_) return 0.0;
        const auto found = sets_.find(features);
        return found == sets_.end() ? std::numeric_limits<double>::infinity() : found->second.cost;
    }
    /// The same for any features.
    double cost_limit() const {
        if (goal_ == Goal::all) return std::numeric_limits<double>::infinity();
        return goal_ == Goal::cheapest ? above(best_) : best_;
    }

    void add(const Features& features, const std::vector<std::int32_t>& cells, double cost) {
        if (goal_ != Goal::all && !keeps_all_) sets_.clear();
        sets_[features] = {cells, cost, false};
        if (goal_ == Goal::all) return;
        best_ = cost;
        first_ = features;
    }

private:
    static double above(double cost) { return std::nextafter(cost, std::numeric_limits<double>::infinity()); }

    Goal goal_ = Goal::first;
    bool keeps_all_ = false;
    double best_ = 0.0;
    Features first_;
    Map sets_;
};

}  // namespace sev::free
