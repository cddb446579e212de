// Tables for many rows and one reference: what each tree does is then looked up, not walked.
//
// A row meets a small tree only through the directions of its splits: with at most eight splits that is one of 256
// patterns. For one reference, each pattern of each tree collapses to a fixed polynomial in "feature i is in the set",
// worked out once. A row then costs the union of one bit vector a column (which splits its value passes), and a look-up
// and a few additions for each tree in which it leaves the path of the reference: in the others, half of all as a rule,
// it comes to the leaf of the reference whatever the set is. Terms of three features are kept apart: only rows that need
// so many pay for them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/budget.hpp"
#include "trees/collapse.hpp"
#include "trees/cubic.hpp"
#include "trees/tables.hpp"

namespace sev::trees {

class Patterns {
public:
    static constexpr std::size_t most_splits = 8;
    static constexpr std::size_t most_features = 64;

    /// ``forest`` is marked with the reference and has plain splits only, at most eight a tree.
    Patterns(const Forest& forest, const std::vector<std::int32_t>& column_feature,
             const std::vector<std::uint8_t>& allowed, bool minus, double sign, Pulse& pulse);

    std::size_t n_features() const { return allowed_.size(); }
    std::size_t n_columns() const { return column_feature_.size(); }
    std::size_t n_trees() const { return first_code_.size(); }
    /// Whether they were made for these rules: only then are the leaves that a "plus" needs there.
    bool fits(const Rules& rules) const { return minus_ == rules.minus && sign_ == rules.sign; }
    /// What a row looked up; the buffers are kept for the next one.
    struct LookUp {
        std::vector<const std::uint64_t*> vectors;  // of every column with a split that goes right
        std::vector<std::uint64_t> codes;           // the pattern of every tree, eight bits each
        std::vector<std::uint64_t> parted;          // trees in which the row leaves the path of the reference
        std::vector<std::uint32_t> records;         // where the cells of these begin
        std::vector<double> leaf;                   // the constant of every tree
        std::vector<std::uint32_t> wide;            // records with terms of three features: where they begin
        std::size_t n_wide = 0;                     // how many there are
    };
    /// Look one row up, and add up the terms of one and two features of all trees.
    void add_terms(const double* row, LookUp& found, PairTables& tables) const;
    /// The sum of the leaves that a row that was looked up reaches itself, without the base; for "plus" only, where it
    /// is not the sum of the constants.
    double add_query_leaves(const LookUp& found) const;
    /// Add up the terms of three features of all trees.
    void add_triples(const LookUp& found, CubicSearch& search) const;

private:
    struct Split {  // of one tree, for making the tables
        std::uint32_t bit;
        std::uint32_t local;
    };
    struct Task {  // a node on the way, with the own features of the tree in and out of the set
        std::int64_t node;
        std::uint32_t inside, outside;
    };
    struct Column {  // with splits: its thresholds, and where its bit vectors begin
        std::size_t number, first_edge, n_edges, first_vector;
    };
    /// The polynomial of one tree for one pattern lies in one stretch of cells: first the constant with the numbers of
    /// terms of up to two features and of three, then each term with its place. One cache line has most of it.
    struct Cell {
        std::uint32_t first;   // number of small terms, or the place of a term
        std::uint32_t second;  // number of terms of three features
        double value;
    };

    void build_tree(const Forest& forest, std::size_t tree);
    void note_reference(const Forest& forest, std::size_t tree);
    std::uint32_t reached_splits(const Forest& forest, std::size_t root, std::uint32_t code);
    double reached_leaf(const Forest& forest, std::size_t root, std::uint32_t code) const;
    void add_leaves(const Forest& forest, std::size_t root, std::uint32_t code);
    void add_leaf(double value, std::uint32_t inside, std::uint32_t outside);
    void write_record();
    std::uint32_t place_of(std::uint32_t own) const;
    void build_vectors(const Forest& forest);
    void read_codes(const double* row, LookUp& found) const;
    void find_records(const double* row, LookUp& found) const;
    std::size_t place_of_code(std::size_t tree, const std::uint64_t* codes) const {
        return first_code_[tree] + ((codes[tree >> 3] >> (8 * (tree & 7))) & 0xFF);
    }

    std::vector<std::int32_t> column_feature_;
    std::vector<std::uint8_t> allowed_;
    bool minus_;
    double sign_;
    // What rows look up.
    std::size_t n_words_ = 0;                // of a bit vector, eight trees each: a multiple of eight
    std::vector<Column> columns_;
    std::vector<double> edges_;
    std::vector<std::uint64_t> passed_;      // splits that go right, for each number of thresholds passed
    std::vector<std::size_t> first_code_;    // where the patterns of each tree begin
    std::vector<std::uint32_t> record_at_;   // where the cells of each pattern begin
    std::vector<Cell> cells_;
    std::vector<double> query_leaf_;         // that each pattern reaches; for "plus" only
    // Of every tree, eight bits each: where the reference goes right, and the splits on its path.
    std::vector<std::uint64_t> reference_codes_, reference_paths_;
    std::vector<double> reference_leaf_;     // the constant of a tree in which row and reference do not part
    // For making them: the splits and own features of one tree.
    std::vector<Split> splits_;
    std::vector<std::int32_t> own_;
    std::uint32_t open_ = 0;  // own features that may be in the set
    std::vector<Task> tasks_;
    double sums_[1u << most_splits] = {};
};

}  // namespace sev::trees
