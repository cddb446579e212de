// The collapse of a forest onto one query and one reference.
//
// For one query and one reference each split has only two directions that matter: where the query goes and where the
// reference goes. A tree is then a function of the few features on which they part, written as cubes: a leaf, the
// features that must be in the set for it to be reached, and those that must not be.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/forest.hpp"
#include "trees/partings.hpp"

namespace sev::trees {

/// Trees as cubes. Tree t has the cubes ``tree[t]:tree[t + 1]``; cube i has the members ``first[i]:first[i + 1]``, of
/// which the first ``need[i]`` must be in the set and the others must not.
struct Cubes {
    std::vector<std::int32_t> tree{0};
    std::vector<std::int32_t> need;
    std::vector<std::int64_t> first{0};
    std::vector<double> leaf;
    std::vector<std::int32_t> member;

    std::size_t n_trees() const { return tree.size() - 1; }
    std::size_t n_cubes() const { return leaf.size(); }
    void clear();
};

/// What is known about a set: it crosses, or might.
struct Rules {
    bool minus;     // the set is taken from the reference
    double sign;    // 1 when margins are as they are, -1 when they are sign-flipped
    double sure;    // below it a set crosses
    double limit;   // above it a set does not cross; between the two only the model knows
    std::int64_t max_size;
};

/// One row: its trees as cubes over the features that were met, numbered as they were met.
struct Row {
    Cubes cubes;
    double constant = 0.0;        // margin of what depends on no feature, with the base
    std::vector<double> linear;   // effect of the trees that have one feature only
    std::vector<std::int32_t> feature;  // behind each number

    int n() const { return static_cast<int>(feature.size()); }
    std::size_t bytes() const;
};

class Collapser {
public:
    /// ``forest`` is marked with the reference; without ``partings`` every split of its trees is looked at.
    Collapser(const Forest& forest, const Partings* partings, const std::vector<std::int32_t>& column_feature,
              std::size_t n_features);

    void collapse(const double* query, const std::uint8_t* active, const Rules& rules, Row& row);

private:
    enum class State : std::uint8_t { open, in, out, closed };
    struct Step {
        std::int32_t feature;
        bool in;
    };
    struct Fork {
        Partings::Path other;  // where partings are not known: the node, as its number
        std::size_t depth;
    };

    template <class Descend>
    void collapse_tree(const Partings::Path& root, const Descend& descend);
    double walk(std::int64_t at);
    double follow(std::size_t tree, Partings::Path path);
    void fork(std::int32_t feature, const Partings::Path& other);
    Partings::Path take_other_side();
    void write_cube(double value);
    void end_tree();

    const Forest& forest_;
    const Partings* partings_;
    const std::vector<std::int32_t>& column_feature_;
    std::vector<State> state_;
    std::vector<std::int32_t> number_;  // of each feature that was met, else -1
    std::vector<Step> path_;
    std::vector<Fork> forks_;
    std::vector<std::uint64_t> marks_;  // the splits of each tree at which query and reference part
    const double* query_ = nullptr;
    const Rules* rules_ = nullptr;
    Row* row_ = nullptr;
};

}  // namespace sev::trees
