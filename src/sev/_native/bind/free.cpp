#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include "bind/arrays.hpp"
#include "free/batch.hpp"

namespace sev::bind {

namespace {

using namespace nb::literals;
using free::CellForest;
using IntRows = Array<std::int64_t, 2>;

std::shared_ptr<CellForest> make_cell_forest(const trees::Forest& forest, Ints n_cells, Ints column_feature, Ints column_first, Floats values, double sign) {
    const free::CellArrays arrays{span(n_cells), span(column_feature), span(column_first), span(values), sign};
    nb::gil_scoped_release release;
    return std::make_shared<CellForest>(forest, arrays);
}

/// Points that the model decides about, through a Python function of the row's number and its cells.
free::AskRow make_ask(const nb::callable& function, std::size_t n_features) {
    return [&function, n_features](std::size_t row, const std::vector<std::int32_t>& points, std::size_t n_points, std::vector<std::uint8_t>& crosses) {
        nb::gil_scoped_acquire hold;
        std::vector<std::int64_t> copied(points.begin(), points.end());
        const nb::object answer = function(row, to_numpy(std::move(copied), {n_points, n_features}));
        Bools bools;
        if (!nb::try_cast(answer, bools, false)) throw nb::type_error("the function must return a one-dimensional array of booleans");
        if (bools.size() != n_points) throw std::invalid_argument("the function must decide about every point");
        for (std::size_t at = 0; at < n_points; ++at) crosses[at] = reinterpret_cast<const std::uint8_t*>(bools.data())[at] != 0;
    };
}

nb::tuple solve(const CellForest& forest, IntRows at, FloatRows cost, double sure, double limit, std::int64_t goal,
                std::int64_t max_size, std::int64_t max_sets, std::int64_t work, double seconds, nb::callable ask,
                std::optional<IntRows> known, double processor_seconds) {
    if (goal < 0 || goal > 3) throw std::invalid_argument("there is no such goal");
    if (processor_seconds != processor_seconds) throw std::invalid_argument("processor_seconds must be a number");
    free::Rows rows{matrix(at), matrix(cost)};
    if (known) rows.known = matrix(*known);
    const free::Request request{static_cast<free::Goal>(goal), {sure, limit}, max_size, max_sets, work, seconds, processor_seconds};
    const free::AskRow ask_row = make_ask(ask, forest.n_features());
    free::Answers answers;
    {
        Pulse pulse = signal_pulse();
        nb::gil_scoped_release release;
        answers = free::solve(forest, rows, request, ask_row, pulse);
    }
    const std::size_t n_sets = answers.cost.size();
    return nb::make_tuple(to_numpy(std::move(answers.outcome)), to_numpy(std::move(answers.proven)), to_numpy(std::move(answers.work)),
                          to_numpy(std::move(answers.n_sets)), to_numpy(std::move(answers.complete)),
                          to_numpy(std::move(answers.cells), {n_sets, forest.n_features()}), to_numpy(std::move(answers.cost)),
                          to_numpy(std::move(answers.cheapest)), to_numpy(std::move(answers.start)));
}

nb::ndarray<nb::numpy, std::uint8_t> grow(const CellForest& forest, IntRows at, FloatRows cost, IntRows points, Bools ordered, double sure, double limit,
                                          std::int64_t work, std::int64_t most_walks, nb::callable ask) {
    const free::Rows rows{matrix(at), matrix(cost)};
    const Matrix<const std::int64_t> wanted = matrix(points);
    std::vector<std::uint8_t> may(ordered.size());
    for (std::size_t f = 0; f < may.size(); ++f) may[f] = reinterpret_cast<const std::uint8_t*>(ordered.data())[f] != 0;
    const free::AskRow ask_row = make_ask(ask, forest.n_features());
    std::vector<std::uint8_t> marks;
    {
        Pulse pulse = signal_pulse();
        nb::gil_scoped_release release;
        marks = free::grow(forest, rows, wanted, may, {sure, limit}, work, most_walks, ask_row, pulse);
    }
    return to_numpy(std::move(marks), {wanted.n_rows(), forest.n_all_cells()});
}

}  // namespace

void bind_free(nb::module_& m) {
    nb::class_<CellForest>(m, "CellForest", "Trees over the cells of features: what any permitted values can do.")
        .def(nb::new_(&make_cell_forest), "forest"_a, "n_cells"_a.noconvert(), "column_feature"_a.noconvert(),
             "column_first"_a.noconvert(), "values"_a.noconvert(), "sign"_a)
        .def_prop_ro("n_trees", &CellForest::n_trees)
        .def("solve", &solve, "at"_a.noconvert(), "cost"_a.noconvert(), "sure"_a, "limit"_a, "goal"_a, "max_size"_a, "max_sets"_a,
             "work"_a, "seconds"_a, "ask"_a, "known"_a.noconvert() = nb::none(), "processor_seconds"_a = std::numeric_limits<double>::infinity(),
             "The fewest features that take each row across, with any permitted cells.")
        .def("grow", &grow, "at"_a.noconvert(), "cost"_a.noconvert(), "points"_a.noconvert(), "ordered"_a.noconvert(), "sure"_a,
             "limit"_a, "work"_a, "most_walks"_a, "ask"_a, "The cells around each point in which everything crosses.");
}

}  // namespace sev::bind
