#include "free/walk.hpp"

#include <algorithm>
#include <limits>

namespace sev::free {

Walker::Walker(const CellForest& forest) : forest_(&forest), state_(forest.n_features(), 0), costs_(forest.n_features(), 0.0) {
    for (std::size_t feature = 0; feature < forest.n_features(); ++feature) cells_.push_back({0, forest.n_cells(feature) - 1});
}

std::int64_t Walker::walk_singles(const Moves& moves, SingleMoves& out) {
    work_ = 0;
    out.change.assign(forest_->n_entries(), 0.0);
    out.value = forest_->base();
    const CellNode* nodes = forest_->nodes();
    const Segment* segments = forest_->segments();
    double* change = out.change.data();
    for (const std::int32_t root : forest_->roots()) {
        // The anchor's leaf first: what the others are compared with.
        const CellNode* node = nodes + root;
        while (node->feature >= 0) node = nodes + forest_->segment_at(*node, moves.anchor[static_cast<std::size_t>(node->feature)]).child;
        const double value = node->value;
        out.value += value;
        saved_.clear();
        for (node = nodes + root; node->feature >= 0;) {
            const auto feature = static_cast<std::size_t>(node->feature);
            const std::int32_t anchor = moves.anchor[feature];
            if (!moves.roams[feature]) {
                node = nodes + forest_->segment_at(*node, anchor).child;
                continue;
            }
            const Range before = cells_[feature];
            std::int32_t lo = 0, next = -1;
            for (const Segment* segment = segments + node->first; lo <= before.hi; lo = segment->last + 1, ++segment) {
                if (segment->last < before.lo) continue;
                const Range here{std::max(lo, before.lo), std::min(segment->last, before.hi)};
                if (here.holds(anchor)) {
                    saved_.push_back({node->feature, before});
                    cells_[feature] = here;
                    next = segment->child;
                } else if (moves.count(feature, here.lo, here.hi) > 0) {
                    leave_path(moves, segment->child, node->feature, here, value, change + forest_->first()[feature]);
                }
            }
            node = nodes + next;
            work_ += 4;
        }
        for (std::size_t at = saved_.size(); at-- > 0;) cells_[static_cast<std::size_t>(saved_[at].feature)] = saved_[at].cells;
    }
    for (std::size_t feature = 0; feature < moves.n(); ++feature) {
        double* mine = change + forest_->first()[feature];
        for (std::int32_t cell = 1; cell < forest_->n_cells(feature); ++cell) mine[cell] += mine[cell - 1];
    }
    return work_ + static_cast<std::int64_t>(forest_->n_entries());
}

/// Goes on with one feature moved to a range of cells, all others at the anchor.
void Walker::leave_path(const Moves& moves, std::int32_t at, std::int32_t feature, Range cells, double value, double* change) {
    const CellNode* nodes = forest_->nodes();
    const CellNode* node = nodes + at;
    for (;;) {
        work_ += 2;
        if (node->feature < 0) {
            change[cells.lo] += node->value - value;
            change[cells.hi + 1] -= node->value - value;
            return;
        }
        if (node->feature != feature) {
            node = nodes + forest_->segment_at(*node, moves.anchor[static_cast<std::size_t>(node->feature)]).child;
            continue;
        }
        const Segment* segment = forest_->segments() + node->first;
        std::int32_t lo = 0;
        for (; segment->last < cells.lo; ++segment) lo = segment->last + 1;
        for (; segment->last < cells.hi; lo = segment->last + 1, ++segment) {
            const Range here{std::max(lo, cells.lo), segment->last};
            if (moves.count(static_cast<std::size_t>(feature), here.lo, here.hi) > 0)
                leave_path(moves, segment->child, feature, here, value, change);
        }
        cells.lo = std::max(lo, cells.lo);
        if (moves.count(static_cast<std::size_t>(feature), cells.lo, cells.hi) == 0) return;
        node = nodes + segment->child;
    }
}

std::int64_t Walker::walk_pieces(Moves& moves, std::int32_t most, double affordable, Pieces& out) {
    affordable_ = affordable;
    cost_ = 0.0;
    out.clear();
    out.value = out.least = forest_->base();
    work_ = 0;
    for (const std::int32_t root : forest_->roots()) {
        const std::size_t begin = out.all.size();
        out.tree_first.push_back(static_cast<std::int32_t>(begin));
        n_moved_ = 0;
        collect(moves, root, most, out);
        double value = 0.0, least = 0.0;
        for (std::size_t at = begin; at < out.all.size(); ++at) {
            const Piece& piece = out.all[at];
            if (piece.n_moved == 0) value = piece.value;
            if (at == begin || piece.value < least) least = piece.value;
        }
        for (std::size_t at = begin; at < out.all.size(); ++at) out.all[at].value -= value;
        out.value += value;
        out.least += least;
    }
    out.tree_first.push_back(static_cast<std::int32_t>(out.all.size()));
    return work_;
}

void Walker::collect(Moves& moves, std::int32_t at, std::int32_t most, Pieces& out) {
    const CellNode* node = forest_->nodes() + at;
    while (node->feature >= 0 && !moves.roams[static_cast<std::size_t>(node->feature)])
        node = forest_->nodes() + forest_->segment_at(*node, moves.anchor[static_cast<std::size_t>(node->feature)]).child;
    work_ += 5;
    if (node->feature < 0) return emit(node->value, out);
    const auto feature = static_cast<std::size_t>(node->feature);
    const Range before = cells_[feature];
    const std::uint8_t state = state_[feature];
    const std::int32_t anchor = moves.anchor[feature];
    const double cost = cost_, own_cost = costs_[feature];
    const bool counts_cost = affordable_ < std::numeric_limits<double>::infinity();
    if (state == 0) on_path_.push_back(node->feature);
    std::int32_t lo = 0;
    for (const Segment* segment = forest_->segments() + node->first; lo <= before.hi; lo = segment->last + 1, ++segment) {
        if (segment->last < before.lo) continue;
        const Range here{std::max(lo, before.lo), std::min(segment->last, before.hi)};
        const bool moved = !here.holds(anchor);
        if (moved && ((state != 2 && n_moved_ == most) || moves.count(feature, here.lo, here.hi) == 0)) continue;
        if (moved && counts_cost) {
            // no point that is worth its cost gets there
            costs_[feature] = moves.least_cost(feature, here.lo, here.hi);
            cost_ = cost + costs_[feature] - (state == 2 ? own_cost : 0.0);
            if (!(cost_ < affordable_)) {
                cost_ = cost;
                continue;
            }
        }
        const std::int32_t more = moved && state != 2 ? 1 : 0;
        n_moved_ += more;
        cells_[feature] = here;
        state_[feature] = moved ? 2 : 1;
        collect(moves, segment->child, most, out);
        n_moved_ -= more;
        cost_ = cost;
    }
    cost_ = cost;
    costs_[feature] = own_cost;
    cells_[feature] = before;
    state_[feature] = state;
    if (state == 0) on_path_.pop_back();
}

void Walker::emit(double value, Pieces& out) {
    const auto first = static_cast<std::int32_t>(out.members.size());
    for (const std::uint8_t wanted : {std::uint8_t{2}, std::uint8_t{1}})
        for (const std::int32_t feature : on_path_)
            if (state_[static_cast<std::size_t>(feature)] == wanted) out.members.push_back({feature, cells_[static_cast<std::size_t>(feature)]});
    out.all.push_back({value, first, n_moved_, static_cast<std::int32_t>(out.members.size()) - first});
    work_ += 5;
}

}  // namespace sev::free
