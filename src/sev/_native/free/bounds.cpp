#include "free/bounds.hpp"

#include <algorithm>

namespace sev::free {

Bounder::Bounder(const CellForest& forest) : forest_(&forest), local_(forest.n_features(), -1) {
    std::size_t widest = 0;
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) widest = std::max(widest, forest.features_of(tree).size());
    alone_.resize(widest);
    pair_.resize(widest * widest);
    top_.resize(widest);
}

std::int64_t Bounder::make(const Moves& moves, const Pieces& pieces, std::int32_t most, Bounds& out) {
    const std::size_t n = forest_->n_features();
    work_ = 0;
    out.value = pieces.value;
    out.change.assign(forest_->n_entries(), 0.0);
    out.pair.assign(n * n, 0.0);
    for (std::size_t tree = 0; tree < forest_->n_trees(); ++tree)
        if (pieces.tree_first[tree + 1] - pieces.tree_first[tree] > 1) bound_tree(moves, pieces, tree, most, out);
    for (std::size_t feature = 0; feature < n; ++feature) {
        double* mine = out.change.data() + forest_->first()[feature];
        for (std::int32_t cell = 1; cell < forest_->n_cells(feature); ++cell) mine[cell] += mine[cell - 1];
    }
    return work_ + static_cast<std::int64_t>(forest_->n_entries() + n * n);
}

void Bounder::bound_tree(const Moves& moves, const Pieces& pieces, std::size_t tree, std::int32_t most, Bounds& out) {
    features_ = &forest_->features_of(tree);
    n_local_ = 0;
    const std::vector<std::int32_t>& features = *features_;
    for (std::size_t at = 0; at < features.size(); ++at) {
        local_[static_cast<std::size_t>(features[at])] = static_cast<std::int32_t>(at);
        alone_[at].clear();
        top_[at] = 0.0;
    }
    n_local_ = features.size();
    std::int32_t deepest = 0;
    const std::int32_t begin = pieces.tree_first[tree], end = pieces.tree_first[tree + 1];
    for (std::int32_t at = begin; at < end; ++at) {
        const Piece& piece = pieces.all[static_cast<std::size_t>(at)];
        deepest = std::max(deepest, piece.n_moved);
        if (piece.n_moved != 1) continue;
        const Member& moved = pieces.members[static_cast<std::size_t>(piece.first)];
        double* change = out.change.data() + forest_->first()[static_cast<std::size_t>(moved.feature)];
        change[moved.cells.lo] += piece.value;
        change[moved.cells.hi + 1] -= piece.value;
        const auto local = static_cast<std::size_t>(local_[static_cast<std::size_t>(moved.feature)]);
        alone_[local].push_back(at);
        top_[local] = std::max(top_[local], piece.value);
    }
    if (most < 2 || n_local_ < 2) return;
    std::fill(pair_.begin(), pair_.begin() + static_cast<std::ptrdiff_t>(n_local_ * n_local_), 0.0);
    // Pieces of few moves first: what they need is there when those of more moves are looked at.
    for (std::int32_t n_moved = 1; n_moved <= deepest; ++n_moved)
        for (std::int32_t at = begin; at < end; ++at)
            if (pieces.all[static_cast<std::size_t>(at)].n_moved == n_moved) compare_piece(moves, pieces, pieces.all[static_cast<std::size_t>(at)], most);
    const std::size_t n = forest_->n_features();
    for (std::size_t one = 0; one < n_local_; ++one)
        for (std::size_t other = 0; other < n_local_; ++other) {
            const double term = pair_[one * n_local_ + other];
            if (term < 0.0) out.pair[static_cast<std::size_t>(features[one]) * n + static_cast<std::size_t>(features[other])] += term;
        }
    work_ += static_cast<std::int64_t>(n_local_ * n_local_);
}

