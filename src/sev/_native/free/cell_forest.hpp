// Trees over cells: each feature has finitely many states that the trees can tell apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/views.hpp"
#include "trees/forest.hpp"

namespace sev::free {

/// Cells of one feature from ``lo`` to ``hi``, both included.
struct Range {
    std::int32_t lo, hi;
    bool holds(std::int32_t cell) const { return lo <= cell && cell <= hi; }
};

/// Cells behind those of the segment before, up to ``last``, and the node that they lead to.
struct Segment {
    std::int32_t last, child;
};

/// A split on a feature with segments that cover all its cells, or a leaf (feature -1) with a value.
struct CellNode {
    std::int32_t feature, first;
    double value;
};

/// Arrays as they come from outside; nothing about them is known yet.
struct CellArrays {
    Span<const std::int64_t> n_cells;         // of each feature
    Span<const std::int64_t> column_feature;  // of each encoded column
    Span<const std::int64_t> column_first;    // where the values of a column begin, one for each cell of its feature
    Span<const double> values;                // the encoded value of each cell
    double sign;                              // -1 where a set crosses by going up
};

class CellForest {
public:
    /// Asks every split for every cell of its feature; throws ``std::invalid_argument`` when the arrays do not fit.
    CellForest(const trees::Forest& forest, const CellArrays& arrays);

    std::size_t n_features() const { return n_cells_.size(); }
    std::int32_t n_cells(std::size_t feature) const { return n_cells_[feature]; }
    /// Where the cells of a feature begin in arrays over all cells, which have one spare entry behind each feature.
    const std::vector<std::int32_t>& first() const { return first_; }
    std::size_t n_entries() const { return static_cast<std::size_t>(first_.back()); }
    /// Cells of all features.
    std::size_t n_all_cells() const { return n_entries() - n_features(); }
    std::size_t n_trees() const { return roots_.size(); }
    const std::vector<std::int32_t>& roots() const { return roots_; }
    const CellNode* nodes() const { return nodes_.data(); }
    const Segment* segments() const { return segments_.data(); }
    double base() const { return base_; }
    /// Features that a tree splits on, and the trees that split on a feature.
    const std::vector<std::int32_t>& features_of(std::size_t tree) const { return tree_features_[tree]; }
    const std::vector<std::int32_t>& trees_of(std::size_t feature) const { return feature_trees_[feature]; }
    /// Splits on a path, at most.
    std::size_t depth() const { return depth_; }

    const Segment& segment_at(const CellNode& node, std::int32_t cell) const {
        const Segment* segment = &segments_[static_cast<std::size_t>(node.first)];
        while (segment->last < cell) ++segment;
        return *segment;
    }
    /// The leaf of a tree that a row of cells reaches.
    double leaf(std::size_t tree, const std::int32_t* cells) const;
    /// The sum of the leaves.
    double margin(const std::int32_t* cells) const;

private:
    std::int32_t build(const trees::Forest& forest, const CellArrays& arrays, std::size_t at, std::size_t depth);

    std::vector<std::int32_t> n_cells_, first_, roots_;
    std::vector<CellNode> nodes_;
    std::vector<Segment> segments_;
    std::vector<std::vector<std::int32_t>> tree_features_, feature_trees_;
    std::size_t depth_ = 0;
    double base_, sign_;
};

}  // namespace sev::free
