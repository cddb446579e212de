// The trees of a row after no pick, after one, and so on: what branch and bound goes down and up again.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/collapse.hpp"
#include "trees/tables.hpp"

namespace sev::trees {

/// Lowest weight first; equal weights keep their order.
void sort_by_weight(std::vector<std::int32_t>& order, const std::vector<double>& weight);

/// Add to ``weight`` what each feature can lower the margin by, at most; returns the trees' sum as it stands.
///
/// For a tree, let d[j] be the effect of j alone. At another leaf than the present one the tree falls short of the sum
/// of d over the set by at most some residue, and that is shared out among the features which the leaf needs. Hence the
/// margin of any set is at least the present one plus the weights of its features.
double add_weights(const Cubes& cubes, TreeRange trees, std::vector<double>& delta, std::vector<double>& rho, double* weight);

class CubeStack {
public:
    struct Depth {  // what holds after so many picks
        std::size_t first_tree = 0, end_tree = 0;  // on the stack of cubes
        double constant = 0.0, value = 0.0;
        std::vector<double> linear, weight;
    };

    void begin(const Row& row, std::size_t deepest);
    /// Weigh the features that are left, once the trees of a depth are on the stack.
    void weigh(std::size_t depth);
    /// Put the cubes as they are after a pick on the stack, behind their own.
    ///
    /// Cubes that need a feature which is out, or more than ``left`` further ones, can no longer be reached.
    void descend(std::size_t depth, std::int32_t pick, std::int64_t left, const std::vector<std::uint8_t>& out);
    /// Write the terms of one feature, and of two where there is a table, over those that are linear already; returns
    /// the margin as it stands.
    double expand(std::size_t depth, double* pair);
    std::int64_t work_of(std::size_t depth) const;

    const Depth& at(std::size_t depth) const { return depths_[depth]; }

private:
    void copy_cube(std::size_t cube, std::int32_t pick, std::int64_t left, const std::vector<std::uint8_t>& out);
    void finish_tree(Depth& to);

    Cubes cubes_;
    std::vector<Depth> depths_;
    std::vector<double> delta_, rho_;
};

}  // namespace sev::trees
