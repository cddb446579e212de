// Where a row and the reference part: the splits of all trees at which the two go different ways.
//
// The splits of one column lie in the order of their thresholds. The reference is right of so many of them and a row is
// right of so many others, so those at which they part are one stretch. A tree then is one word with a bit for each
// split at which they part, and only these are looked at: from any node on, the splits that the reference meets are
// known, and the next one at which the row goes another way is the lowest bit that both words have.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/forest.hpp"

namespace sev::trees {

class Partings {
public:
    static constexpr std::size_t most_splits = 64;

    /// What the reference meets from a node on: the splits, one bit each, nearer ones lower, and the leaf's value.
    struct Path {
        std::uint64_t splits;
        double leaf;
    };
    struct Split {
        Path away;  // from the child on to which the reference does not go
        std::size_t column;
    };

    /// ``forest`` is marked with the reference and has at most ``most_splits`` splits a tree.
    explicit Partings(const Forest& forest);

    /// Mark the splits of every tree at which a row and the reference part.
    void mark(const Forest& forest, const double* row, std::vector<std::uint64_t>& marks) const;
    const Path& path(std::size_t tree) const { return paths_[tree]; }
    const Split& split(std::size_t tree, std::size_t bit) const { return splits_[first_split_[tree] + bit]; }
    /// Start to load the first split at which row and reference part in a tree, if there is one, and the next.
    void prefetch_first(std::size_t tree, const std::vector<std::uint64_t>& marks) const {
        if (tree >= marks.size()) return;
        std::uint64_t ahead = paths_[tree].splits & marks[tree];
        for (int n = 0; n < 2 && ahead != 0; ++n, ahead &= ahead - 1) prefetch(&split(tree, lowest_bit(ahead)));
    }

private:
    struct Place {  // of one split
        std::uint32_t tree, bit;
    };
    struct Column {
        std::size_t column, begin, end;  // of its splits, in order
        std::size_t passed;              // where the reference goes left for the first time
        bool is_plain;                   // else each split is looked at: no comparison, or the reference has no number
    };

    void read_tree(const Forest& forest, std::size_t tree);
    void sort_splits(const Forest& forest);
    void add_column(const Forest& forest, std::size_t begin, std::size_t end);

    std::vector<Path> paths_;                // of each tree, from its root on
    std::vector<Split> splits_;              // of all trees, one after the other, as their nodes lie
    std::vector<std::size_t> first_split_;   // of each tree
    std::vector<Column> columns_;
    // By column and threshold.
    std::vector<double> thresholds_;
    std::vector<Place> places_;
    std::vector<std::uint32_t> nodes_;
};

}  // namespace sev::trees
