// A forest as one array of nodes, and the directions that rows take in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/views.hpp"

namespace sev::trees {

/// Flags of a node; the numbers are those of ``backends/trees/_forest.py``.
enum Flag : std::int64_t {
    nan_left = 1,        // missing values go left
    categorical = 2,     // left when the category is in the node's set
    outside_left = 4,    // with categorical: left when the category is not in the set
    zero_missing = 8,    // zero is a missing value
    special = 16,        // one of the last three: more than a comparison
    at_reference = 128,  // the reference goes right here
};

/// One node: ``left << 32 | column << 8 | flags``, and its threshold, number of category set, or leaf value.
struct Node {
    std::int64_t meta;
    double value;
};

/// The left child; the right one follows it; 0 for a leaf.
inline std::int64_t left_of(const Node& node) { return node.meta >> 32; }
inline bool is_leaf(const Node& node) { return left_of(node) == 0; }
inline std::size_t column_of(const Node& node) { return static_cast<std::size_t>((node.meta >> 8) & 0xFFFFFF); }
inline bool has(const Node& node, Flag flag) { return (node.meta & flag) != 0; }
/// 1 when the reference goes right.
inline std::int64_t reference_side(const Node& node) { return (node.meta >> 7) & 1; }

/// Arrays as they come from outside; nothing about them is known yet.
struct ForestArrays {
    Span<const std::int64_t> nodes;
    Span<const double> values;
    Span<const std::int64_t> roots;
    Span<const std::int64_t> category_first;
    Span<const std::uint64_t> category_words;
    std::int64_t n_columns;
    double base;
};

class Forest {
public:
    /// Copies the arrays; throws ``std::invalid_argument`` when they are not trees.
    explicit Forest(const ForestArrays& arrays);

    /// 1 when a number goes to the right child of a node that is no leaf.
    std::int64_t side_of(const Node& node, double x) const {
        if (x != x) return 1 - (node.meta & nan_left);
        if ((node.meta & special) == 0) return x <= node.value ? 0 : 1;
        return special_side(node, x);
    }
    /// The sum of the leaves that a row reaches: base first, then trees in order.
    double margin(const double* row) const;
    /// Rows that are walked together: what they need of one tree is then still near.
    static constexpr std::size_t most_rows = 32;
    /// The margins of at most ``most_rows`` rows that lie one after the other; the same sums as row by row.
    void margins(const double* rows, std::size_t n_rows, double* sums) const;
    /// The same forest with the direction of a reference in each node.
    Forest marked(const double* reference) const;

    const Node* nodes() const { return nodes_.data(); }
    std::size_t n_nodes() const { return nodes_.size(); }
    const std::vector<std::int32_t>& roots() const { return roots_; }
    std::size_t n_trees() const { return roots_.size(); }
    std::size_t n_columns() const { return n_columns_; }
    double base() const { return base_; }
    /// Splits on a path from a root to a leaf, at most.
    std::int64_t depth() const { return depth_; }
    /// Where the nodes of a tree end.
    std::size_t end_of(std::size_t tree) const {
        return tree + 1 < roots_.size() ? static_cast<std::size_t>(roots_[tree + 1]) : nodes_.size();
    }

private:
    std::int64_t special_side(const Node& node, double x) const;
    void lay_out_depth_first();
    void check_roots() const;
    void check_tree(std::size_t tree);
    void check_split(std::size_t at, std::size_t end) const;

    std::vector<Node> nodes_;
    std::vector<std::int32_t> roots_;
    std::vector<std::int64_t> category_first_;
    std::vector<std::uint64_t> category_words_;
    std::size_t n_columns_;
    double base_;
    std::int64_t depth_ = 0;
};

}  // namespace sev::trees
