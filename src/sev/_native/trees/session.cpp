#include "trees/session.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace sev::trees {

namespace {

/// Collapsed rows that wait for their next search take at most this; others are collapsed again.
constexpr std::size_t most_kept_bytes = std::size_t{256} << 20;
constexpr std::size_t most_cubic_features = 255;

/// Whether tables of terms have at most 2^31 entries.
bool fits_terms(std::int64_t n, std::int64_t size) {
    double entries = 0.0, count = 1.0;
    for (std::int64_t d = 1; d <= std::min(size, n); ++d) {
        count *= static_cast<double>(n - d + 1) / static_cast<double>(d);
        entries += count;
        if (entries > 2e9) return false;
    }
    return true;
}

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

}  // namespace

Session::Session(Problem problem)
    : problem_(std::move(problem)),
      collapser_(*problem_.forest, problem_.partings, problem_.column_feature, problem_.active.n_columns()),
      query_margins_(problem_.queries.n_rows(), std::numeric_limits<double>::quiet_NaN()),
      kept_(problem_.queries.n_rows()) {
    require(problem_.queries.n_columns() == problem_.forest->n_columns(), "queries must have a column for each of the forest");
    require(problem_.active.n_rows() == problem_.queries.n_rows(), "active and queries must have the same number of rows");
    require(problem_.column_feature.size() == problem_.forest->n_columns(), "column_feature must have an entry for each column");
    for (const std::int32_t feature : problem_.column_feature)
        require(feature >= 0 && static_cast<std::size_t>(feature) < n_features(), "a feature in column_feature is out of range");
    if (looks_up()) {
        require(problem_.patterns->n_features() == n_features(), "the patterns are of another number of features");
        require(problem_.patterns->n_columns() == problem_.forest->n_columns(), "the patterns are of another forest");
        require(problem_.patterns->n_trees() == problem_.forest->n_trees(), "the patterns are of another forest");
        require(problem_.patterns->fits(problem_.rules), "the patterns are of another kind or sign");
    }
}

void Session::check(const Request& request) const {
    require(request.from_size.size() == request.rows.size(), "rows and from_size must have the same length");
    require(request.work.size() == request.rows.size(), "rows and work must have the same length");
    require(request.max_sets >= 1, "max_sets must be at least 1");
    for (const std::int64_t row : request.rows)
        require(row >= 0 && static_cast<std::size_t>(row) < n_rows(), "a row is out of range");
    for (const std::int64_t size : request.from_size) require(size >= 1, "a size must be at least 1");
}

/// The collapsed row, as it is kept, or made now.
Row& Session::walk(std::int64_t row) {
    Kept& kept = kept_[static_cast<std::size_t>(row)];
    if (kept.row != nullptr) return *kept.row;
    if (current_row_ != row) {
        current_row_ = nobody;
        collapser_.collapse(query(row), active(row), problem_.rules, current_);
        current_row_ = row;
        current_least_ = 0;
    }
    return current_;
}

/// The collapsed row with its features in the order in which branch and bound picks them.
Row& Session::order(std::int64_t row) {
    Row& collapsed = walk(row);
    Kept& kept = kept_[static_cast<std::size_t>(row)];
    std::int64_t& least = kept.row != nullptr ? kept.least : current_least_;
    if (least == 0) least = order_features(collapsed, problem_.rules.limit);
    return collapsed;
}

/// Copy the row that was collapsed last, without room to grow.
void Session::keep(std::int64_t row) {
    Kept& kept = kept_[static_cast<std::size_t>(row)];
    if (kept.row != nullptr || current_row_ != row || kept_bytes_ > most_kept_bytes) return;
    kept.row = std::make_unique<Row>(current_);
    kept.least = current_least_;
    kept_bytes_ += kept.row->bytes();
}

void Session::forget(std::int64_t row) {
    Kept& kept = kept_[static_cast<std::size_t>(row)];
    if (kept.row != nullptr) kept_bytes_ -= kept.row->bytes();
    kept.row.reset();
}

/// Run a search on each row of a request, which returns how it ended.
template <class Search>
Answers Session::for_rows(const Request& request, Pulse& pulse, const Search& search) {
    check(request);
    Answers answers;
    const std::size_t n = request.rows.size();
    answers.outcome.reserve(n);
    BestSets sets(n_words(), static_cast<std::size_t>(request.max_sets));
    for (std::size_t at = 0; at < n; ++at) {
        const std::int64_t row = request.rows[at];
        sets.begin(problem_.rules.limit, problem_.grid);
        Budget budget(pulse, request.work[at], request.seconds);
        budget.watch(sets, request.listing);
        const Ending ending = search(row, request.from_size[at], sets, budget);
        const std::size_t before = answers.values.size();
        sets.write(answers.sets, answers.values);
        answers.outcome.push_back(static_cast<std::int8_t>(ending.outcome));
        answers.proven.push_back(ending.proven);
        answers.work.push_back(budget.used());
        answers.count.push_back(static_cast<std::int64_t>(sets.count()));
        answers.kept.push_back(static_cast<std::int64_t>(answers.values.size() - before));
        const bool waits = ending.outcome == Outcome::open || ending.outcome == Outcome::spent;
        if (waits)
            keep(row);
        else
            forget(row);
    }
    return answers;
}