/// Lowers the terms of pairs until the bound holds on this piece, whichever further features move within it.
void Bounder::compare_piece(const Moves& moves, const Pieces& pieces, const Piece& piece, std::int32_t most) {
    const Member* members = &pieces.members[static_cast<std::size_t>(piece.first)];
    const auto n_moved = static_cast<std::size_t>(piece.n_moved);
    const auto local_of = [&](std::size_t member) { return static_cast<std::size_t>(local_[static_cast<std::size_t>(members[member].feature)]); };
    work_ += 10;
    if (n_moved >= 2) {
        double gap = piece.value, most_missing = 0.0;
        for (std::size_t a = 0; a < n_moved; ++a) {
            most_missing += top_[local_of(a)];
            for (std::size_t b = a + 1; b < n_moved; ++b) gap -= pair_[local_of(a) * n_local_ + local_of(b)];
        }
        if (gap < most_missing)  // else nothing is missing, whatever the cells
            for (std::size_t a = 0; a < n_moved; ++a) gap -= greatest_change(moves, pieces, static_cast<std::int32_t>(local_of(a)), members[a].cells);
        if (gap < 0.0) {
            const double share = gap / (0.5 * static_cast<double>(n_moved * (n_moved - 1)));
            for (std::size_t a = 0; a < n_moved; ++a)
                for (std::size_t b = 0; b < n_moved; ++b)
                    if (a != b) pair_[local_of(a) * n_local_ + local_of(b)] += share;
        }
    }
    if (piece.n_moved >= most) return;
    for (std::size_t other = 0; other < n_local_; ++other) {
        if (top_[other] <= 0.0) continue;
        double known = 0.0;
        for (std::size_t a = 0; a < n_moved; ++a) known += pair_[local_of(a) * n_local_ + other];
        if (known <= -top_[other]) continue;  // paid for already, whatever the cells
        const std::int32_t feature = (*features_)[other];
        Range cells{0, forest_->n_cells(static_cast<std::size_t>(feature)) - 1};
        bool moved = false;
        for (std::size_t at = 0; at < static_cast<std::size_t>(piece.n_members); ++at)
            if (members[at].feature == feature) {
                moved = at < n_moved;
                cells = members[at].cells;
            }
        if (moved) continue;
        // It moves within the piece, which changes nothing, but alone it would have added up to ``most``.
        double gap = -std::max(0.0, greatest_change(moves, pieces, static_cast<std::int32_t>(other), cells));
        if (gap == 0.0) continue;
        gap -= known;
        if (gap >= 0.0) continue;
        for (std::size_t a = 0; a < n_moved; ++a) {
            pair_[local_of(a) * n_local_ + other] += gap / static_cast<double>(n_moved);
            pair_[other * n_local_ + local_of(a)] += gap / static_cast<double>(n_moved);
        }
    }
}

/// The most that this tree adds when one feature moves alone to one of some cells.
double Bounder::greatest_change(const Moves& moves, const Pieces& pieces, std::int32_t local, Range cells) const {
    const auto feature = static_cast<std::size_t>((*features_)[static_cast<std::size_t>(local)]);
    std::int32_t open = moves.count(feature, cells.lo, cells.hi);
    double most = 0.0;
    bool any = false;
    for (const std::int32_t at : alone_[static_cast<std::size_t>(local)]) {
        const Piece& piece = pieces.all[static_cast<std::size_t>(at)];
        const Range& other = pieces.members[static_cast<std::size_t>(piece.first)].cells;
        const std::int32_t lo = std::max(cells.lo, other.lo), hi = std::min(cells.hi, other.hi);
        if (lo > hi) continue;
        const std::int32_t shared = moves.count(feature, lo, hi);
        if (shared == 0) continue;
        open -= shared;
        most = any ? std::max(most, piece.value) : piece.value;
        any = true;
    }
    // Where no such piece is, the tree stays where it was.
    return open > 0 ? std::max(most, 0.0) : most;
}

}  // namespace sev::free
