// Sets of three and more features from tables of degree three.
//
// When no cube has more than three features the tables are exact for all sets. A pick adds its stretch of each table to
// the table of one degree less, so a vertex costs a few additions however many trees there are. The highest numbers are
// picked first; what is left to pick from is then the front of every table.
#pragma once

#include <cstdint>
#include <vector>

#include "core/budget.hpp"
#include "trees/tables.hpp"

namespace sev::trees {

/// How far the question goes whether any set crosses at all; it is asked before a size is searched.
struct ProofEffort {
    std::int64_t from_size;  // the first size before which it is asked
    std::int64_t work;       // work that it may always take
    std::int64_t share;      // and so many times the work that the search has taken so far
};

class CubicSearch {
public:
    /// Number the usable features anew, those that lower the margin most last, and copy their tables.
    void arrange(const PairTables& tables, const std::uint8_t* usable, const std::int32_t* feature_of);
    /// Add a term of three features, in the numbers of the tables; features that are not usable are left out.
    void add_term(std::size_t one, std::size_t two, std::size_t three, double value);
    /// Add the terms of degree 3 of all cubes.
    void expand(const Cubes& cubes);

    /// Search sizes from ``from`` >= 3 up to ``last``.
    Ending search(std::int64_t from, std::int64_t last, std::int64_t max_size, const ProofEffort& effort,
                  BestSets& sets, Budget& budget);

private:
    enum class Answer { no, yes, unknown };
    struct Level {  // the tables after some picks
        const double* single;
        const double* pair;
        double start;
        std::size_t n;  // features that are left to pick from
    };

    void clear_triples();
    void list_all_triples();
    void find_least_partners();
    bool search_size(int size, Found& found, Budget& budget);
    void record_triples(const Level& level, const std::uint8_t* viable, int depth, Found& found);
    void mark_viable(const Level& level, int size, double slack, std::uint8_t* viable);
    double lowest_margin(const Level& level);
    bool may_cross(const Level& level, int size, double limit);
    bool finds_by_greed(double limit);
    Answer exists(double limit, Budget& budget, std::int64_t work);

    std::size_t n_ = 0;
    double start_ = 0.0;
    std::vector<double> single_, pair_, triple_;
    std::vector<std::int32_t> feature_, place_, picks_;
    std::vector<std::uint32_t> met_;  // terms of degree 3 that are not zero: three features in eight bits each
    std::vector<double> least_, second_, third_;  // of each pair, over a third feature
    std::vector<double> singles_, pairs_, values_;  // tables after each number of picks
    std::vector<double> low_, next_low_, beside_, weight_, lowest_, effect_;
    std::vector<std::size_t> top_, order_;
    std::vector<std::uint8_t> viable_, hit_;
};

}  // namespace sev::trees
