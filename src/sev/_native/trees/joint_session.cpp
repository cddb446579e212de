#include "trees/joint_session.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "trees/margin.hpp"

namespace sev::trees {

namespace {

/// Features up to which there are tables of pairs.
constexpr std::size_t widest_pairs = 256;
/// The first size before which it is asked whether any set will do, and the part of the budget that this may take.
constexpr std::int64_t proof_size = 4, proof_share = 16;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

void check_forest(const Forest& forest, const Matrix<const double>& queries, const std::vector<std::int32_t>& column_feature,
                  const Matrix<const std::uint8_t>& active) {
    require(queries.n_columns() == forest.n_columns(), "queries must have a column for each of the forest");
    require(queries.n_rows() == active.n_rows(), "active and queries must have the same number of rows");
    require(column_feature.size() == forest.n_columns(), "column_feature must have an entry for each column");
    for (const std::int32_t feature : column_feature)
        require(feature >= 0 && static_cast<std::size_t>(feature) < active.n_columns(), "a feature in column_feature is out of range");
}

}  // namespace

JointSession::JointSession(JointProblem problem) : problem_(std::move(problem)), joint_(widest_pairs) {
    const std::size_t n = n_rows();
    if (problem_.forest != nullptr) {
        check_forest(*problem_.forest, problem_.queries, problem_.column_feature, problem_.active);
        collapsers_.emplace_back(*problem_.forest, nullptr, problem_.column_feature, n_features());
    } else {
        require(problem_.start.size() == n && problem_.gains.n_rows() == n, "all arrays must have the same number of rows");
        require(problem_.gains.n_columns() == n_features(), "active and gains must have the same number of features");
    }
    require(problem_.sure.size() == n && problem_.limit.size() == n && problem_.grid.size() == n,
            "all arrays must have the same number of rows");
    if (problem_.other == nullptr) return;
    check_forest(*problem_.other, problem_.other_queries, problem_.other_column_feature, problem_.active);
    collapsers_.emplace_back(*problem_.other, nullptr, problem_.other_column_feature, n_features());
}

namespace {

void clear(Row& row, double constant) {
    row.cubes.clear();
    row.linear.clear();
    row.feature.clear();
    row.constant = constant;
}

void add_feature(Row& row, std::size_t feature, double gain) {
    row.feature.push_back(static_cast<std::int32_t>(feature));
    row.linear.push_back(gain);
}

constexpr std::int64_t any_size = std::numeric_limits<std::int64_t>::max();

}  // namespace

void JointSession::collapse_first(std::size_t row) {
    const std::uint8_t* active = problem_.active.row(row);
    if (problem_.forest != nullptr) {
        const Rules rules{true, problem_.sign, problem_.sure[row], problem_.limit[row], any_size};
        collapsers_.front().collapse(problem_.queries.row(row), active, rules, first_);
    } else {
        clear(first_, problem_.start[row]);
        for (std::size_t f = 0; f < n_features(); ++f)
            if (active[f] != 0 && problem_.gains.row(row)[f] != 0.0) add_feature(first_, f, problem_.gains.row(row)[f]);
    }
    if (!problem_.every_feature) return;
    std::vector<std::uint8_t> met(n_features(), 0);
    for (const std::int32_t feature : first_.feature) met[static_cast<std::size_t>(feature)] = 1;
    for (std::size_t f = 0; f < n_features(); ++f)
        if (active[f] != 0 && met[f] == 0) add_feature(first_, f, 0.0);
}

void JointSession::collapse_second(std::size_t row) {
    if (problem_.other == nullptr) return clear(second_, problem_.other_limit - 1.0);
    const Rules rules{true, -1.0, problem_.other_limit, problem_.other_limit, any_size};
    collapsers_.back().collapse(problem_.other_queries.row(row), problem_.active.row(row), rules, second_);
}

/// Both sums of a row as functions of its features.
void JointSession::collapse(std::size_t row) {
    collapse_first(row);
    collapse_second(row);
    align(first_, second_);
    joint_.begin(first_, second_, problem_.other_limit);
}

/// Run a search on each row of a request, which returns how it ended.
template <class Search>
Answers JointSession::for_rows(const Request& request, Pulse& pulse, const Search& search) {
    require(request.from_size.size() == request.rows.size(), "rows and from_size must have the same length");
    require(request.work.size() == request.rows.size(), "rows and work must have the same length");
    require(request.max_sets >= 1, "max_sets must be at least 1");
    for (const std::int64_t row : request.rows)
        require(row >= 0 && static_cast<std::size_t>(row) < n_rows(), "a row is out of range");
    for (const std::int64_t size : request.from_size) require(size >= 1, "a size must be at least 1");
    Answers answers;
    BestSets sets(n_words(), static_cast<std::size_t>(request.max_sets));
    for (std::size_t at = 0; at < request.rows.size(); ++at) {
        const auto row = static_cast<std::size_t>(request.rows[at]);
        sets.begin(problem_.limit[row], problem_.grid[row]);
        Budget budget(pulse, request.work[at], request.seconds);
        budget.watch(sets, request.listing);
        collapse(row);
        budget.spend(first_.cubes.first.back() + second_.cubes.first.back() + 200);
        const Ending ending = search(row, request.from_size[at], sets, budget);
        const std::size_t before = answers.values.size();
        sets.write(answers.sets, answers.values);
        answers.outcome.push_back(static_cast<std::int8_t>(ending.outcome));
        answers.proven.push_back(ending.proven);
        answers.work.push_back(budget.used());
        answers.count.push_back(static_cast<std::int64_t>(sets.count()));
        answers.kept.push_back(static_cast<std::int64_t>(answers.values.size() - before));
    }
    return answers;
}

Ending JointSession::search_sizes(std::size_t row, std::int64_t from, BestSets& sets, Budget& budget) {
    const auto n = static_cast<std::int64_t>(first_.feature.size());
    std::int64_t size = std::max(from, joint_.least_size(problem_.limit[row]));
    Found found(sets, first_.feature.data());
    for (bool is_asked = false; size <= n; ++size) {
        if (size > problem_.max_size) return {Outcome::too_large, problem_.max_size};
        if (size >= proof_size && !is_asked) {
            Budget some = budget.share(proof_share);
            const auto any = joint_.exists(problem_.limit[row], some);
            if (any == JointSearch::Answer::no) return {Outcome::none, n};
            if (!budget.spend(some.used())) return {Outcome::spent, size - 1};
            joint_.begin(first_, second_, problem_.other_limit);
            is_asked = true;
        }
        const auto answer = joint_.search(static_cast<int>(size), found, budget);
        if (answer == JointSearch::Answer::unknown) return {Outcome::spent, size - 1};
        if (found.any()) return {Outcome::found, size - 1};
    }
    return {Outcome::none, n};
}

Answers JointSession::search(const Request& request, Pulse& pulse) {
    return for_rows(request, pulse, [&](std::size_t row, std::int64_t from, BestSets& sets, Budget& budget) {
        return search_sizes(row, from, sets, budget);
    });
}

/// Leave out of a set what it does not need, as long as both sums stay low enough; false when they are not.
bool JointSession::drop_features(std::size_t row, std::vector<std::uint8_t>& chosen) {
    const std::size_t n = chosen.size();
    std::vector<double> first(n), second(n);
    const double sure = problem_.sure[row], limit = problem_.other_limit;
    for (std::size_t round = 0; round <= n; ++round) {
        const double one = flip_effects(first_, chosen, first), two = flip_effects(second_, chosen, second);
        if (!(one < sure) || two > limit) return false;
        std::size_t best = n;
        for (std::size_t g = 0; g < n; ++g) {
            if (!chosen[g] || !(one + first[g] < sure) || two + second[g] > limit) continue;
            if (best == n || first[g] < first[best]) best = g;
        }
        if (best == n) return true;
        chosen[best] = 0;
    }
    return true;
}

Answers JointSession::greedy(const Request& request, Pulse& pulse) {
    return for_rows(request, pulse, [&](std::size_t row, std::int64_t from, BestSets& sets, Budget& budget) {
        std::vector<std::uint8_t> chosen(first_.feature.size(), 1);
        bool any = drop_features(row, chosen);
        if (!any && joint_.exists(problem_.sure[row], budget) == JointSearch::Answer::yes) {
            chosen.assign(chosen.size(), 0);
            for (const std::int32_t pick : joint_.picks()) chosen[static_cast<std::size_t>(pick)] = 1;
            any = drop_features(row, chosen);
        }
        if (any) {
            std::vector<std::int32_t> picks;
            for (std::size_t g = 0; g < chosen.size(); ++g)
                if (chosen[g] != 0) picks.push_back(static_cast<std::int32_t>(g));
            std::vector<std::uint8_t> none(chosen.size(), 0);
            const auto size = static_cast<int>(picks.size());
            Found found(sets, first_.feature.data());
            found.record(picks.data(), size, margin_of(first_, picks.data(), size, none));
        }
        // Not an answer to which is the smallest: the row waits for that.
        return Ending{any ? Outcome::open : Outcome::spent, from - 1};
    });
}

}  // namespace sev::trees
