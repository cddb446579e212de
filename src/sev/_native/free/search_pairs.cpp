// Two more moves: a grid for every pair of features that the bounds leave.
#include <algorithm>
#include <limits>

#include "free/search.hpp"

namespace sev::free {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Where the cells of a list begin: how many of them are before each cell.
void place_cells(const std::vector<std::int32_t>& cells, std::int32_t n_cells, std::vector<std::int32_t>& place) {
    place.assign(static_cast<std::size_t>(n_cells) + 1, 0);
    for (const std::int32_t cell : cells) ++place[static_cast<std::size_t>(cell) + 1];
    for (std::size_t cell = 1; cell < place.size(); ++cell) place[cell] += place[cell - 1];
}

}  // namespace

/// The least change and the least cost of every feature that roams, over the cells that are worth their cost.
void Search::summarise(Level& level, std::int32_t left) {
    const std::size_t n = moves_.n();
    level.least.assign(n, infinite);
    level.cheapest.assign(n, infinite);
    level.half.assign(n, 0.0);
    level.features.clear();
    // what the other picks cost at least
    scratch_.clear();
    for (std::size_t feature = 0; feature < n; ++feature)
        if (moves_.roams[feature]) scratch_.push_back(moves_.least_cost(feature));
    const auto others = static_cast<std::size_t>(left - 1);
    double rest = 0.0;
    if (scratch_.size() > others) {
        std::partial_sort(scratch_.begin(), scratch_.begin() + left, scratch_.end());
        for (std::size_t at = 0; at < others; ++at) rest += scratch_[at];
    }
    const double affordable = found_.cost_limit() - moves_.spent - rest;
    for (std::size_t feature = 0; feature < n; ++feature) {
        if (!moves_.roams[feature]) continue;
        const double* change = &level.bounds.change[static_cast<std::size_t>(forest_->first()[feature])];
        for (std::int32_t cell = 0; cell < forest_->n_cells(feature); ++cell) {
            if (!moves_.permits(feature, cell)) continue;
            const double cost = moves_.cost(feature, cell);
            if (!(cost < affordable)) continue;
            level.least[feature] = std::min(level.least[feature], change[cell]);
            level.cheapest[feature] = std::min(level.cheapest[feature], cost);
        }
        if (level.least[feature] < infinite) level.features.push_back(static_cast<std::int32_t>(feature));
    }
}

bool Search::pick_two(Level& level) {
    summarise(level, 2);
    const std::size_t n = moves_.n();
    level.options.clear();
    for (std::size_t a = 0; a < level.features.size(); ++a)
        for (std::size_t b = a + 1; b < level.features.size(); ++b) {
            const std::int32_t one = level.features[a], other = level.features[b];
            const auto i = static_cast<std::size_t>(one), j = static_cast<std::size_t>(other);
            const double bound = level.bounds.value + level.least[i] + level.least[j] + level.bounds.of(i, j, n);
            if (bound <= band_.limit) level.options.push_back({bound, moves_.spent + level.cheapest[i] + level.cheapest[j], one, other});
        }
    if (level.options.empty()) return budget_->spend(static_cast<std::int64_t>(n));
    const bool by_cost = goal_ == Goal::cheapest || goal_ == Goal::cost;
    std::sort(level.options.begin(), level.options.end(), [&](const Option& a, const Option& b) {
        if (by_cost && a.cost != b.cost) return a.cost < b.cost;
        if (a.bound != b.bound) return a.bound < b.bound;
        return a.one != b.one ? a.one < b.one : a.other < b.other;
    });
    index_pairs(level);
    bool goes_on = true;
    for (const Option& option : level.options) {
        if (is_done()) break;
        if (by_cost && !(option.cost < found_.cost_limit())) break;
        if (!(goes_on = look_at_pair(level, option.one, option.other))) break;
    }
    for (const Option& option : level.options) heads_[static_cast<std::size_t>(option.one) * n + static_cast<std::size_t>(option.other)] = -1;
    return goes_on;
}

/// For each pair that is looked at, the pieces that know both of its features.
void Search::index_pairs(const Level& level) {
    const std::size_t n = moves_.n();
    heads_.resize(n * n, -1);
    items_.clear();
    for (const Option& option : level.options) heads_[static_cast<std::size_t>(option.one) * n + static_cast<std::size_t>(option.other)] = -2;
    for (const Piece& piece : level.pieces.all) {
        if (piece.n_moved == 0 || piece.value == 0.0) continue;
        const Member* members = &level.pieces.members[static_cast<std::size_t>(piece.first)];
        const auto last = static_cast<std::size_t>(piece.n_moved == 2 ? 2 : piece.n_members);
        for (std::size_t at = 1; at < last; ++at) {
            const bool in_order = members[0].feature < members[at].feature;
            const Member &low = members[in_order ? 0 : at], &high = members[in_order ? at : 0];
            std::int32_t& head = heads_[static_cast<std::size_t>(low.feature) * n + static_cast<std::size_t>(high.feature)];
            if (head == -1) continue;
            const PairItem::Kind kind = piece.n_moved == 2 ? PairItem::both : in_order ? PairItem::one_moves : PairItem::other_moves;
            items_.push_back({piece.value, low.cells, high.cells, head, kind});
            head = static_cast<std::int32_t>(items_.size()) - 1;
        }
    }
}