void Session::look_up(std::int64_t row) {
    tables_.clear(n_features());
    tables_.start = problem_.rules.sign * problem_.forest->base();
    problem_.patterns->add_terms(query(row), look_up_, tables_);
}

/// Sizes 1 and 2, from the tables of pairs at hand.
Ending Session::search_two(const std::uint8_t* usable, std::int64_t from, Found& found, Budget& budget) {
    const auto n = static_cast<std::int64_t>(tables_.n), max_size = problem_.rules.max_size;
    budget.spend(n * n + 200);
    const std::int64_t next = search_pairs(tables_, usable, from, max_size, found);
    if (found.any()) return {Outcome::found, next - 2};
    if (next > n) return {Outcome::none, n};
    return next > max_size ? Ending{Outcome::too_large, max_size} : Ending{Outcome::open, next - 1};
}

/// Which features were met is seen by a walk only, and with them whether a set of more than the most features may exist.
static Ending left_to_walk(const Ending& ending) {
    return {ending.outcome == Outcome::too_large ? Outcome::open : ending.outcome, ending.proven};
}

/// The margin of a query whose tables were made last: of the empty set, where sets are taken from the reference.
double Session::margin_of_query(std::int64_t row) const {
    if (problem_.rules.minus) return problem_.rules.sign * tables_.start;
    if (looks_up()) return problem_.forest->base() + problem_.patterns->add_query_leaves(look_up_);
    return problem_.forest->margin(query(row));
}

Answers Session::pairs(const Request& request, std::int64_t widest, Pulse& pulse) {
    return for_rows(request, pulse, [&](std::int64_t row, std::int64_t from, BestSets& sets, Budget& budget) {
        if (looks_up()) {
            look_up(row);
            query_margins_[static_cast<std::size_t>(row)] = margin_of_query(row);
            Found found(sets, nullptr);
            return left_to_walk(search_two(active(row), from, found, budget));
        }
        const Row& collapsed = walk(row);
        if (collapsed.n() > widest) {
            query_margins_[static_cast<std::size_t>(row)] = problem_.forest->margin(query(row));
            return Ending{Outcome::open, from - 1};
        }
        make_pair_tables(collapsed, tables_);
        query_margins_[static_cast<std::size_t>(row)] = margin_of_query(row);
        budget.spend(collapsed.cubes.first.back());
        Found found(sets, collapsed.feature.data());
        return search_two(nullptr, from, found, budget);
    });
}

Answers Session::cubic(const Request& request, std::int64_t last, bool by_look_up, const ProofEffort& effort,
                       Pulse& pulse) {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    const std::int64_t max_size = problem_.rules.max_size;
    require(effort.work >= 0 && effort.work <= most && effort.share >= 0 && effort.share <= 1000, "the work of a proof is out of range");
    require(!by_look_up || looks_up(), "there are no patterns to look up");
    require(!by_look_up || problem_.forest->depth() <= 3, "patterns have no terms of more than three features");
    last = std::max<std::int64_t>(last, 3);
    return for_rows(request, pulse, [&](std::int64_t row, std::int64_t from, BestSets& sets, Budget& budget) {
        if (by_look_up) {
            look_up(row);
            query_margins_[static_cast<std::size_t>(row)] = margin_of_query(row);
            if (from < 3) {
                Found found(sets, nullptr);
                const Ending ending = search_two(active(row), from, found, budget);
                if (ending.outcome != Outcome::open) return left_to_walk(ending);
                from = 3;
            }
            cubic_.arrange(tables_, active(row), nullptr);
            problem_.patterns->add_triples(look_up_, cubic_);
            return left_to_walk(cubic_.search(from, last, max_size, effort, sets, budget));
        }
        require(from >= 3, "tables of triples are walked for sizes from 3 on");
        const Row& collapsed = walk(row);
        require(collapsed.feature.size() <= most_cubic_features, "tables of triples are for at most 255 features");
        make_pair_tables(collapsed, tables_);
        cubic_.arrange(tables_, nullptr, collapsed.feature.data());
        cubic_.expand(collapsed.cubes);
        budget.spend(collapsed.cubes.first.back());
        return cubic_.search(from, last, max_size, effort, sets, budget);
    });
}

