// Rows made of two others, and marks of columns that become marks of features.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/views.hpp"

namespace sev {

/// The columns of each feature.
inline std::vector<std::vector<std::size_t>> columns_by_feature(Span<const std::int64_t> column_feature, std::size_t n_features) {
    std::vector<std::vector<std::size_t>> columns(n_features);
    for (std::size_t c = 0; c < column_feature.size(); ++c) {
        if (column_feature[c] < 0 || static_cast<std::size_t>(column_feature[c]) >= n_features)
            throw std::invalid_argument("a feature in column_feature is out of range");
        columns[static_cast<std::size_t>(column_feature[c])].push_back(c);
    }
    return columns;
}

/// What vertices are made of. ``assigned`` has the number of each query's reference; it is not looked at where there is
/// only one.
struct Mixture {
    Matrix<const double> queries, references;
    Span<const std::int64_t> assigned;
    Span<const std::int64_t> column_feature;

    const double* reference_of(std::size_t query) const {
        if (references.n_rows() == 1) return references.row(0);
        const std::int64_t number = assigned[query];
        if (number < 0 || static_cast<std::size_t>(number) >= references.n_rows())
            throw std::invalid_argument("the number of a reference is out of range");
        return references.row(static_cast<std::size_t>(number));
    }
};

/// One row for each vertex: the query ``rows[i]`` with the marked features taken from its reference.
inline std::vector<double> mix_rows(const Mixture& of, Span<const std::int64_t> rows, const Matrix<const std::uint8_t>& taken) {
    const std::size_t n = of.queries.n_columns();
    if (of.references.n_columns() != n || of.column_feature.size() != n)
        throw std::invalid_argument("queries, references and column_feature must have the same number of columns");
    if (of.references.n_rows() != 1 && of.assigned.size() != of.queries.n_rows())
        throw std::invalid_argument("queries and assigned must have the same length");
    if (taken.n_rows() != rows.size()) throw std::invalid_argument("rows and taken must have the same length");
    const auto columns = columns_by_feature(of.column_feature, taken.n_columns());
    std::vector<double> mixed;
    mixed.reserve(rows.size() * n);
    for (std::size_t at = 0; at < rows.size(); ++at) {
        if (rows[at] < 0 || static_cast<std::size_t>(rows[at]) >= of.queries.n_rows())
            throw std::invalid_argument("a row is out of range");
        const auto query = static_cast<std::size_t>(rows[at]);
        const double* reference = of.reference_of(query);
        mixed.insert(mixed.end(), of.queries.row(query), of.queries.row(query) + n);
        double* row = mixed.data() + at * n;
        for (std::size_t feature = 0; feature < columns.size(); ++feature)
            if (taken.row(at)[feature] != 0)
                for (const std::size_t c : columns[feature]) row[c] = reference[c];
    }
    return mixed;
}

/// Which features have a marked column, for each row of marks.
inline std::vector<std::uint8_t> any_by_feature(const Matrix<const std::uint8_t>& marks, Span<const std::int64_t> column_feature,
                                                std::size_t n_features) {
    if (column_feature.size() != marks.n_columns())
        throw std::invalid_argument("column_feature must have an entry for each column");
    columns_by_feature(column_feature, n_features);  // checks them
    std::vector<std::uint8_t> marked(marks.n_rows() * n_features, 0);
    for (std::size_t row = 0; row < marks.n_rows(); ++row)
        for (std::size_t c = 0; c < marks.n_columns(); ++c)
            marked[row * n_features + static_cast<std::size_t>(column_feature[c])] |= marks.row(row)[c] != 0 ? 1 : 0;
    return marked;
}

}  // namespace sev
