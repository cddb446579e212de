#include "trees/partings.hpp"

#include <algorithm>
#include <stdexcept>

namespace sev::trees {

Partings::Partings(const Forest& forest) {
    paths_.reserve(forest.n_trees());
    first_split_.reserve(forest.n_trees());
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) read_tree(forest, tree);
    sort_splits(forest);
}

/// Children lie behind their parents: from the last node on, what comes further down is known.
void Partings::read_tree(const Forest& forest, std::size_t tree) {
    const auto root = static_cast<std::size_t>(forest.roots()[tree]);
    const std::size_t n = forest.end_of(tree) - root, first = splits_.size();
    first_split_.push_back(first);
    std::size_t bit = 0;
    for (std::size_t at = root; at < root + n; ++at) bit += is_leaf(forest.nodes()[at]) ? 0 : 1;
    if (bit > most_splits) throw std::invalid_argument("partings are for at most 64 splits a tree");
    splits_.resize(first + bit);
    std::vector<Path> paths(n);
    for (std::size_t at = n; at-- > 0;) {
        const Node& node = forest.nodes()[root + at];
        if (is_leaf(node)) {
            paths[at] = {0, node.value};
            continue;
        }
        const auto left = static_cast<std::size_t>(left_of(node)) - root;
        const auto side = static_cast<std::size_t>(reference_side(node));
        splits_[first + --bit] = {paths[left + 1 - side], column_of(node)};
        paths[at] = paths[left + side];
        paths[at].splits |= std::uint64_t{1} << bit;
    }
    paths_.push_back(paths.front());
}

void Partings::sort_splits(const Forest& forest) {
    struct Found {
        std::size_t column;
        double threshold;
        Place place;
        std::uint32_t node;
    };
    std::vector<Found> all;
    all.reserve(splits_.size());
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        std::uint32_t bit = 0;
        for (auto at = static_cast<std::size_t>(forest.roots()[tree]); at < forest.end_of(tree); ++at) {
            const Node& node = forest.nodes()[at];
            if (is_leaf(node)) continue;
            const Place place{static_cast<std::uint32_t>(tree), bit++};
            all.push_back({column_of(node), node.value, place, static_cast<std::uint32_t>(at)});
        }
    }
    std::sort(all.begin(), all.end(), [](const Found& one, const Found& other) {
        return one.column != other.column ? one.column < other.column : one.threshold < other.threshold;
    });
    for (const Found& found : all) {
        thresholds_.push_back(found.threshold);
        places_.push_back(found.place);
        nodes_.push_back(found.node);
    }
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
        while (end < all.size() && all[end].column == all[begin].column) ++end;
        add_column(forest, begin, end);
    }
}

void Partings::add_column(const Forest& forest, std::size_t begin, std::size_t end) {
    const auto node = [&](std::size_t at) -> const Node& { return forest.nodes()[nodes_[at]]; };
    Column column{column_of(node(begin)), begin, end, begin, true};
    while (column.passed < end && reference_side(node(column.passed)) == 1) ++column.passed;
    for (std::size_t at = begin; at < end; ++at)
        column.is_plain &= !has(node(at), special) && (at < column.passed || reference_side(node(at)) == 0);
    columns_.push_back(column);
}

void Partings::mark(const Forest& forest, const double* row, std::vector<std::uint64_t>& marks) const {
    marks.assign(paths_.size(), 0);
    const auto part_at = [&](std::size_t at) { marks[places_[at].tree] |= std::uint64_t{1} << places_[at].bit; };
    for (const Column& column : columns_) {
        const double x = row[column.column];
        if (!column.is_plain || x != x) {
            for (std::size_t at = column.begin; at < column.end; ++at) {
                const Node& node = forest.nodes()[nodes_[at]];
                if (forest.side_of(node, x) != reference_side(node)) part_at(at);
            }
            continue;
        }
        const double* thresholds = thresholds_.data();
        const auto passed = static_cast<std::size_t>(
            std::lower_bound(thresholds + column.begin, thresholds + column.end, x) - thresholds);
        const std::size_t end = std::max(passed, column.passed);
        for (std::size_t at = std::min(passed, column.passed); at < end; ++at) part_at(at);
    }
}

}  // namespace sev::trees
