// The rows of one problem with a second sum that must be low enough too.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/joint.hpp"
#include "trees/session.hpp"

namespace sev::trees {

/// What is asked. The first sum is that of a forest, or has a start and a gain for each feature; the arrays stay where
/// they are. Sets are taken from the reference that the forests are marked with.
struct JointProblem {
    const Forest* forest = nullptr;  // null: ``start`` and ``gains`` instead
    Matrix<const double> queries;
    std::vector<std::int32_t> column_feature;
    double sign = 1.0;
    Span<const double> start;
    Matrix<const double> gains;

    Matrix<const std::uint8_t> active;
    Span<const double> sure, limit, grid;  // of each row: surely low enough, perhaps low enough, equal in the order
    std::int64_t max_size = 0;
    bool every_feature = false;  // sets may have features that no sum depends on

    const Forest* other = nullptr;  // the second sum is that of its leaves, with the opposite sign; null: there is none
    Matrix<const double> other_queries;
    std::vector<std::int32_t> other_column_feature;
    double other_limit = 0.0;
};

class JointSession {
public:
    explicit JointSession(JointProblem problem);

    std::size_t n_rows() const { return problem_.active.n_rows(); }
    std::size_t n_words() const { return n_features() < 64 ? 1 : (n_features() + 63) / 64; }
    /// All sets of the smallest size.
    Answers search(const Request& request, Pulse& pulse);
    /// Some set that surely is low enough, whatever its size.
    Answers greedy(const Request& request, Pulse& pulse);

private:
    std::size_t n_features() const { return problem_.active.n_columns(); }
    template <class Search>
    Answers for_rows(const Request& request, Pulse& pulse, const Search& search);
    void collapse(std::size_t row);
    void collapse_first(std::size_t row);
    void collapse_second(std::size_t row);
    Ending search_sizes(std::size_t row, std::int64_t from, BestSets& sets, Budget& budget);
    bool drop_features(std::size_t row, std::vector<std::uint8_t>& chosen);

    JointProblem problem_;
    std::vector<Collapser> collapsers_;  // of the forest and of the other, as far as there are such
    Row first_, second_;
    JointSearch joint_;
};

}  // namespace sev::trees
