// Small sets: the margin of every set of one, two or three features from one table.
//
// A cube adds its value when all its needed features are in the set and none of the others is. Written as a polynomial
// in "feature i is in the set" and cut after degree d, the sum of all cubes is exact for every set of at most d
// features; and for every set whatever its size when no cube has more than d features.
//
// Tables hold each pair and each triple once, the highest number first: the pair i < j is at j(j-1)/2 + i, the triple
// i < j < k at k(k-1)(k-2)/6 + j(j-1)/2 + i. So the features below k have the front of each table to themselves, and
// all pairs that go with k are one stretch of the table of triples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trees/collapse.hpp"
#include "trees/found.hpp"

namespace sev::trees {

inline std::size_t n_pairs(std::size_t n) { return n < 2 ? 0 : n * (n - 1) / 2; }
inline std::size_t n_triples(std::size_t n) { return n < 3 ? 0 : n * (n - 1) * (n - 2) / 6; }
/// Where the table of pairs has two features, whichever is the higher.
inline std::size_t pair_at(std::size_t one, std::size_t other) {
    return one > other ? n_pairs(one) + other : n_pairs(other) + one;
}
inline std::size_t triple_at(std::size_t low, std::size_t mid, std::size_t high) {
    return n_triples(high) + n_pairs(mid) + low;
}

/// Terms of one and two features; the margin of a set of up to two is the sum of its terms.
struct PairTables {
    double start = 0.0;  // margin of the empty set
    std::vector<double> terms;  // the singles, then the pairs
    std::size_t n = 0;

    double* single() { return terms.data(); }
    double* pair() { return terms.data() + n; }
    const double* single() const { return terms.data(); }
    const double* pair() const { return terms.data() + n; }
    void clear(std::size_t n_features);
};

/// Some of the trees on a stack of cubes: tables are made of these.
struct TreeRange {
    std::size_t begin, end;
};

/// Add the cubes of some trees to the terms of degree 1 and, if there are any pairs, 2; returns the constant.
double expand_pairs(const Cubes& cubes, TreeRange trees, double* single, double* pair);

/// The tables of a collapsed row.
void make_pair_tables(const Row& row, PairTables& tables);

/// Record all sets of the first size from ``from`` on, up to two, that bring the margin down to the limit.
/// ``usable`` are the features that a set may have; all of them when it is null. Returns the next size to search.
std::int64_t search_pairs(const PairTables& tables, const std::uint8_t* usable, std::int64_t from,
                          std::int64_t max_size, Found& found);

}  // namespace sev::trees
