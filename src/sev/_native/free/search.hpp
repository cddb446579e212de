// The fewest features that take one row across, with any permitted values: one size after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/budget.hpp"
#include "free/bounds.hpp"
#include "free/found.hpp"

namespace sev::free {

class Search {
public:
    Search(const CellForest& forest, Band band);

    void begin(const std::int64_t* at, const double* cost, const Ask& ask, Budget& budget);
    Moves& moves() { return moves_; }
    FoundSets& found() { return found_; }
    /// What is wanted from now on; nothing may have been found yet. With ``keeps_all`` every set met on the way is kept.
    void aim(Goal goal, bool keeps_all = false);
    /// All sets are wanted after all; the cheapest that was found stays the first.
    void list_others();
    /// All sets are wanted but one, whose features these are.
    void aim_at_others(const std::vector<std::int32_t>& first);
    /// Goes through all sets of one size; false when the budget ended it.
    bool search_size(std::int32_t size);
    /// Some set that crosses, by always taking the best single move; features that turn out not to be needed go back.
    bool search_greedy(Budget& budget);
    /// Takes a point that surely crosses as the set that is known, without the features that it does not need.
    bool accept_point(std::vector<std::int32_t> cells);
    /// The set that greed or a box found, and its features.
    const FoundSet& some() const { return some_; }
    const std::vector<std::int32_t>& some_features() const { return some_features_; }
    /// Finds the cheapest cells of one set; false when the budget ended it.
    bool improve(const std::vector<std::int32_t>& features);
    /// Number of features that may move.
    std::int32_t n_roaming() const;
    /// A lower bound of the cost of any set of a size.
    double least_cost(std::int32_t size) const;
    /// Whether nothing of any size costs less than what is found, by the sum of least leaves that are worth their cost.
    bool cannot_improve();
    /// The row's own sum.
    double start();

private:
    struct Tie {
        double cost;
        std::int32_t cells[2];
    };
    struct Option {  // a feature's cell, a pair or a set, with what it can reach and what it costs at least
        double bound, cost;
        std::int32_t one, other;
    };
    struct SetOption {
        double bound, cost;
        std::vector<std::int32_t> features;
    };
    struct Level {  // what is known after so many picks; kept between searches to save memory calls
        Pieces pieces;
        Bounds bounds;
        std::vector<double> least, cheapest, half;  // of each feature: least change, least cost, half of its worst pairs
        std::vector<std::int32_t> features;
        std::vector<Option> options;
        std::vector<SetOption> sets;
    };
    struct PairItem {  // a piece that knows both features of a pair: cells of the one and of the other
        enum Kind : std::int8_t { both, one_moves, other_moves };
        double value;
        Range one, other;
        std::int32_t next;
        Kind kind;
    };

    bool pick(std::int32_t left, std::size_t depth);
    bool pick_one();
    bool pick_two(Level& level);
    bool pick_many(std::int32_t left, std::size_t depth);
    bool pick_sets(std::int32_t left, std::size_t depth);
    bool pick_last_set(std::int32_t left, std::size_t depth);
    bool pick_features(std::int32_t left, std::size_t depth);
    bool pick_cells(std::int32_t left, std::size_t depth, std::int32_t feature, double rest, double rest_cost);
    void fill_grid(std::int32_t head);
    bool look_at_pair(const Level& level, std::int32_t one, std::int32_t other);
    void index_pairs(const Level& level);
    void summarise(Level& level, std::int32_t left);
    bool list_sets(Level& level, std::int32_t left, std::size_t most);
    bool extend_set(Level& level, std::int32_t left, std::size_t from, double bound, double cost, std::size_t most);
    void halve_pairs(Level& level, std::int32_t left);
    double rest_of(const Level& level, const std::vector<std::int32_t>& features, std::int32_t feature, std::int32_t left, double& cost);
    std::int64_t count_cells(const Level& level, std::int32_t feature, double rest) const;
    bool settle(std::vector<Tie>& ties, const std::int32_t* features, std::size_t n_features, double limit);
    void record(const std::int32_t* features, const std::int32_t* cells, std::size_t n, double cost);
    std::vector<std::int32_t> sorted_features(const std::int32_t* features, std::size_t n) const;
    bool is_done() const { return goal_ == Goal::first && !found_.empty(); }
    Level& level_at(std::size_t depth);
    /// What the picks that are left may cost; infinite where every set counts.
    double affordable() const { return found_.cost_limit() - moves_.spent; }

    const CellForest* forest_;
    Band band_;
    Goal goal_ = Goal::first;
    Moves moves_;
    Walker walker_;
    Bounder bounder_;
    FoundSets found_;
    const Ask* ask_ = nullptr;
    Budget* budget_ = nullptr;
    double start_ = 0.0;
    bool has_start_ = false;
    FoundSet some_;
    std::vector<std::int32_t> some_features_, greedy_;
    SingleMoves singles_;
    std::vector<std::unique_ptr<Level>> levels_;
    std::vector<std::int32_t> heads_;  // of the items of each pair; -1: not wanted, -2: none yet
    std::vector<PairItem> items_;
    std::vector<double> grid_;
    std::vector<Tie> ties_;
    std::vector<std::int32_t> ones_, others_, place_one_, place_other_, chosen_;
    std::vector<double> scratch_;
    std::int64_t list_work_ = 0;
};

}  // namespace sev::free
