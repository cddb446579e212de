#include "free/cell_forest.hpp"

#include <algorithm>
#include <stdexcept>

namespace sev::free {

namespace {

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

constexpr std::int64_t most_cells = std::int64_t{1} << 28;
/// The walks over cells call themselves once for each level of a tree: far from the end of any thread's stack.
constexpr std::int64_t most_levels = 1000;

}  // namespace

CellForest::CellForest(const trees::Forest& forest, const CellArrays& arrays) : base_(arrays.sign * forest.base()), sign_(arrays.sign) {
    require(arrays.sign == 1.0 || arrays.sign == -1.0, "sign must be 1 or -1");
    require(arrays.n_cells.size() < (std::size_t{1} << 24), "too many features");
    require(forest.depth() <= most_levels, "a tree has more than 1,000 levels: too deep for a search over free values");
    std::int64_t total = 0;
    first_.push_back(0);
    for (const std::int64_t n : arrays.n_cells) {
        require(n >= 1 && n <= most_cells && total + n < most_cells, "a feature must have at least one cell, and not too many");
        total += n + 1;
        n_cells_.push_back(static_cast<std::int32_t>(n));
        first_.push_back(static_cast<std::int32_t>(total));
    }
    require(arrays.column_feature.size() == forest.n_columns(), "column_feature must have an entry for each column of the forest");
    require(arrays.column_first.size() == forest.n_columns(), "column_first must have an entry for each column of the forest");
    for (std::size_t column = 0; column < forest.n_columns(); ++column) {
        const std::int64_t feature = arrays.column_feature[column], begin = arrays.column_first[column];
        require(feature >= 0 && static_cast<std::size_t>(feature) < n_features(), "a feature in column_feature is out of range");
        const auto size = static_cast<std::int64_t>(arrays.values.size());
        require(begin >= 0 && begin <= size && size - begin >= n_cells_[static_cast<std::size_t>(feature)],
                "a column must have a value for each cell of its feature");
    }
    feature_trees_.resize(n_features());
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        const std::size_t begin = nodes_.size();
        roots_.push_back(build(forest, arrays, static_cast<std::size_t>(forest.roots()[tree]), 0));
        std::vector<std::int32_t> features;
        for (std::size_t at = begin; at < nodes_.size(); ++at)
            if (nodes_[at].feature >= 0) features.push_back(nodes_[at].feature);
        std::sort(features.begin(), features.end());
        features.erase(std::unique(features.begin(), features.end()), features.end());
        for (const std::int32_t feature : features) feature_trees_[static_cast<std::size_t>(feature)].push_back(static_cast<std::int32_t>(tree));
        tree_features_.push_back(std::move(features));
    }
}

std::int32_t CellForest::build(const trees::Forest& forest, const CellArrays& arrays, std::size_t at, std::size_t depth) {
    const trees::Node& node = forest.nodes()[at];
    if (trees::is_leaf(node)) {
        depth_ = std::max(depth_, depth);
        nodes_.push_back({-1, 0, sign_ * node.value});
        return static_cast<std::int32_t>(nodes_.size() - 1);
    }
    const std::size_t column = trees::column_of(node);
    const auto feature = static_cast<std::size_t>(arrays.column_feature[column]);
    const double* values = arrays.values.data() + arrays.column_first[column];
    const std::int32_t n = n_cells_[feature];
    std::vector<std::int64_t> sides;
    std::vector<std::int32_t> lasts;
    for (std::int32_t cell = 0; cell < n; ++cell) {
        const std::int64_t side = forest.side_of(node, values[cell]);
        if (!sides.empty() && sides.back() == side) {
            lasts.back() = cell;
        } else {
            sides.push_back(side);
            lasts.push_back(cell);
        }
    }
    const auto left = static_cast<std::size_t>(trees::left_of(node));
    // a split that no cell goes the other way at is none
    if (sides.size() == 1) return build(forest, arrays, left + static_cast<std::size_t>(sides[0]), depth);
    const auto here = static_cast<std::int32_t>(nodes_.size());
    const std::size_t first = segments_.size();
    nodes_.push_back({static_cast<std::int32_t>(feature), static_cast<std::int32_t>(first), 0.0});
    segments_.resize(first + sides.size());
    std::int32_t child[2];
    for (std::size_t side = 0; side < 2; ++side) child[side] = build(forest, arrays, left + side, depth + 1);
    for (std::size_t s = 0; s < sides.size(); ++s) segments_[first + s] = {lasts[s], child[sides[s]]};
    return here;
}

double CellForest::leaf(std::size_t tree, const std::int32_t* cells) const {
    const CellNode* node = &nodes_[static_cast<std::size_t>(roots_[tree])];
    while (node->feature >= 0) node = &nodes_[static_cast<std::size_t>(segment_at(*node, cells[node->feature]).child)];
    return node->value;
}

double CellForest::margin(const std::int32_t* cells) const {
    double total = base_;
    for (std::size_t tree = 0; tree < n_trees(); ++tree) total += leaf(tree, cells);
    return total;
}

}  // namespace sev::free
