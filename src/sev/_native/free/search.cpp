#include "free/search.hpp"

#include <algorithm>
#include <cmath>

namespace sev::free {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// Points that the model decides about in one call.
constexpr std::size_t ties_at_once = 64;
/// Work that one call of the model counts for.
constexpr std::int64_t work_of_call = 200'000;

}  // namespace

Search::Search(const CellForest& forest, Band band)
    : forest_(&forest), band_(band), moves_(forest), walker_(forest), bounder_(forest) {}

void Search::begin(const std::int64_t* at, const double* cost, const Ask& ask, Budget& budget) {
    moves_.begin(at, cost);
    ask_ = &ask;
    budget_ = &budget;
    has_start_ = false;
}

void Search::aim(Goal goal, bool keeps_all) {
    goal_ = goal;
    found_.begin(goal, keeps_all);
}

void Search::list_others() {
    goal_ = Goal::all;
    found_.list_others();
}

void Search::aim_at_others(const std::vector<std::int32_t>& first) {
    goal_ = Goal::all;
    found_.begin_others(first);
}

double Search::start() {
    if (!has_start_) start_ = forest_->margin(moves_.query.data());
    has_start_ = true;
    return start_;
}

Search::Level& Search::level_at(std::size_t depth) {
    while (levels_.size() <= depth) levels_.push_back(std::make_unique<Level>());
    return *levels_[depth];
}

std::int32_t Search::n_roaming() const {
    return static_cast<std::int32_t>(std::count(moves_.roams.begin(), moves_.roams.end(), std::uint8_t{1}));
}

double Search::least_cost(std::int32_t size) const {
    std::vector<double> costs;
    for (std::size_t feature = 0; feature < moves_.n(); ++feature)
        if (moves_.roams[feature]) costs.push_back(moves_.least_cost(feature));
    std::sort(costs.begin(), costs.end());
    double total = 0.0;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size); ++at) total += at < costs.size() ? costs[at] : infinite;
    return total;
}

bool Search::search_size(std::int32_t size) { return pick(size, 0); }

bool Search::cannot_improve() {
    Level& level = level_at(0);
    if (!budget_->spend(walker_.walk_pieces(moves_, n_roaming(), affordable(), level.pieces))) return false;
    return level.pieces.least > band_.limit;
}

bool Search::pick(std::int32_t left, std::size_t depth) {
    if (left == 1) return pick_one();
    if (left > 2) return pick_many(left, depth);
    Level& level = level_at(depth);
    if (!budget_->spend(walker_.walk_pieces(moves_, 2, affordable(), level.pieces))) return false;
    if (level.pieces.least > band_.limit) return true;
    if (!budget_->spend(bounder_.make(moves_, level.pieces, 2, level.bounds))) return false;
    return pick_two(level);
}

// -- one more move: exact --------------------------------------------------------------------------------------------

bool Search::pick_one() {
    if (!budget_->spend(walker_.walk_singles(moves_, singles_))) return false;
    if (moves_.picks.empty()) {
        start_ = singles_.value;
        has_start_ = true;
    }
    for (std::size_t feature = 0; feature < moves_.n(); ++feature) {
        if (!moves_.roams[feature]) continue;
        const double* change = &singles_.change[static_cast<std::size_t>(forest_->first()[feature])];
        const auto number = static_cast<std::int32_t>(feature);
        double best = infinite;
        std::int32_t best_cell = -1;
        bool looked_up = false;
        ties_.clear();
        for (std::int32_t cell = 0; cell < forest_->n_cells(feature); ++cell) {
            const double value = singles_.value + change[cell];
            if (value > band_.limit || !moves_.permits(feature, cell)) continue;
            if (!looked_up) {
                best = found_.cost_limit(sorted_features(&number, 1));
                looked_up = true;
            }
            const double cost = moves_.spent + moves_.cost(feature, cell);
            if (!(cost < best)) continue;
            if (value < band_.sure) {
                best = cost;
                best_cell = cell;
            } else {
                ties_.push_back({cost, {cell, 0}});
            }
        }
        if (best_cell >= 0) record(&number, &best_cell, 1, best);
        if (!settle(ties_, &number, 1, best)) return false;
    }
    return true;
}

std::vector<std::int32_t> Search::sorted_features(const std::int32_t* features, std::size_t n) const {
    std::vector<std::int32_t> all(moves_.picks);
    all.insert(all.end(), features, features + n);
    std::sort(all.begin(), all.end());
    return all;
}

