#include "bind/arrays.hpp"
#include "core/row_hash.hpp"
#include "core/row_mix.hpp"

namespace sev::bind {

using namespace nb::literals;

static nb::ndarray<nb::numpy, std::uint64_t> hashes_of(FloatRows rows) {
    const Matrix<const double> all = matrix(rows);
    std::vector<std::uint64_t> hashes;
    {
        nb::gil_scoped_release release;
        hashes = hash_rows(all);
    }
    return to_numpy(std::move(hashes));
}

static nb::ndarray<nb::numpy, double> mixed_rows(FloatRows queries, FloatRows references, Ints assigned, Ints rows,
                                                 BoolRows taken, Ints column_feature) {
    const Mixture of{matrix(queries), matrix(references), span(assigned), span(column_feature)};
    const Span<const std::int64_t> wanted = span(rows);
    std::vector<double> mixed;
    {
        nb::gil_scoped_release release;
        mixed = mix_rows(of, wanted, bytes(taken));
    }
    return to_numpy(std::move(mixed), {wanted.size(), of.queries.n_columns()});
}

static nb::ndarray<nb::numpy, std::uint8_t> marked_features(BoolRows marks, Ints column_feature, std::size_t n_features) {
    const Span<const std::int64_t> features = span(column_feature);
    std::vector<std::uint8_t> marked;
    {
        nb::gil_scoped_release release;
        marked = any_by_feature(bytes(marks), features, n_features);
    }
    return to_numpy(std::move(marked), {marks.shape(0), n_features});
}

void bind_rows(nb::module_& m) {
    m.def("mix_rows", &mixed_rows, "queries"_a.noconvert(), "references"_a.noconvert(), "assigned"_a.noconvert(),
          "rows"_a.noconvert(), "taken"_a.noconvert(), "column_feature"_a.noconvert(),
          "Queries with some features taken from their references.");
    m.def("any_by_feature", &marked_features, "marks"_a.noconvert(), "column_feature"_a.noconvert(), "n_features"_a,
          "Which features have a marked column, as bytes.");
    m.def("hash_rows", &hashes_of, "rows"_a.noconvert(), "A number for each row that depends on its values alone.");
}

}  // namespace sev::bind
