// Sets of any size over cubes of any width: branch and bound.
#pragma once

#include <cstdint>
#include <vector>

#include "core/budget.hpp"
#include "trees/found.hpp"
#include "trees/stack.hpp"

namespace sev::trees {

/// Number the features of a row by what they can do at most; returns the fewest that could possibly reach the limit.
std::int64_t order_features(Row& row, double limit);

class BranchSearch {
public:
    enum class Answer { no, yes, unknown };

    explicit BranchSearch(std::size_t widest_pairs) : widest_pairs_(widest_pairs) {}

    /// Record all sets of ``size`` features that bring the margin down to the limit; unknown when the budget ends.
    Answer search(const Row& row, int size, Found& found, Budget& budget);
    /// Whether a set of any size does.
    Answer exists(const Row& row, double limit, Budget& budget);

private:
    struct Depth {
        std::vector<std::int32_t> order;  // the features to pick from, by weight
        std::size_t next = 0;             // which one is next
    };

    void begin(const Row& row, std::size_t deepest);
    void enter(std::size_t depth);
    double bound(std::size_t depth, std::size_t most, bool probing) const;
    void leave(std::size_t depth);
    void record_last(std::size_t depth, bool pairs, Found& found);
    void record_singles(const std::vector<double>& single, const std::int32_t* from, const std::int32_t* end, double start,
                        int picked, Found& found);
    void record_pairs(const std::vector<double>& single, const std::int32_t* from, const std::int32_t* end, double start,
                      int picked, Found& found);

    std::size_t widest_pairs_, n_ = 0;
    CubeStack stack_;
    std::vector<Depth> depths_;
    std::vector<std::uint8_t> out_;  // features that were picked and given up at some depth
    std::vector<double> pair_;
    std::vector<std::int32_t> picks_;
};

/// Record one set that surely crosses, if greed finds one: the best feature is added until the margin is below
/// ``sure``; then what is not needed is dropped again.
bool search_greedy(const Row& row, double sure, Found& found);

}  // namespace sev::trees
