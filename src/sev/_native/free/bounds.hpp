// What a few more moves can reach at most, from exact single moves and a term for every pair.
#pragma once

#include <cstdint>
#include <vector>

#include "free/walk.hpp"

namespace sev::free {

/// A lower bound of the sum after at most ``most`` moves of features that roam, to any of their cells x:
///     value + sum of change_j(x_j) + sum of pair_ij over pairs of the moved features; pair_ij is never above 0.
struct Bounds {
    double value = 0.0;
    std::vector<double> change;  // as in SingleMoves: exact for one move
    std::vector<double> pair;    // n by n, symmetric

    double of(std::size_t one, std::size_t other, std::size_t n) const { return pair[one * n + other]; }
};

class Bounder {
public:
    explicit Bounder(const CellForest& forest);

    /// Reads the bounds off the pieces of at most ``most`` moves; returns the work.
    std::int64_t make(const Moves& moves, const Pieces& pieces, std::int32_t most, Bounds& out);

private:
    void bound_tree(const Moves& moves, const Pieces& pieces, std::size_t tree, std::int32_t most, Bounds& out);
    void compare_piece(const Moves& moves, const Pieces& pieces, const Piece& piece, std::int32_t most);
    double greatest_change(const Moves& moves, const Pieces& pieces, std::int32_t local, Range cells) const;

    const CellForest* forest_;
    std::vector<std::int32_t> local_;               // number of a feature in the current tree
    std::vector<std::vector<std::int32_t>> alone_;  // pieces that one move of a feature of the tree reaches
    std::vector<double> top_;                       // the most that one move of a feature of the tree adds, at least 0
    std::vector<double> pair_;                      // of the current tree
    std::size_t n_local_ = 0;
    const std::vector<std::int32_t>* features_ = nullptr;
    std::int64_t work_ = 0;
};

}  // namespace sev::free
