#include "linear/additive.hpp"

#include <algorithm>
#include <cmath>

namespace sev::linear {

namespace {

/// Whether one feature lowers the margin more than another; of equal ones the first.
bool is_before(const Row& row, std::int32_t one, std::int32_t other) {
    const double mine = row.gains[one], theirs = row.gains[other];
    return mine != theirs ? mine < theirs : one < other;
}

}  // namespace

void write_moves(const Model& model, const double* query, double& start, double* gains, double& magnitude) {
    double total = model.intercept, terms = std::fabs(model.intercept);
    for (std::size_t column = 0; column < model.weights.size(); ++column) {
        const double of_query = model.weights[column] * query[column];
        const double of_reference = model.weights[column] * model.reference[column];
        terms += std::max(std::fabs(of_query), std::fabs(of_reference));
        total += model.minus ? of_query : of_reference;
        const double move = model.minus ? of_reference - of_query : of_query - of_reference;
        gains[model.column_feature[column]] += model.sign * move;
    }
    start = model.sign * total;
    magnitude = terms;
}

/// Features from a place on in the order of what they add; the lowest comes to that place.
void Search::bring_lowest(const Row& row, std::size_t to) {
    std::size_t best = to;
    for (std::size_t at = to + 1; at < order_.size(); ++at)
        if (is_before(row, order_[at], order_[best])) best = at;
    std::swap(order_[to], order_[best]);
}

Sizes Search::sizes(const Row& row) {
    order_.clear();
    for (std::size_t f = 0; f < n_features_; ++f)
        if (row.active[f] != 0 && row.gains[f] < 0.0) order_.push_back(static_cast<std::int32_t>(f));
    Sizes found;
    double value = row.start;
    for (std::size_t at = 0; at < order_.size() && found.sure < 0; ++at) {
        bring_lowest(row, at);
        value += row.gains[order_[at]];
        const auto size = static_cast<std::int64_t>(at) + 1;
        if (found.possible < 0 && value <= row.high) found.possible = size;
        if (value < row.low) found.sure = size;
    }
    return found;
}

bool Search::first_is_clear(const Row& row, std::int64_t size) {
    const auto last = static_cast<std::size_t>(size);
    if (last == order_.size()) return true;
    bring_lowest(row, last);
    return row.gains[order_[last]] - row.gains[order_[last - 1]] > 2.0 * row.grid;
}

void Search::add(std::size_t size, double value, BestSets& sets) {
    std::fill(set_.begin(), set_.end(), 0);
    for (std::size_t p = 0; p < size; ++p) {
        const auto feature = static_cast<std::size_t>(order_[picks_[p]]);
        set_[word_of(feature)] |= bit_of(feature);
    }
    sets.add(set_.data(), value);
}

void Search::sort_features(const Row& row) {
    order_.clear();
    for (std::size_t f = 0; f < n_features_; ++f)
        if (row.active[f] != 0) order_.push_back(static_cast<std::int32_t>(f));
    std::sort(order_.begin(), order_.end(),
              [&row](std::int32_t one, std::int32_t other) { return is_before(row, one, other); });
}

/// Depth first over the sorted features, stopped by the best that the remaining picks could reach.
bool Search::list(const Row& row, std::int64_t size, BestSets& sets, Budget& budget) {
    sort_features(row);
    const std::size_t n = order_.size(), wanted = static_cast<std::size_t>(size);
    if (wanted > n) return true;
    set_.resize(sets.n_words());
    sums_.assign(n + 1, 0.0);
    for (std::size_t at = 0; at < n; ++at) sums_[at + 1] = sums_[at] + row.gains[order_[at]];
    values_.assign(wanted + 1, row.start);
    picks_.assign(wanted + 1, 0);
    for (std::size_t depth = 0;;) {
        const std::size_t at = picks_[depth], left = wanted - depth;
        // The next gains from here are the lowest that remain; their sum is known up to rounding.
        const bool goes_on =
            at + left <= n && values_[depth] + (sums_[at + left] - sums_[at]) <= sets.limit() + row.grid;
        if (!budget.spend(4)) return false;
        if (!goes_on) {
            if (depth == 0) return true;
            ++picks_[--depth];
            continue;
        }
        values_[depth + 1] = values_[depth] + row.gains[order_[at]];
        if (left > 1) {
            picks_[depth + 1] = at + 1;
            ++depth;
            continue;
        }
        if (values_[wanted] <= sets.limit()) add(wanted, values_[wanted], sets);
        ++picks_[depth];
    }
}

}  // namespace sev::linear
