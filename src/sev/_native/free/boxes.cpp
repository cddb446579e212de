#include "free/boxes.hpp"

#include <algorithm>

namespace sev::free {

void Box::set_only(std::size_t feature, std::int32_t cell) {
    for (std::int32_t other = 0; other < forest_->n_cells(feature); ++other) set(feature, other, other == cell);
    recount(feature);
}

void Box::recount(std::size_t feature) {
    const std::size_t first = place(feature, 0);
    std::int32_t before = 0;
    for (std::size_t cell = 0; cell < static_cast<std::size_t>(forest_->n_cells(feature)); ++cell) {
        before_[first + cell] = before;
        before += in_[first + cell];
    }
    before_[first + static_cast<std::size_t>(forest_->n_cells(feature))] = before;
}

std::int32_t Box::nth(std::size_t feature, std::int32_t number) const {
    const std::size_t first = place(feature, 0);
    std::int32_t cell = 0;
    while (before_[first + static_cast<std::size_t>(cell) + 1] <= number) ++cell;
    return cell;
}

/// The least or greatest leaf that a point of the box reaches.
double BoxSearch::extreme_leaf(std::int32_t at, bool greatest) {
    const CellNode* node = forest_->nodes() + at;
    for (;;) {
        work_ += 3;
        if (node->feature < 0) return node->value;
        const auto feature = static_cast<std::size_t>(node->feature);
        const Range before = cells_[feature];
        const Segment* segment = forest_->segments() + node->first;
        double best = 0.0;
        const Segment* only = nullptr;
        Range only_cells = before;
        bool any = false;
        std::int32_t lo = 0;
        for (; lo <= before.hi; lo = segment->last + 1, ++segment) {
            if (segment->last < before.lo) continue;
            const Range here{std::max(lo, before.lo), std::min(segment->last, before.hi)};
            if (box_.count(feature, here.lo, here.hi) == 0) continue;
            if (only == nullptr && !any) {  // go on without a call when no other segment is reached
                only = segment;
                only_cells = here;
                continue;
            }
            if (!any) {
                cells_[feature] = only_cells;
                best = extreme_leaf(only->child, greatest);
                any = true;
            }
            cells_[feature] = here;
            const double value = extreme_leaf(segment->child, greatest);
            best = greatest ? std::max(best, value) : std::min(best, value);
        }
        cells_[feature] = before;
        if (any) return best;
        node = forest_->nodes() + only->child;
    }
}

double BoxSearch::sum_extremes(bool greatest) {
    double total = forest_->base();
    least_.resize(forest_->n_trees());
    for (std::size_t tree = 0; tree < forest_->n_trees(); ++tree) {
        least_[tree] = extreme_leaf(forest_->roots()[tree], greatest);
        total += least_[tree];
    }
    return total;
}

void BoxSearch::restrict_to(std::size_t feature, std::int32_t lo, std::int32_t hi, std::vector<std::uint8_t>& saved) {
    saved.clear();
    for (std::int32_t cell = 0; cell < forest_->n_cells(feature); ++cell) {
        saved.push_back(box_.has(feature, cell) ? 1 : 0);
        if (cell < lo || cell > hi) box_.set(feature, cell, false);
    }
    box_.recount(feature);
}

void BoxSearch::restore(std::size_t feature, const std::vector<std::uint8_t>& saved) {
    for (std::int32_t cell = 0; cell < forest_->n_cells(feature); ++cell) box_.set(feature, cell, saved[static_cast<std::size_t>(cell)] != 0);
    box_.recount(feature);
}

// -- does anything cross ---------------------------------------------------------------------------------------------

void BoxSearch::open_box(const Moves& moves) {
    cells_.clear();
    for (std::size_t feature = 0; feature < moves.n(); ++feature) {
        const std::int32_t n = forest_->n_cells(feature);
        cells_.push_back({0, n - 1});
        for (std::int32_t cell = 0; cell < n; ++cell)
            box_.set(feature, cell, cell == moves.query[feature] || (moves.roams[feature] != 0 && moves.permits(feature, cell)));
        box_.recount(feature);
    }
}

double BoxSearch::least_sum(const Moves& moves, Budget& budget) {
    open_box(moves);
    work_ = 0;
    const double sum = sum_extremes(false);
    budget.spend(work_);
    return sum;
}

BoxSearch::Answer BoxSearch::exists(const Moves& moves, const Ask& ask, Budget& budget, std::vector<std::int32_t>& point) {
    open_box(moves);
    return search_box(moves, ask, budget, point);
}

/// The sum of least leaves with one feature within a range; only the trees that know it are walked.
double BoxSearch::bound_half(std::size_t feature, std::int32_t lo, std::int32_t hi, double sum) {
    const Range before = cells_[feature];
    cells_[feature] = {lo, hi};
    for (const std::int32_t tree : forest_->trees_of(feature)) {
        const auto at = static_cast<std::size_t>(tree);
        sum += extreme_leaf(forest_->roots()[at], false) - least_[at];
    }
    cells_[feature] = before;
    return sum;
}

/// The row's own cells where they are in the box, else the middle ones.
bool BoxSearch::probe(const Moves& moves, std::vector<std::int32_t>& point) const {
    point.resize(moves.n());
    for (int middle = 0; middle < 2; ++middle) {
        for (std::size_t feature = 0; feature < moves.n(); ++feature)
            point[feature] = middle == 0 && box_.has(feature, moves.query[feature]) ? moves.query[feature] : box_.nth(feature, box_.count(feature) / 2);
        if (forest_->margin(point.data()) < band_.sure) return true;
    }
    return false;
}

BoxSearch::Answer BoxSearch::search_box(const Moves& moves, const Ask& ask, Budget& budget, std::vector<std::int32_t>& point) {
    work_ = 0;
    const double sum = sum_extremes(false);
    if (!budget.spend(work_ + 20)) return Answer::unknown;
    if (sum > band_.limit) return Answer::no;
    if (probe(moves, point)) return Answer::yes;
    std::size_t chosen = moves.n();
    std::int32_t chosen_middle = 0;
    double best = 0.0, left_bound = 0.0, right_bound = 0.0;
    for (std::size_t feature = 0; feature < moves.n(); ++feature) {
        const std::int32_t n = box_.count(feature);
        if (n < 2) continue;
        const std::int32_t middle = box_.nth(feature, (n - 1) / 2), last = forest_->n_cells(feature) - 1;
        work_ = 0;
        const double left = bound_half(feature, 0, middle, sum), right = bound_half(feature, middle + 1, last, sum);
        if (!budget.spend(work_)) return Answer::unknown;
        // A half that is done with is worth more than any rise.
        const double gain = std::max(left, right) > band_.limit ? std::numeric_limits<double>::max() : std::min(left, right);
        if (chosen == moves.n() || gain > best) {
            chosen = feature;
            best = gain;
            chosen_middle = middle;
            left_bound = left;
            right_bound = right;
        }
    }
    if (chosen == moves.n()) {  // a single point, which the probe was not sure of
        for (std::size_t feature = 0; feature < moves.n(); ++feature) point[feature] = box_.nth(feature, 0);
        if (forest_->margin(point.data()) > band_.limit) return Answer::no;
        std::vector<std::uint8_t> crosses(1, 0);
        ask(point, 1, crosses);
        budget.spend(200'000);
        return crosses[0] != 0 ? Answer::yes : Answer::no;
    }
    Answer answer = Answer::no;
    const std::int32_t last = forest_->n_cells(chosen) - 1;
    for (int turn = 0; turn < 2 && answer == Answer::no; ++turn) {
        const bool left = (turn == 0) == (left_bound <= right_bound);
        if ((left ? left_bound : right_bound) > band_.limit) continue;
        std::vector<std::uint8_t> saved;
        restrict_to(chosen, left ? 0 : chosen_middle + 1, left ? chosen_middle : last, saved);
        answer = search_box(moves, ask, budget, point);
        restore(chosen, saved);
    }
    return answer;
}

// -- how far everything crosses --------------------------------------------------------------------------------------

const Box& BoxSearch::grow(const Moves& moves, const std::vector<std::int32_t>& features, const std::vector<std::int32_t>& cells,
                           const std::vector<std::uint8_t>& ordered, const Ask& ask, Budget& budget, std::int64_t most_walks) {
    cells_.clear();
    for (std::size_t feature = 0; feature < moves.n(); ++feature) {
        cells_.push_back({0, forest_->n_cells(feature) - 1});
        box_.set_only(feature, cells[feature]);
    }
    struct Side {
        std::size_t feature;
        std::int32_t next, step;
    };
    std::vector<Side> open;
    for (const std::int32_t number : features) {
        const auto feature = static_cast<std::size_t>(number);
        if (ordered[feature] != 0) {
            open.push_back({feature, cells[feature] - 1, -1});
            open.push_back({feature, cells[feature] + 1, 1});
        } else {
            for (std::int32_t cell = 0; cell < forest_->n_cells(feature); ++cell)
                if (cell != cells[feature]) open.push_back({feature, cell, 0});
        }
    }
    // The sides take turns, so that no feature takes all there is before the others had a chance.
    while (!open.empty()) {
        std::vector<Side> still;
        for (Side side : open) {
            // cells without a permitted value stand in nobody's way
            while (side.step != 0 && side.next >= 0 && side.next < forest_->n_cells(side.feature) && !moves.permits(side.feature, side.next) &&
                   side.next != moves.query[side.feature])
                side.next += side.step;
            if (side.next < 0 || side.next >= forest_->n_cells(side.feature) || !moves.permits(side.feature, side.next)) continue;
            if (!add_cell(side.feature, side.next, features, ask, budget, most_walks) || side.step == 0) continue;
            still.push_back({side.feature, side.next + side.step, side.step});
        }
        open.swap(still);
    }
    return box_;
}

bool BoxSearch::add_cell(std::size_t feature, std::int32_t cell, const std::vector<std::int32_t>& features, const Ask& ask, Budget& budget, std::int64_t most_walks) {
    std::vector<std::uint8_t> saved;
    restrict_to(feature, 0, -1, saved);
    box_.set(feature, cell, true);
    box_.recount(feature);
    std::int64_t walks = most_walks;
    const bool crosses = all_cross(features, ask, budget, walks);
    saved[static_cast<std::size_t>(cell)] = crosses ? 1 : 0;
    restore(feature, saved);
    return crosses;
}

/// Whether every point of the box crosses: by the sum of greatest leaves, else in halves.
bool BoxSearch::all_cross(const std::vector<std::int32_t>& features, const Ask& ask, Budget& budget, std::int64_t& walks) {
    work_ = 0;
    const double sum = sum_extremes(true);
    if (--walks < 0 || !budget.spend(work_ + 20)) return false;
    if (sum < band_.sure) return true;
    std::size_t widest = forest_->n_features();
    for (const std::int32_t number : features) {
        const auto feature = static_cast<std::size_t>(number);
        if (box_.count(feature) > 1 && (widest == forest_->n_features() || box_.count(feature) > box_.count(widest))) widest = feature;
    }
    if (widest == forest_->n_features()) {  // one point
        if (sum > band_.limit) return false;
        std::vector<std::int32_t> point;
        for (std::size_t feature = 0; feature < forest_->n_features(); ++feature) point.push_back(box_.nth(feature, 0));
        std::vector<std::uint8_t> crosses(1, 0);
        ask(point, 1, crosses);
        return budget.spend(200'000) && crosses[0] != 0;
    }
    const std::int32_t middle = box_.nth(widest, (box_.count(widest) - 1) / 2), last = forest_->n_cells(widest) - 1;
    bool crosses = true;
    for (int half = 0; half < 2 && crosses; ++half) {
        std::vector<std::uint8_t> saved;
        restrict_to(widest, half == 0 ? 0 : middle + 1, half == 0 ? middle : last, saved);
        crosses = all_cross(features, ask, budget, walks);
        restore(widest, saved);
    }
    return crosses;
}

}  // namespace sev::free