/// What the trees that know both features add to the two single changes, at every pair of the listed cells.
void Search::fill_grid(std::int32_t head) {
    const std::size_t n_ones = ones_.size(), n_others = others_.size(), width = n_others + 1;
    grid_.assign((n_ones + 1) * width, 0.0);
    const auto add = [&](std::int32_t lo_one, std::int32_t hi_one, std::int32_t lo_other, std::int32_t hi_other, double value) {
        if (lo_one >= hi_one || lo_other >= hi_other) return;
        double* begin = &grid_[static_cast<std::size_t>(lo_one) * width];
        double* end = &grid_[static_cast<std::size_t>(hi_one) * width];
        begin[lo_other] += value;
        begin[hi_other] -= value;
        end[lo_other] -= value;
        end[hi_other] += value;
    };
    const auto all_ones = static_cast<std::int32_t>(n_ones), all_others = static_cast<std::int32_t>(n_others);
    for (; head >= 0; head = items_[static_cast<std::size_t>(head)].next) {
        const PairItem& item = items_[static_cast<std::size_t>(head)];
        const std::int32_t one_lo = place_one_[static_cast<std::size_t>(item.one.lo)], one_hi = place_one_[static_cast<std::size_t>(item.one.hi) + 1];
        const std::int32_t other_lo = place_other_[static_cast<std::size_t>(item.other.lo)],
                           other_hi = place_other_[static_cast<std::size_t>(item.other.hi) + 1];
        if (item.kind == PairItem::both) {
            add(one_lo, one_hi, other_lo, other_hi, item.value);
        } else if (item.kind == PairItem::one_moves) {
            // its single change is not there where the other feature has left the piece
            add(one_lo, one_hi, 0, other_lo, -item.value);
            add(one_lo, one_hi, other_hi, all_others, -item.value);
        } else {
            add(0, one_lo, other_lo, other_hi, -item.value);
            add(one_hi, all_ones, other_lo, other_hi, -item.value);
        }
    }
    for (std::size_t row = 0; row < n_ones; ++row) {
        double* here = &grid_[row * width];
        const double* before = here - width;
        double sum = 0.0;
        for (std::size_t column = 0; column < n_others; ++column) {
            sum += here[column];
            here[column] = sum + (row > 0 ? before[column] : 0.0);
        }
    }
}

bool Search::look_at_pair(const Level& level, std::int32_t one, std::int32_t other) {
    const auto i = static_cast<std::size_t>(one), j = static_cast<std::size_t>(other);
    const double* change_one = &level.bounds.change[static_cast<std::size_t>(forest_->first()[i])];
    const double* change_other = &level.bounds.change[static_cast<std::size_t>(forest_->first()[j])];
    const double pair = level.bounds.of(i, j, moves_.n()), start = level.bounds.value;
    const std::int32_t features[2] = {one, other};
    double best = found_.cost_limit(sorted_features(features, 2));
    const auto list = [&](std::size_t feature, const double* change, double rest, double rest_cost, std::vector<std::int32_t>& cells) {
        cells.clear();
        for (std::int32_t cell = 0; cell < forest_->n_cells(feature); ++cell)
            if (change[cell] + rest <= band_.limit && moves_.permits(feature, cell) && moves_.cost(feature, cell) + rest_cost < best) cells.push_back(cell);
    };
    list(i, change_one, start + level.least[j] + pair, moves_.spent + level.cheapest[j], ones_);
    list(j, change_other, start + level.least[i] + pair, moves_.spent + level.cheapest[i], others_);
    if (!budget_->spend(static_cast<std::int64_t>(40 + forest_->n_cells(i) + forest_->n_cells(j) + static_cast<std::int32_t>(2 * ones_.size() * others_.size())))) return false;
    if (ones_.empty() || others_.empty()) return true;
    place_cells(ones_, forest_->n_cells(i), place_one_);
    place_cells(others_, forest_->n_cells(j), place_other_);
    fill_grid(heads_[i * moves_.n() + j]);
    std::int32_t best_cells[2] = {-1, -1};
    ties_.clear();
    for (std::size_t a = 0; a < ones_.size(); ++a) {
        const double value_one = start + change_one[ones_[a]], cost_one = moves_.spent + moves_.cost(i, ones_[a]);
        const double* row = &grid_[a * (others_.size() + 1)];
        for (std::size_t b = 0; b < others_.size(); ++b) {
            const double value = value_one + change_other[others_[b]] + row[b];
            if (value > band_.limit) continue;
            const double cost = cost_one + moves_.cost(j, others_[b]);
            if (!(cost < best)) continue;
            if (value < band_.sure) {
                best = cost;
                best_cells[0] = ones_[a];
                best_cells[1] = others_[b];
            } else {
                ties_.push_back({cost, {ones_[a], others_[b]}});
            }
        }
    }
    if (best_cells[0] >= 0) record(features, best_cells, 2, best);
    return settle(ties_, features, 2, best);
}

}  // namespace sev::free
