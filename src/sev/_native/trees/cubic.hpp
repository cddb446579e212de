// Sets of three and more features from tables of degree three.
//
// When no cube has more than three features the tables are exact for all sets. A pick adds its pairs to the singles and
// its triples to the pairs, so a vertex costs a few additions however many trees there are. The highest numbers are
// picked first; what is left to pick from is then the front of every table.
//
// The table of pairs is square and symmetric, with infinity where a feature meets itself, and its rows are padded: loops
// over it need no special case, and what concerns one feature is one column. Triples are few: they lie in a list, by
// their highest number.
#pragma once

#include <cstdint>
#include <utility>
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

    /// Search sizes from ``from`` >= 3 up to ``last``; if this is above 3, the tables must say everything.
    Ending search(std::int64_t from, std::int64_t last, std::int64_t max_size, const ProofEffort& effort,
                  BestSets& sets, Budget& budget);

private:
    enum class Answer { no, yes, unknown };
    struct Level {  // the tables after some picks
        const double* single;
        double* pair;
        double start;
        std::size_t n;  // features that are left to pick from
    };
    struct Triple {
        std::uint32_t low, mid, high;
        double value;
    };

    /// Calls back with both places of each pair of a triple in a square table.
    template <class Use>
    void for_each_pair(const Triple& triple, const Use& use) const {
        for (const auto& [one, other] : {std::pair{triple.low, triple.mid}, {triple.low, triple.high}, {triple.mid, triple.high}}) {
            use(one * stride_ + other);
            use(other * stride_ + one);
        }
    }
    void sort_effects(const PairTables& tables, const std::uint8_t* usable);
    void collect_triples();
    void find_least_partners();
    void forget_partners();
    bool bound_sizes(double limit);
    void make_buffers(std::size_t n_levels);
    Level after_pick(const Level& level, std::size_t pick, std::size_t buffer);
    bool search_size(std::size_t size, Found& found, Budget& budget);
    Level lend_triples(const Level& level, std::size_t pick, std::size_t buffer);
    void take_triples_back(const Level& level, std::size_t pick);
    void record_marked_pairs(const Level& level, std::size_t depth, Found& found);
    void record_triples(const Level& level, const std::uint8_t* viable, std::size_t depth, Found& found);
    void mark_viable(const Level& level, std::size_t size, double slack, std::uint8_t* viable);
    double lowest_margin(const Level& level, double limit);
    bool may_cross(const Level& level, std::size_t size, double limit);
    bool finds_by_greed(double limit);
    Answer exists(double limit, Budget& budget, std::int64_t work);

    std::size_t n_ = 0, stride_ = 0;
    Level root_{};
    std::vector<double> single_, pair_;
    std::vector<std::int32_t> feature_, place_, picks_;
    std::vector<double> sums_;               // of triples, by ``triple_at``; zero outside ``collect_triples``
    std::vector<std::uint32_t> met_;         // those that are not zero: three features in eight bits each
    std::vector<Triple> triples_;            // by the highest feature
    std::vector<std::uint32_t> first_;       // where those of each highest feature begin
    std::vector<double> least_, second_, third_;  // of each pair, over a third feature; zero where there is none
    std::vector<double> singles_, pairs_;    // buffers of levels
    std::vector<Level> levels_;
    std::vector<double> before_, share_, weight_, lowest_, size_bound_;
    std::vector<std::size_t> top_, usable_, order_, front_;
    std::vector<std::uint8_t> viable_, hit_;
};

}  // namespace sev::trees
