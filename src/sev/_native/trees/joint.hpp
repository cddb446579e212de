// Sets that bring two sums of trees down to their limits at once: branch and bound over both.
#pragma once

#include <cstdint>
#include <vector>

#include "core/budget.hpp"
#include "trees/found.hpp"
#include "trees/stack.hpp"

namespace sev::trees {

/// Give the features of two rows the same numbers; each then has those of both.
void align(Row& one, Row& other);

class JointSearch {
public:
    enum class Answer { no, yes, unknown };

    /// Tables of pairs are for at most ``widest_pairs`` features.
    explicit JointSearch(std::size_t widest_pairs) : widest_pairs_(widest_pairs) {}

    /// Take aligned rows, which stay where they are; the limit of the second one is the same in all searches.
    void begin(const Row& first, const Row& second, double second_limit);
    /// The fewest features that could possibly bring both down; one more than there are when none can.
    std::int64_t least_size(double limit);
    /// Record all sets of ``size`` features that bring the first down to the limit of ``found`` and the second down to
    /// its own; unknown when the budget ends.
    Answer search(int size, Found& found, Budget& budget);
    /// Whether a set of any size does; if so, ``picks`` has one.
    Answer exists(double limit, Budget& budget);
    const std::vector<std::int32_t>& picks() const { return picks_; }

private:
    struct Depth {
        std::vector<std::int32_t> order;  // the features to pick from, by score
        std::vector<double> score;        // of each feature: its weights in both, each as a share of what is missing
        std::size_t next = 0;
        double missing[2] = {0.0, 0.0};   // what the two are above their limits
        double together = 0.0;            // the sum of both as shares
    };

    void restart(std::size_t deepest);
    void enter(std::size_t depth, double limit);
    bool may_reach(std::size_t depth, std::size_t from, std::size_t most, std::int32_t with);
    bool may_reach_at_all(std::size_t depth) const;
    double lowest(const std::vector<double>& weight, const std::vector<std::int32_t>& order, std::size_t from, std::size_t most);
    void descend(std::size_t depth, std::int32_t pick, std::size_t left);
    void leave(std::size_t depth);
    std::int64_t work_of(std::size_t depth) const { return stack_[0].work_of(depth) + stack_[1].work_of(depth); }
    void record_singles(std::size_t depth, const std::int32_t* from, const std::int32_t* end, Found& found);
    void record_pairs(std::size_t depth, const std::int32_t* from, const std::int32_t* end, Found& found);

    std::size_t widest_pairs_, n_ = 0;
    const Row* row_[2] = {nullptr, nullptr};
    double second_limit_ = 0.0;
    CubeStack stack_[2];
    std::vector<Depth> depths_;
    std::vector<std::uint8_t> out_;  // features that were picked and given up at some depth
    std::vector<double> pair_[2], scratch_;
    std::vector<std::int32_t> picks_;
};

}  // namespace sev::trees