Answers Session::terms(const Request& request, Pulse& pulse) {
    return for_rows(request, pulse, [&](std::int64_t row, std::int64_t size, BestSets& sets, Budget& budget) {
        const Row& collapsed = order(row);
        require(size >= 3, "tables of terms are for sizes from 3 on");
        if (size > collapsed.n()) return Ending{Outcome::none, collapsed.n()};
        require(fits_terms(collapsed.n(), size), "tables of terms would have too many entries");
        Found found(sets, collapsed.feature.data());
        if (!terms_.search(collapsed, static_cast<int>(size), found, budget)) return Ending{Outcome::spent, size - 1};
        return found.any() ? Ending{Outcome::found, size - 1} : Ending{Outcome::open, size};
    });
}

Answers Session::branch(const Request& request, std::int64_t widest_pairs, Pulse& pulse) {
    BranchSearch branch(static_cast<std::size_t>(std::max<std::int64_t>(widest_pairs, 0)));
    return for_rows(request, pulse, [&](std::int64_t row, std::int64_t size, BestSets& sets, Budget& budget) {
        const Row& collapsed = order(row);
        if (size > collapsed.n()) return Ending{Outcome::none, collapsed.n()};
        Found found(sets, collapsed.feature.data());
        const auto answer = branch.search(collapsed, static_cast<int>(size), found, budget);
        if (answer == BranchSearch::Answer::unknown) return Ending{Outcome::spent, size - 1};
        return found.any() ? Ending{Outcome::found, size - 1} : Ending{Outcome::open, size};
    });
}

Answers Session::exists(const Request& request, Pulse& pulse) {
    BranchSearch branch(0);
    return for_rows(request, pulse, [&](std::int64_t row, std::int64_t size, BestSets&, Budget& budget) {
        const Row& collapsed = order(row);
        const auto answer = branch.exists(collapsed, problem_.rules.limit, budget);
        if (answer == BranchSearch::Answer::no) return Ending{Outcome::none, collapsed.n()};
        return Ending{answer == BranchSearch::Answer::yes ? Outcome::open : Outcome::spent, size - 1};
    });
}

Answers Session::greedy(const Request& request, Pulse& pulse) {
    return for_rows(request, pulse, [&](std::int64_t row, std::int64_t size, BestSets& sets, Budget& budget) {
        const Row& collapsed = order(row);
        Found found(sets, collapsed.feature.data());
        const bool any = search_greedy(collapsed, problem_.rules.sure, found);
        budget.spend(collapsed.cubes.first.back() * 2);
        // Not an answer to which is the smallest: the row waits for that.
        return Ending{any ? Outcome::open : Outcome::spent, size - 1};
    });
}

void Session::mark_helpful(std::int64_t row, std::uint8_t* helpful, Pulse& pulse) {
    require(row >= 0 && static_cast<std::size_t>(row) < n_rows(), "a row is out of range");
    pulse.tick(static_cast<std::int64_t>(problem_.forest->n_trees()) * 10);
    if (looks_up()) {
        look_up(row);
        for (std::size_t i = 0; i < tables_.n; ++i) helpful[i] = active(row)[i] != 0 && tables_.single()[i] < 0.0;
        return;
    }
    const Row& collapsed = walk(row);
    std::vector<double> single(collapsed.linear.begin(), collapsed.linear.end());
    expand_pairs(collapsed.cubes, {0, collapsed.cubes.n_trees()}, single.data(), nullptr);
    for (std::size_t i = 0; i < single.size(); ++i) helpful[static_cast<std::size_t>(collapsed.feature[i])] = single[i] < 0.0;
}

Facts Session::facts(std::int64_t row) {
    require(row >= 0 && static_cast<std::size_t>(row) < n_rows(), "a row is out of range");
    return facts_of(walk(row));
}

std::int64_t Session::count_terms(std::int64_t row, std::int64_t size) {
    require(row >= 0 && static_cast<std::size_t>(row) < n_rows(), "a row is out of range");
    require(size >= 1, "a size must be at least 1");
    const Row& collapsed = walk(row);
    return trees::count_terms(collapsed, static_cast<int>(std::min<std::int64_t>(size, collapsed.n())));
}

std::int64_t Session::least_size(std::int64_t row) {
    require(row >= 0 && static_cast<std::size_t>(row) < n_rows(), "a row is out of range");
    order(row);
    const Kept& kept = kept_[static_cast<std::size_t>(row)];
    return kept.row != nullptr ? kept.least : current_least_;
}

}  // namespace sev::trees
