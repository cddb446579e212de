#include <algorithm>
#include <limits>
#include <stdexcept>

#include "bind/arrays.hpp"
#include "linear/additive.hpp"

namespace sev::bind {

namespace {

using namespace nb::literals;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

/// The rows of a problem, as ``moves`` made them.
struct Rows {
    Span<const double> start;
    Matrix<const double> gains;
    Matrix<const std::uint8_t> active;
    Span<const double> low, high, grid;

    void check() const {
        const std::size_t n = gains.n_rows();
        require(start.size() == n && low.size() == n && high.size() == n && grid.size() == n && active.n_rows() == n,
                "all arrays must have the same number of rows");
        require(active.n_columns() == gains.n_columns(), "active and gains must have the same number of features");
    }
    linear::Row row(std::size_t at) const {
        return {start[at], gains.row(at), active.row(at), low[at], high[at], grid[at]};
    }
    std::size_t n_words() const { return std::max<std::size_t>(1, (gains.n_columns() + 63) / 64); }
};

nb::tuple moves(FloatRows queries, Floats reference, Floats weights, double intercept, Ints column_feature,
                std::int64_t n_features, bool minus, double sign) {
    const linear::Model model{span(weights), intercept, span(reference), span(column_feature), minus, sign};
    const Matrix<const double> rows = matrix(queries);
    const std::size_t n_columns = model.weights.size();
    require(rows.n_columns() == n_columns && model.reference.size() == n_columns && model.column_feature.size() == n_columns,
            "queries, reference, weights and column_feature must have the same number of columns");
    require(n_features >= 0 && n_features < (std::int64_t{1} << 31), "the number of features is out of range");
    for (const std::int64_t feature : model.column_feature)
        require(feature >= 0 && feature < n_features, "a feature in column_feature is out of range");
    const std::size_t n = rows.n_rows(), width = static_cast<std::size_t>(n_features);
    std::vector<double> start(n), magnitude(n), gains(n * width, 0.0);
    {
        Pulse pulse = signal_pulse();
        nb::gil_scoped_release release;
        for (std::size_t row = 0; row < n; ++row) {
            linear::write_moves(model, rows.row(row), start[row], gains.data() + row * width, magnitude[row]);
            pulse.tick(static_cast<std::int64_t>(n_columns) + 10);
        }
    }
    return nb::make_tuple(to_numpy(std::move(start)), to_numpy(std::move(gains), {n, width}), to_numpy(std::move(magnitude)));
}

/// The first set of each row whose size is clear; -1 for sizes that no set has.
nb::tuple first_sets(Floats start, FloatRows gains, BoolRows active, Floats low, Floats high, Floats grid) {
    const Rows rows{span(start), matrix(gains), bytes(active), span(low), span(high), span(grid)};
    rows.check();
    const std::size_t n = rows.gains.n_rows(), n_words = rows.n_words();
    std::vector<std::int64_t> sure(n), possible(n);
    std::vector<std::uint64_t> sets(n * n_words, 0);
    {
        Pulse pulse = signal_pulse();
        nb::gil_scoped_release release;
        linear::Search search(rows.gains.n_columns());
        BestSets best(n_words, 1);
        std::vector<std::uint64_t> found;
        std::vector<double> values;
        for (std::size_t at = 0; at < n; ++at) {
            const linear::Row row = rows.row(at);
            const linear::Sizes sizes = search.sizes(row);
            sure[at] = sizes.sure;
            possible[at] = sizes.possible;
            pulse.tick(static_cast<std::int64_t>(rows.gains.n_columns()) + 10);
            if (sizes.sure < 0) continue;
            std::uint64_t* set = sets.data() + at * n_words;
            found.clear();
            if (!search.first_is_clear(row, sizes.sure)) {
                best.begin(row.high, row.grid);
                Budget budget(pulse, 100'000, std::numeric_limits<double>::infinity());
                search.list(row, sizes.sure, best, budget);
                best.write(found, values);
            }
            if (!found.empty()) {
                std::copy_n(found.begin(), n_words, set);
                continue;
            }
            // the largest moves cross, and are the only best set or the one to fall back to
            for (std::int64_t p = 0; p < sizes.sure; ++p) {
                const auto feature = static_cast<std::size_t>(search.first()[p]);
                set[word_of(feature)] |= bit_of(feature);
            }
        }
    }
    return nb::make_tuple(to_numpy(std::move(sure)), to_numpy(std::move(possible)), to_numpy(std::move(sets), {n, n_words}));
}

/// The best sets of each row's size, up to ``max_sets``, in any row where the size is at least 1.
nb::tuple list_sets(Floats start, FloatRows gains, BoolRows active, Floats low, Floats high, Floats grid, Ints sizes,
                    std::int64_t max_sets, std::int64_t work) {
    const Rows rows{span(start), matrix(gains), bytes(active), span(low), span(high), span(grid)};
    rows.check();
    const Span<const std::int64_t> wanted = span(sizes);
    require(wanted.size() == rows.gains.n_rows(), "all arrays must have the same number of rows");
    require(max_sets >= 1, "max_sets must be at least 1");
    const std::size_t n = rows.gains.n_rows(), n_words = rows.n_words();
    std::vector<std::int64_t> kept(n, 0), count(n, 0);
    std::vector<std::int8_t> ended(n, 1);
    std::vector<std::uint64_t> sets;
    std::vector<double> values;
    {
        Pulse pulse = signal_pulse();
        nb::gil_scoped_release release;
        linear::Search search(rows.gains.n_columns());
        BestSets best(n_words, static_cast<std::size_t>(max_sets));
        for (std::size_t at = 0; at < n; ++at) {
            if (wanted[at] < 1) continue;
            const linear::Row row = rows.row(at);
            best.begin(row.high, row.grid);
            Budget budget(pulse, work, std::numeric_limits<double>::infinity());
            ended[at] = search.list(row, wanted[at], best, budget) ? 1 : 0;
            count[at] = static_cast<std::int64_t>(best.count());
            kept[at] = static_cast<std::int64_t>(best.kept());
            best.write(sets, values);
        }
    }
    const std::size_t n_sets = values.size();
    return nb::make_tuple(to_numpy(std::move(kept)), to_numpy(std::move(count)), to_numpy(std::move(ended)),
                          to_numpy(std::move(sets), {n_sets, n_words}), to_numpy(std::move(values)));
}

}  // namespace

void bind_linear(nb::module_& m) {
    m.def("moves", &moves, "queries"_a.noconvert(), "reference"_a.noconvert(), "weights"_a.noconvert(), "intercept"_a,
          "column_feature"_a.noconvert(), "n_features"_a, "minus"_a, "sign"_a,
          "Start value of each row, what changing each feature adds to it, and the sum of the sizes of its terms.");
    m.def("first_sets", &first_sets, "start"_a.noconvert(), "gains"_a.noconvert(), "active"_a.noconvert(),
          "low"_a.noconvert(), "high"_a.noconvert(), "grid"_a.noconvert(),
          "The smallest size that surely crosses, the smallest that might (-1: none), and the best set of the former.");
    m.def("list_sets", &list_sets, "start"_a.noconvert(), "gains"_a.noconvert(), "active"_a.noconvert(),
          "low"_a.noconvert(), "high"_a.noconvert(), "grid"_a.noconvert(), "sizes"_a.noconvert(), "max_sets"_a, "work"_a,
          "How many sets of the given size were kept and counted, whether all were seen, the sets and their margins.");
}

}  // namespace sev::bind