void Search::record(const std::int32_t* features, const std::int32_t* cells, std::size_t n, double cost) {
    std::vector<std::int32_t> row(moves_.anchor);
    for (std::size_t at = 0; at < n; ++at) row[static_cast<std::size_t>(features[at])] = cells[at];
    found_.add(sorted_features(features, n), row, cost);
}

/// Lets the model decide about points within the band, the cheapest first, until one crosses; false: budget spent.
bool Search::settle(std::vector<Tie>& ties, const std::int32_t* features, std::size_t n, double limit) {
    if (ties.empty()) return true;
    ties.erase(std::remove_if(ties.begin(), ties.end(), [&](const Tie& tie) { return !(tie.cost < limit); }), ties.end());
    std::stable_sort(ties.begin(), ties.end(), [](const Tie& a, const Tie& b) { return a.cost < b.cost; });
    for (std::size_t begin = 0; begin < ties.size(); begin += ties_at_once) {
        const std::size_t end = std::min(ties.size(), begin + ties_at_once);
        std::vector<std::int32_t> cells;
        for (std::size_t at = begin; at < end; ++at) {
            const std::size_t row = cells.size();
            cells.insert(cells.end(), moves_.anchor.begin(), moves_.anchor.end());
            for (std::size_t f = 0; f < n; ++f) cells[row + static_cast<std::size_t>(features[f])] = ties[at].cells[f];
        }
        std::vector<std::uint8_t> crosses(end - begin, 0);
        (*ask_)(cells, end - begin, crosses);
        for (std::size_t at = begin; at < end; ++at)
            if (crosses[at - begin] != 0) {
                record(features, ties[at].cells, n, ties[at].cost);
                return budget_->spend(work_of_call);
            }
        if (!budget_->spend(work_of_call)) return false;
    }
    return true;
}

// -- some set, without a proof ------------------------------------------------------------------------------------------

bool Search::search_greedy(Budget& budget) {
    greedy_ = moves_.query;
    double value = start();
    const std::vector<std::int32_t> anchor(moves_.anchor);
    for (std::size_t step = 0; step < 4 * moves_.n() && value >= band_.sure; ++step) {
        moves_.anchor = greedy_;
        if (!budget.spend(walker_.walk_singles(moves_, singles_))) break;
        double best = singles_.value;
        std::size_t chosen = moves_.n();
        std::int32_t chosen_cell = -1;
        for (std::size_t feature = 0; feature < moves_.n(); ++feature) {
            if (!moves_.roams[feature]) continue;
            const double* change = &singles_.change[static_cast<std::size_t>(forest_->first()[feature])];
            for (std::int32_t cell = 0; cell < forest_->n_cells(feature); ++cell)
                if (singles_.value + change[cell] < best && moves_.permits(feature, cell)) {
                    best = singles_.value + change[cell];
                    chosen = feature;
                    chosen_cell = cell;
                }
        }
        if (chosen == moves_.n()) break;
        greedy_[chosen] = chosen_cell;
        value = best;
    }
    moves_.anchor = anchor;
    return value < band_.sure && accept_point(greedy_);
}

bool Search::accept_point(std::vector<std::int32_t> cells) {
    if (!(forest_->margin(cells.data()) < band_.sure)) return false;
    FoundSet set;
    set.cost = 0.0;
    some_features_.clear();
    for (std::size_t feature = 0; feature < cells.size(); ++feature) {
        const std::int32_t cell = cells[feature];
        if (cell == moves_.query[feature]) continue;
        cells[feature] = moves_.query[feature];
        if (forest_->margin(cells.data()) < band_.sure) continue;  // not needed
        cells[feature] = cell;
        some_features_.push_back(static_cast<std::int32_t>(feature));
        set.cost += moves_.cost(feature, cell);
    }
    set.cells = std::move(cells);
    some_ = std::move(set);
    return true;
}

bool Search::improve(const std::vector<std::int32_t>& features) {
    const Goal goal = goal_;
    goal_ = Goal::cheapest;
    const std::vector<std::uint8_t> roams(moves_.roams);
    std::fill(moves_.roams.begin(), moves_.roams.end(), std::uint8_t{0});
    for (const std::int32_t feature : features) moves_.roams[static_cast<std::size_t>(feature)] = 1;
    const bool finished = pick(static_cast<std::int32_t>(features.size()), 0);
    moves_.roams = roams;
    goal_ = goal;
    return finished;
}

}  // namespace sev::free
