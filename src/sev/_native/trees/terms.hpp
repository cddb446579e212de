// All sets of one size: a table of terms for every degree.
//
// Cubes are polynomials in "feature i is in the set", and sets of k features see only their terms of up to k features.
// The terms of one degree lie in one table, in the order in which sets are counted when the highest number matters
// most: features f1 < f2 < ... < fd are at C(f1, 1) + C(f2, 2) + ... + C(fd, d). Sets with the highest number p are then
// one stretch of it, as long as the front that belongs to the features below p: a pick adds a stretch of each table to
// the table of one degree less, and what is left to pick from is the front of every table. All sets of k features cost a
// few additions each, however many the trees are.
//
// Rounding is not watched in the tables: what they say may cross, up to the slack, is added up once more cube by cube.
#pragma once

#include <cstdint>
#include <vector>

#include "core/budget.hpp"
#include "trees/found.hpp"
#include "trees/margin.hpp"

namespace sev::trees {

/// What the cubes of a row are like, to estimate what a search over them takes.
struct Facts {
    std::int64_t n_features = 0;   // that were met
    std::int64_t n_members = 0;    // of all cubes
    std::int64_t widest_cube = 0;  // features of one cube, at most
};

Facts facts_of(const Row& row);
/// How many terms of up to ``size`` features all cubes have, cut at 2^40.
std::int64_t count_terms(const Row& row, int size);

class TermSearch {
public:
    /// Record all sets of ``size`` >= 3 features that bring the margin down to the limit; false when the budget ends.
    bool search(const Row& row, int size, Found& found, Budget& budget);

private:
    /// A term on the way: how many features it has, and its place among those of so many.
    struct Term {
        std::uint32_t degree;
        std::uint32_t rank;
    };

    std::size_t count_at(std::size_t p, std::size_t d) const { return counts_[p * (size_ + 1) + d]; }
    std::size_t& offset_at(std::size_t picks, std::size_t d) { return offsets_[picks * (size_ + 2) + d]; }
    void lay_out(std::size_t n);
    void count_sets(std::size_t n);
    double write_terms(const Row& row, Budget& budget);
    void expand_cube(const Cubes& cubes, std::size_t cube);
    void fold(std::size_t pick, std::size_t depth);
    bool scan_pairs(const Row& row, std::size_t depth, double slack, Found& found, Budget& budget);

    std::size_t size_ = 0, highest_ = 0;  // features of sets, and of terms
    std::vector<std::size_t> counts_;     // of sets of each size among the first features
    std::vector<std::size_t> offsets_;    // where each table begins: after some picks, of each degree
    std::vector<double> terms_, values_;
    std::vector<Term> expanded_;          // of one cube
    std::vector<std::uint32_t> members_;  // of one cube, in order: the number, and whether it may be out
    std::vector<std::size_t> top_;
    std::vector<std::int32_t> picks_;
    std::vector<std::uint8_t> chosen_;
};

}  // namespace sev::trees
