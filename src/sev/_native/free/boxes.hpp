// Boxes of cells: whether anything in one crosses, and how far one may grow so that everything in it does.
#pragma once

#include <cstdint>
#include <vector>

#include "core/budget.hpp"
#include "free/found.hpp"
#include "free/moves.hpp"

namespace sev::free {

/// Cells of each feature that belong to a box; not always neighbours.
class Box {
public:
    explicit Box(const CellForest& forest) : forest_(&forest), in_(forest.n_entries(), 0), before_(forest.n_entries(), 0) {}

    bool has(std::size_t feature, std::int32_t cell) const { return in_[place(feature, cell)] != 0; }
    void set(std::size_t feature, std::int32_t cell, bool inside) { in_[place(feature, cell)] = inside ? 1 : 0; }
    /// Only one cell of a feature.
    void set_only(std::size_t feature, std::int32_t cell);
    /// To be called when the cells of a feature have changed.
    void recount(std::size_t feature);
    std::int32_t count(std::size_t feature, std::int32_t lo, std::int32_t hi) const {
        const std::size_t first = place(feature, 0);
        return before_[first + static_cast<std::size_t>(hi) + 1] - before_[first + static_cast<std::size_t>(lo)];
    }
    std::int32_t count(std::size_t feature) const { return count(feature, 0, forest_->n_cells(feature) - 1); }
    /// The cell of a feature with so many cells of the box before it.
    std::int32_t nth(std::size_t feature, std::int32_t number) const;

private:
    std::size_t place(std::size_t feature, std::int32_t cell) const {
        return static_cast<std::size_t>(forest_->first()[feature] + cell);
    }
    const CellForest* forest_;
    std::vector<std::uint8_t> in_;
    std::vector<std::int32_t> before_;
};

class BoxSearch {
public:
    BoxSearch(const CellForest& forest, Band band) : forest_(&forest), band_(band), box_(forest) {}

    /// The least sum of leaves over everything that is permitted: none crosses when it is above the limit.
    double least_sum(const Moves& moves, Budget& budget);
    enum class Answer { no, yes, unknown };
    /// Whether any permitted values cross, whatever the number of features; ``point`` is one that surely does.
    Answer exists(const Moves& moves, const Ask& ask, Budget& budget, std::vector<std::int32_t>& point);
    /// Grows the cells of some features from a point that crosses, one at a time, as long as every point crosses.
    ///
    /// ``ordered`` tells which features grow to neighbours only. Returns the box. What a closed side would let in is
    /// checked exactly, unless that takes more than ``most_walks``.
    const Box& grow(const Moves& moves, const std::vector<std::int32_t>& features, const std::vector<std::int32_t>& cells,
                    const std::vector<std::uint8_t>& ordered, const Ask& ask, Budget& budget, std::int64_t most_walks);

private:
    void open_box(const Moves& moves);
    double extreme_leaf(std::int32_t at, bool greatest);
    double sum_extremes(bool greatest);
    double bound_half(std::size_t feature, std::int32_t lo, std::int32_t hi, double sum);
    Answer search_box(const Moves& moves, const Ask& ask, Budget& budget, std::vector<std::int32_t>& point);
    bool probe(const Moves& moves, std::vector<std::int32_t>& point) const;
    bool all_cross(const std::vector<std::int32_t>& features, const Ask& ask, Budget& budget, std::int64_t& walks);
    bool add_cell(std::size_t feature, std::int32_t cell, const std::vector<std::int32_t>& features, const Ask& ask, Budget& budget, std::int64_t most_walks);
    void restrict_to(std::size_t feature, std::int32_t lo, std::int32_t hi, std::vector<std::uint8_t>& saved);
    void restore(std::size_t feature, const std::vector<std::uint8_t>& saved);

    const CellForest* forest_;
    Band band_;
    Box box_;
    std::vector<Range> cells_;
    std::vector<double> least_;  // least leaf of every tree over the box
    std::int64_t work_ = 0;
};

}  // namespace sev::free
