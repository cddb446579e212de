#include "free/batch.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sev::free {

namespace {

/// The first size before which it is asked whether anything crosses at all, and the share of the work for that.
constexpr std::int32_t exists_before = 4;
constexpr std::int64_t exists_share = 4;
/// The share of the work of a row that all sets may take beside it, once the cheapest is known.
constexpr std::int64_t listing_share = 2;
/// Work for some set without a proof, after the budget has ended: some hundredths of a second.
constexpr std::int64_t greedy_work = 20'000'000;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

void check(const CellForest& forest, const Rows& rows) {
    require(rows.at.n_columns() == forest.n_features(), "every row must have a cell for each feature");
    require(rows.cost.n_rows() == rows.at.n_rows(), "at and cost must have the same number of rows");
    require(rows.cost.n_columns() == forest.n_all_cells(), "every row must have a cost for each cell");
    if (rows.known.n_rows() > 0)
        require(rows.known.n_rows() == rows.at.n_rows() && rows.known.n_columns() == forest.n_features(), "known must have the shape of at");
    for (std::size_t row = 0; row < rows.at.n_rows(); ++row) {
        for (std::size_t feature = 0; feature < forest.n_features(); ++feature)
            require(rows.at.row(row)[feature] >= 0 && rows.at.row(row)[feature] < forest.n_cells(feature), "a cell is out of range");
        for (std::size_t cell = 0; cell < forest.n_all_cells(); ++cell) require(rows.cost.row(row)[cell] >= 0.0, "a cost is negative or not a number");
    }
}

struct Ending {
    Outcome outcome;
    std::int64_t proven;
    bool complete;
};

/// One row: sizes from 1 on, until a set is found or nothing is left.
class RowSearch {
public:
    /// ``known`` has the features of the cheapest set of the smallest size; empty: it is to be found.
    RowSearch(Search& search, BoxSearch& boxes, const Request& request, const Ask& ask, Budget& budget, std::vector<std::int32_t> known)
        : search_(search), boxes_(boxes), request_(request), ask_(ask), budget_(budget), known_(std::move(known)) {}

    Ending run() {
        if (!known_.empty()) return list_others();
        const std::int32_t n = search_.n_roaming();
        search_.aim(request_.goal);
        for (std::int32_t size = 1;; ++size) {
            if (size > n || is_too_costly(size)) return end(size);
            if (size > request_.max_size) return search_.found().empty() ? Ending{Outcome::too_large, request_.max_size, false} : Ending{Outcome::found, proven_, false};
            if (size == 2 && boxes_.least_sum(search_.moves(), budget_) > request_.band.limit) return {Outcome::none, n, true};
            if (size == exists_before && search_.found().empty() && !may_cross()) return {Outcome::none, n, true};
            if (size > 1 && request_.goal == Goal::cost && !search_.found().empty() && search_.cannot_improve()) return end(size);
            // the first set is found as if it were the only one that is wanted: it is the same one, whatever is listed
            if (size == 2 && (request_.goal == Goal::all || request_.goal == Goal::cheapest)) search_.aim(Goal::cheapest, true);
            const bool finished = search_.search_size(size);
            const bool any = !search_.found().empty();
            if (!any && finished) proven_ = size;
            if (!finished) return give_up();
            if (any && request_.goal != Goal::cost) return polish(size);
        }
    }
    /// Whether a set that is listed is the one that greed found.
    bool uses_some() const { return uses_some_; }

private:
    bool is_too_costly(std::int32_t size) const {
        return request_.goal == Goal::cost && !search_.found().empty() && !(search_.least_cost(size) < search_.found().cost_limit());
    }
    Ending end(std::int32_t size) {
        if (search_.found().empty()) return {Outcome::none, size, true};
        mark_cheapest();
        return {Outcome::found, proven_, true};
    }
    void mark_cheapest() {
        for (auto& one : search_.found().sets()) one.second.cheapest = true;
    }
    Ending polish(std::int32_t size) {
        bool complete = request_.goal != Goal::first;
        if (request_.goal == Goal::all && size > 1) {
            search_.found().sets().at(search_.found().first()).cheapest = true;
            search_.list_others();
            complete = list(size);
        } else if (request_.goal == Goal::first && size > 2) {
            const std::vector<std::int32_t> features = search_.found().sets().begin()->first;
            if (search_.improve(features)) mark_cheapest();
        } else {
            if (request_.goal == Goal::cheapest) search_.found().keep_first();
            mark_cheapest();
        }
        return {Outcome::found, size - 1, complete};
    }
    /// All sets of one size, with work of their own; false when that ended it.
    bool list(std::int32_t size) {
        budget_.restart(request_.work / listing_share);
        const bool complete = search_.search_size(size);
        if (complete) mark_cheapest();
        return complete;
    }
    Ending list_others() {
        search_.aim_at_others(known_);
        const auto size = static_cast<std::int32_t>(known_.size());
        return {Outcome::found, size - 1, list(size)};
    }
    bool may_cross() {
        if (search_.search_greedy(budget_)) {
            knows_some_ = true;
            return true;
        }
        Budget share = budget_.share(exists_share);
        std::vector<std::int32_t> point;
        const BoxSearch::Answer answer = boxes_.exists(search_.moves(), ask_, share, point);
        budget_.spend(share.used());
        if (answer == BoxSearch::Answer::yes) knows_some_ = search_.accept_point(point);
        return answer != BoxSearch::Answer::no;
    }
    Ending give_up() {
        if (search_.found().empty()) {
            // greed takes little, and some set is better than none
            Budget more = budget_.beyond(greedy_work);
            uses_some_ = knows_some_ || search_.search_greedy(more);
            return {Outcome::spent, proven_, false};
        }
        return {Outcome::found, proven_, false};
    }

