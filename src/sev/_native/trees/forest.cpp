#include "trees/forest.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace sev::trees {

namespace {

/// What LightGBM takes for zero.
constexpr double zero_width = static_cast<double>(1e-35f);

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

}  // namespace

Forest::Forest(const ForestArrays& arrays)
    : roots_(arrays.roots.begin(), arrays.roots.end()),
      category_first_(arrays.category_first.begin(), arrays.category_first.end()),
      category_words_(arrays.category_words.begin(), arrays.category_words.end()),
      n_columns_(static_cast<std::size_t>(arrays.n_columns)),
      base_(arrays.base) {
    const std::size_t n = arrays.nodes.size();
    if (arrays.values.size() != n) refuse("nodes and values must have the same length");
    if (n > 0x7FFFFFFF) refuse("more than 2,147,483,647 nodes");
    if (arrays.n_columns < 0 || arrays.n_columns > 0xFFFFFF) refuse("the number of columns is out of range");
    for (const std::int64_t root : arrays.roots)
        if (root < 0 || static_cast<std::size_t>(root) >= n) refuse("a root is out of range");
    nodes_.resize(n);
    for (std::size_t at = 0; at < n; ++at) nodes_[at] = {arrays.nodes[at], arrays.values[at]};
    check_roots();
    for (std::size_t tree = 0; tree < n_trees(); ++tree) check_tree(tree);
    lay_out_depth_first();
}

/// The children of a node come right behind it where they can: a path down a deep tree stays within few cache lines.
void Forest::lay_out_depth_first() {
    const std::vector<Node> old(nodes_);
    struct Move {
        std::size_t from, to;
    };
    std::vector<Move> waiting;
    for (std::size_t tree = 0; tree < n_trees(); ++tree) {
        const auto root = static_cast<std::size_t>(roots_[tree]);
        std::size_t next = root + 1;
        waiting.push_back({root, root});
        while (!waiting.empty()) {
            const Move move = waiting.back();
            waiting.pop_back();
            Node node = old[move.from];
            if (!is_leaf(node)) {
                const auto left = static_cast<std::size_t>(left_of(node));
                node.meta = static_cast<std::int64_t>(next) << 32 | (node.meta & 0xFFFFFFFF);
                waiting.push_back({left + 1, next + 1});
                waiting.push_back({left, next});
                next += 2;
            }
            nodes_[move.to] = node;
        }
    }
}

void Forest::check_roots() const {
    if (!roots_.empty() && roots_[0] != 0) refuse("the first tree must begin at node 0");
    if (roots_.empty() && !nodes_.empty()) refuse("nodes without a tree");
    for (std::size_t tree = 1; tree < n_trees(); ++tree)
        if (roots_[tree] <= roots_[tree - 1]) refuse("the roots must rise");
    if (category_first_.empty() || category_first_[0] != 0) refuse("category_first must begin with 0");
    for (std::size_t set = 1; set < category_first_.size(); ++set)
        if (category_first_[set] < category_first_[set - 1]) refuse("category_first must not fall");
    if (category_first_.back() != static_cast<std::int64_t>(category_words_.size()))
        refuse("category_first must end with the number of words");
}

void Forest::check_tree(std::size_t tree) {
    const std::size_t begin = static_cast<std::size_t>(roots_[tree]), end = end_of(tree);
    std::vector<std::int64_t> depth(end - begin, -1);  // -1: no parent yet
    depth[0] = 0;
    for (std::size_t at = begin; at < end; ++at) {
        const std::int64_t here = depth[at - begin];
        if (here < 0) refuse("node " + std::to_string(at) + " has no parent");
        depth_ = std::max(depth_, here);
        if (is_leaf(nodes_[at])) continue;
        check_split(at, end);
        const std::size_t left = static_cast<std::size_t>(left_of(nodes_[at])) - begin;
        if (depth[left] >= 0 || depth[left + 1] >= 0) refuse("node " + std::to_string(at) + " shares a child");
        depth[left] = depth[left + 1] = here + 1;
    }
}

void Forest::check_split(std::size_t at, std::size_t end) const {
    const Node& node = nodes_[at];
    const std::string name = "node " + std::to_string(at);
    // Children lie behind their parents: no path comes back to a node.
    if (left_of(node) <= static_cast<std::int64_t>(at) || static_cast<std::size_t>(left_of(node)) + 1 >= end)
        refuse("the children of " + name + " are out of range");
    if (column_of(node) >= n_columns_) refuse("the column of " + name + " is out of range");
    if (has(node, at_reference)) refuse(name + " has the mark of a reference");
    const bool is_special = has(node, categorical) || has(node, zero_missing);
    if (is_special != has(node, special)) refuse(name + " has flags that contradict each other");
    if (node.value != node.value) refuse("the threshold of " + name + " is not a number");
    if (!has(node, categorical)) return;
    if (!(node.value >= 0.0 && node.value + 1.0 < static_cast<double>(category_first_.size())) ||
        node.value != std::floor(node.value))
        refuse("the category set of " + name + " is out of range");
}

std::int64_t Forest::special_side(const Node& node, double x) const {
    if (!has(node, categorical)) {
        if (-zero_width <= x && x <= zero_width) return 1 - (node.meta & nan_left);
        return x <= node.value ? 0 : 1;
    }
    const auto set = static_cast<std::size_t>(node.value);
    const std::int64_t first = category_first_[set], n_words = category_first_[set + 1] - first;
    bool inside = false;
    if (0.0 <= x && x < 64.0 * static_cast<double>(n_words)) {
        const auto category = static_cast<std::size_t>(x);
        inside = (category_words_[static_cast<std::size_t>(first) + word_of(category)] & bit_of(category)) != 0;
    }
    return inside == has(node, outside_left) ? 1 : 0;
}

double Forest::margin(const double* row) const {
    double total = 0.0;
    margins(row, 1, &total);
    return total;
}

void Forest::margins(const double* rows, std::size_t n_rows, double* sums) const {
    std::fill_n(sums, n_rows, base_);
    for (const std::int32_t root : roots_) {
        for (std::size_t at = 0; at < n_rows; ++at) {
            const double* row = rows + at * n_columns_;
            const Node* node = &nodes_[static_cast<std::size_t>(root)];
            while (!is_leaf(*node)) node = &nodes_[static_cast<std::size_t>(left_of(*node) + side_of(*node, row[column_of(*node)]))];
            sums[at] += node->value;
        }
    }
}

Forest Forest::marked(const double* reference) const {
    Forest copy(*this);
    for (Node& node : copy.nodes_)
        if (!is_leaf(node) && side_of(node, reference[column_of(node)]) == 1) node.meta |= at_reference;
    return copy;
}

}  // namespace sev::trees
