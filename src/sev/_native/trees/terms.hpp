// All sets of one size when each tree knows few features: a table of terms for every degree.
//
// Collapsed, a tree of a few features is a polynomial in "feature i is in the set", and sets of k features see only its
// terms of up to k features. The terms of one degree lie in one table, in the order in which sets are counted when the
// highest number matters most. Sets with the highest number p are then one stretch of it, as long as the front that
// belongs to the features below p: a pick adds a stretch of each table to the table of one degree less, and what is
// left to pick from is the front of every table. All sets of k features cost a few additions each, however many the
// trees are.
//
// Rounding is not watched in the tables: what they say may cross, up to the slack, is added up once more cube by cube.
#pragma once

#include <cstdint>
#include <vector>

#include "core/budget.hpp"
#include "trees/found.hpp"
#include "trees/margin.hpp"

namespace sev::trees {

/// What the trees of a row are like, to estimate what a search over them takes.
struct Facts {
    std::int64_t n_features = 0;    // that were met
    std::int64_t n_members = 0;     // of all cubes
    std::int64_t widest_cube = 0;   // features of one cube, at most
    std::int64_t widest_tree = 0;   // features of one tree, at most
    std::int64_t n_terms = 0;       // sum over all trees of 2 to the number of their features, cut at 2^40
};

Facts facts_of(const Row& row);

class TermSearch {
public:
    /// Record all sets of ``size`` >= 3 features that bring the margin down to the limit; false when the budget ends.
    /// The row has at most 60 features, and no tree more than ``most_tree_features``.
    bool search(const Row& row, int size, Found& found, Budget& budget);

    static constexpr std::int64_t most_features = 60, most_tree_features = 20;

private:
    std::size_t count_at(std::size_t p, std::size_t d) const { return counts_[p * (size_ + 1) + d]; }
    std::size_t& offset_at(std::size_t picks, std::size_t d) { return offsets_[picks * (size_ + 2) + d]; }
    void lay_out(std::size_t n);
    void count_sets(std::size_t n);
    double write_terms(const Row& row, Budget& budget);
    double write_tree(const Row& row, std::size_t tree);
    double write_cubes(const Cubes& cubes, std::size_t tree);
    void fold(std::size_t pick, std::size_t depth);
    bool scan_pairs(const Row& row, std::size_t depth, double slack, Found& found, Budget& budget);

    std::size_t size_ = 0, highest_ = 0;  // sets, and terms
    std::vector<std::size_t> counts_;     // of sets of each size among the first features
    std::vector<std::size_t> offsets_;    // where each table begins: after some picks, of each degree
    std::vector<std::uint64_t> features_; // of each tree
    std::vector<double> terms_, local_, values_;
    std::vector<std::size_t> rank_, own_, top_;
    std::vector<std::uint32_t> bit_;
    std::vector<std::int32_t> picks_;
    std::vector<std::uint8_t> chosen_;
};

}  // namespace sev::trees