    Search& search_;
    BoxSearch& boxes_;
    const Request& request_;
    const Ask& ask_;
    Budget& budget_;
    std::vector<std::int32_t> known_;
    std::int64_t proven_ = 0;
    bool knows_some_ = false, uses_some_ = false;
};

void write_sets(Search& search, std::int64_t max_sets, Answers& out, bool& complete) {
    std::vector<const FoundSet*> sets;
    for (const auto& one : search.found().sets()) sets.push_back(&one.second);
    const auto known = search.found().sets().find(search.found().first());
    const FoundSet* first = known == search.found().sets().end() ? nullptr : &known->second;
    std::stable_sort(sets.begin(), sets.end(), [first](const FoundSet* a, const FoundSet* b) {
        return b == first ? false : a == first || a->cost < b->cost;
    });
    if (sets.size() > static_cast<std::size_t>(max_sets)) {
        sets.resize(static_cast<std::size_t>(max_sets));
        complete = false;
    }
    for (const FoundSet* set : sets) {
        out.cells.insert(out.cells.end(), set->cells.begin(), set->cells.end());
        out.cost.push_back(set->cost);
        out.cheapest.push_back(set->cheapest ? 1 : 0);
    }
    out.n_sets.push_back(static_cast<std::int64_t>(sets.size()));
}

/// The features of the set of a row that is known; none where it has a single feature: then all are found at once.
std::vector<std::int32_t> known_of(const Rows& rows, std::size_t row) {
    std::vector<std::int32_t> features;
    for (std::size_t feature = 0; rows.known.n_rows() > 0 && feature < rows.known.n_columns(); ++feature)
        if (rows.known.row(row)[feature] != 0) features.push_back(static_cast<std::int32_t>(feature));
    if (features.size() == 1) features.clear();
    return features;
}

}  // namespace

Answers solve(const CellForest& forest, const Rows& rows, const Request& request, const AskRow& ask, Pulse& pulse) {
    check(forest, rows);
    require(request.max_sets >= 1, "max_sets must be at least 1");
    require(request.max_size >= 0, "max_size must not be negative");
    require(request.band.sure <= request.band.limit, "sure must not be above limit");
    Search search(forest, request.band);
    BoxSearch boxes(forest, request.band);
    Answers out;
    for (std::size_t row = 0; row < rows.at.n_rows(); ++row) {
        Budget budget(pulse, request.work, request.seconds);
        budget.bound_processor(request.processor_seconds);
        const std::vector<std::int32_t> known = known_of(rows, row);
        const Ask ask_here = [&](const std::vector<std::int32_t>& cells, std::size_t n_points, std::vector<std::uint8_t>& crosses) {
            ask(row, cells, n_points, crosses);
        };
        search.begin(rows.at.row(row), rows.cost.row(row), ask_here, budget);
        RowSearch one(search, boxes, request, ask_here, budget, known);
        Ending ending = one.run();
        if (one.uses_some()) {
            const FoundSet& some = search.some();
            out.cells.insert(out.cells.end(), some.cells.begin(), some.cells.end());
            out.cost.push_back(some.cost);
            out.cheapest.push_back(0);
            out.n_sets.push_back(1);
        } else {
            write_sets(search, request.max_sets - (known.empty() ? 0 : 1), out, ending.complete);
        }
        out.outcome.push_back(static_cast<std::int8_t>(ending.outcome));
        out.proven.push_back(ending.proven);
        out.complete.push_back(ending.complete ? 1 : 0);
        out.work.push_back(budget.used_in_all());
        out.start.push_back(search.start());
    }
    return out;
}

std::vector<std::uint8_t> grow(const CellForest& forest, const Rows& rows, Matrix<const std::int64_t> points, const std::vector<std::uint8_t>& ordered,
                               Band band, std::int64_t work, std::int64_t most_walks, const AskRow& ask, Pulse& pulse) {
    check(forest, rows);
    require(points.n_rows() == rows.at.n_rows() && points.n_columns() == forest.n_features(), "points must have the shape of at");
    require(ordered.size() == forest.n_features(), "ordered must have an entry for each feature");
    require(most_walks >= 0, "most_walks must not be negative");
    for (std::size_t row = 0; row < points.n_rows(); ++row)
        for (std::size_t feature = 0; feature < forest.n_features(); ++feature)
            require(points.row(row)[feature] >= 0 && points.row(row)[feature] < forest.n_cells(feature), "a cell of a point is out of range");
    std::vector<std::uint8_t> marks(points.n_rows() * forest.n_all_cells(), 0);
    Moves moves(forest);
    BoxSearch boxes(forest, band);
    for (std::size_t row = 0; row < points.n_rows(); ++row) {
        Budget budget(pulse, work, std::numeric_limits<double>::infinity());
        moves.begin(rows.at.row(row), rows.cost.row(row));
        std::vector<std::int32_t> cells(points.row(row), points.row(row) + forest.n_features()), features;
        for (std::size_t feature = 0; feature < cells.size(); ++feature)
            if (cells[feature] != moves.query[feature]) features.push_back(static_cast<std::int32_t>(feature));
        const Ask ask_here = [&](const std::vector<std::int32_t>& some, std::size_t n_points, std::vector<std::uint8_t>& crosses) {
            ask(row, some, n_points, crosses);
        };
        const Box& box = boxes.grow(moves, features, cells, ordered, ask_here, budget, most_walks);
        std::uint8_t* out = marks.data() + row * forest.n_all_cells();
        for (std::size_t feature = 0; feature < forest.n_features(); ++feature)
            for (std::int32_t cell = 0; cell < forest.n_cells(feature); ++cell, ++out) *out = box.has(feature, cell) ? 1 : 0;
    }
    return marks;
}

}  // namespace sev::free
