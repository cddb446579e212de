// Walks through the trees from one anchor: what single moves do, and the pieces that a few moves can reach.
#pragma once

#include <cstdint>
#include <vector>

#include "free/moves.hpp"

namespace sev::free {

/// Exact sums after one more move: ``value`` is the anchor's, ``change[first[f] + c]`` what moving f to cell c adds.
struct SingleMoves {
    double value = 0.0;
    std::vector<double> change;
};

/// One feature on the way to a leaf, and the cells of it that get there.
struct Member {
    std::int32_t feature;
    Range cells;
};

/// A leaf and the box of cells that reaches it. The first members are those that have to move to get there.
struct Piece {
    double value;  // of the leaf; less that of the anchor's leaf once the tree is done
    std::int32_t first, n_moved, n_members;
};

/// Pieces of all trees that at most so many moves can reach; those of a tree are next to each other.
struct Pieces {
    std::vector<Piece> all;
    std::vector<Member> members;
    std::vector<std::int32_t> tree_first;  // one more than there are trees
    double value = 0.0;                    // the anchor's sum
    double least = 0.0;                    // the sum of the least piece of every tree: no such point is below

    void clear() {
        all.clear();
        members.clear();
        tree_first.clear();
    }
};

class Walker {
public:
    explicit Walker(const CellForest& forest);

    /// Fills in the sums after one move of any feature that roams; returns the work.
    std::int64_t walk_singles(const Moves& moves, SingleMoves& out);
    /// Collects the pieces that at most ``most`` moves of features that roam can reach at a cost below ``affordable``;
    /// returns the work.
    std::int64_t walk_pieces(Moves& moves, std::int32_t most, double affordable, Pieces& out);

private:
    struct Saved {
        std::int32_t feature;
        Range cells;
    };

    void leave_path(const Moves& moves, std::int32_t at, std::int32_t feature, Range cells, double value, double* change);
    void collect(Moves& moves, std::int32_t at, std::int32_t most, Pieces& out);
    void emit(double value, Pieces& out);

    const CellForest* forest_;
    std::vector<Range> cells_;             // of each feature on the current path
    std::vector<std::uint8_t> state_;      // 0: any, 1: fewer cells but the anchor's among them, 2: moved
    std::vector<std::int32_t> on_path_;    // features with state 1 or 2
    std::vector<Saved> saved_;
    std::int32_t n_moved_ = 0;
    std::vector<double> costs_;            // the least of each moved feature on the current path
    double cost_ = 0.0, affordable_ = 0.0;
    std::int64_t work_ = 0;
};

}  // namespace sev::free
