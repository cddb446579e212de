// The best sets of features of one row, whichever search finds them and in whichever order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sev {

/// Keeps the sets with the lowest margins, up to a number, and counts all.
///
/// Margins that differ by less than a grid count as equal; such sets are in the order of their features. The grid is far
/// above what searches differ by when they add up in another order, so all of them keep the same sets.
class BestSets {
public:
    BestSets(std::size_t n_words, std::size_t most) : n_words_(n_words), most_(most) {}

    /// Forget the sets of the last row. Only margins up to ``limit`` are wanted.
    void begin(double limit, double grid);
    /// Margins above it are of no interest any more: too high, or worse than all that are kept.
    double limit() const { return limit_; }
    void add(const std::uint64_t* set, double value);

    std::size_t count() const { return count_; }
    std::size_t kept() const { return entries_.size(); }
    std::size_t n_words() const { return n_words_; }
    /// Append the kept sets and their margins, best first.
    void write(std::vector<std::uint64_t>& sets, std::vector<double>& values);

private:
    struct Entry {
        double value;
        std::size_t slot;
    };
    bool is_before(const Entry& one, const Entry& other) const;
    bool has_lower_features(const Entry& one, const Entry& other) const;
    const std::uint64_t* set_of(const Entry& entry) const { return sets_.data() + entry.slot * n_words_; }
    void sift_down(std::size_t at);
    void sort();

    std::size_t n_words_, most_, count_ = 0;
    double limit_ = 0.0, grid_ = 0.0;
    std::vector<Entry> entries_;  // once full: a heap with the worst in front
    std::vector<std::uint64_t> sets_;
    std::size_t spare_ = 0;  // once full: the slot for the next set to compare
};

}  // namespace sev
