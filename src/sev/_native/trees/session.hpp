// The rows of one problem: each search can be run on any of them, in any order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/budget.hpp"
#include "trees/branch.hpp"
#include "trees/cubic.hpp"
#include "trees/patterns.hpp"
#include "trees/terms.hpp"

namespace sev::trees {

/// What is asked; the arrays stay where they are.
struct Problem {
    const Forest* forest;  // marked with the reference
    const Partings* partings;  // of the same forest; null where every split is looked at
    const Patterns* patterns;  // null where the trees are walked
    Matrix<const double> queries;
    Matrix<const std::uint8_t> active;
    std::vector<std::int32_t> column_feature;
    Rules rules;
    double grid;  // margins closer than this count as equal in the order of sets
};

/// What to search for: some rows, the first size for each, and the work and seconds that each may take.
struct Request {
    Span<const std::int64_t> rows;
    Span<const std::int64_t> from_size;
    Span<const std::int64_t> work;
    double seconds;
    std::int64_t max_sets;
    std::int64_t listing;  // work once more sets were found than that
};

/// What was found for the rows of a request, with the sets of all of them one after the other, best first.
struct Answers {
    std::vector<std::int8_t> outcome;
    std::vector<std::int64_t> proven, work, count, kept;
    std::vector<std::uint64_t> sets;
    std::vector<double> values;
};

class Session {
public:
    explicit Session(Problem problem);

    std::size_t n_rows() const { return problem_.queries.n_rows(); }
    std::size_t n_features() const { return problem_.active.n_columns(); }
    std::size_t n_words() const { return n_features() < 64 ? 1 : (n_features() + 63) / 64; }
    /// Margin of each query itself, as the first search for pairs met it; NaN before.
    const std::vector<double>& query_margins() const { return query_margins_; }
    /// Mark the features that, alone in a set, bring the margin nearer to the limit.
    void mark_helpful(std::int64_t row, std::uint8_t* helpful, Pulse& pulse);
    Facts facts(std::int64_t row);
    std::int64_t count_terms(std::int64_t row, std::int64_t size);
    /// The fewest features that could possibly reach the limit, by the bound of branch and bound.
    std::int64_t least_size(std::int64_t row);

    /// Sizes 1 and 2, from tables of pairs; rows with more than ``widest`` features are left open.
    Answers pairs(const Request& request, std::int64_t widest, Pulse& pulse);
    /// Sizes up to ``last``, from tables of triples, which are looked up, or made by walking for sizes from 3 on.
    Answers cubic(const Request& request, std::int64_t last, bool by_look_up, const ProofEffort& effort, Pulse& pulse);
    /// One size, from tables of terms of every degree.
    Answers terms(const Request& request, Pulse& pulse);
    /// One size, by branch and bound.
    Answers branch(const Request& request, std::int64_t widest_pairs, Pulse& pulse);
    /// Whether a set of any size crosses: open when one does.
    Answers exists(const Request& request, Pulse& pulse);
    /// Some set that surely crosses, whatever its size.
    Answers greedy(const Request& request, Pulse& pulse);

private:
    template <class Search>
    Answers for_rows(const Request& request, Pulse& pulse, const Search& search);
    void check(const Request& request) const;
    bool looks_up() const { return problem_.patterns != nullptr; }
    const double* query(std::int64_t row) const { return problem_.queries.row(static_cast<std::size_t>(row)); }
    const std::uint8_t* active(std::int64_t row) const { return problem_.active.row(static_cast<std::size_t>(row)); }
    Row& walk(std::int64_t row);
    Row& order(std::int64_t row);
    void keep(std::int64_t row);
    void forget(std::int64_t row);
    void look_up(std::int64_t row);
    Ending search_two(const std::uint8_t* usable, std::int64_t from, Found& found, Budget& budget);
    double margin_of_query(std::int64_t row) const;

    struct Kept {
        std::unique_ptr<Row> row;
        std::int64_t least = 0;  // 0: its features are not in order yet
    };
    static constexpr std::int64_t nobody = -1;

    Problem problem_;
    Collapser collapser_;
    Row current_;  // the row that was collapsed last
    std::int64_t current_row_ = nobody;
    std::int64_t current_least_ = 0;
    std::vector<double> query_margins_;
    std::vector<Kept> kept_;  // rows that wait for their next search
    std::size_t kept_bytes_ = 0;
    Patterns::LookUp look_up_;
    PairTables tables_;
    CubicSearch cubic_;
    TermSearch terms_;
};

}  // namespace sev::trees
