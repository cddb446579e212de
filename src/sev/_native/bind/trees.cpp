#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include <nanobind/stl/shared_ptr.h>

#include "bind/arrays.hpp"
#include "trees/session.hpp"

namespace sev::bind {

namespace {

using namespace nb::literals;
using trees::Forest;
using trees::Partings;
using trees::Patterns;
using trees::Rules;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

std::vector<std::int32_t> features_of(const Ints& column_feature, std::size_t n_columns, std::size_t n_features) {
    const Span<const std::int64_t> all = span(column_feature);
    require(all.size() == n_columns, "column_feature must have an entry for each column of the forest");
    for (const std::int64_t feature : all)
        require(feature >= 0 && static_cast<std::size_t>(feature) < n_features, "a feature in column_feature is out of range");
    return {all.begin(), all.end()};
}

/// A forest with the direction of one reference in its nodes.
struct MarkedForest {
    Forest forest;
    std::unique_ptr<Partings> partings;  // for many rows
};

std::shared_ptr<Forest> make_forest(Ints nodes, Floats values, Ints roots, Ints category_first, Words category_words,
                                    std::int64_t n_columns, double base) {
    const trees::ForestArrays arrays{span(nodes), span(values), span(roots), span(category_first), span(category_words), n_columns, base};
    nb::gil_scoped_release release;
    return std::make_shared<Forest>(arrays);
}

nb::ndarray<nb::numpy, double> margins(const Forest& forest, FloatRows rows) {
    const Matrix<const double> all = matrix(rows);
    require(all.n_columns() == forest.n_columns(), "rows must have a column for each of the forest");
    std::vector<double> sums(all.n_rows());
    {
        Pulse pulse = signal_pulse();
        nb::gil_scoped_release release;
        constexpr std::size_t at_once = Forest::most_rows;
        for (std::size_t row = 0; row < sums.size(); row += at_once) {
            const std::size_t n = std::min(at_once, sums.size() - row);
            forest.margins(all.row(row), n, sums.data() + row);
            pulse.tick(static_cast<std::int64_t>(forest.n_trees() * n) * 10);
        }
    }
    return to_numpy(std::move(sums));
}

std::shared_ptr<MarkedForest> mark(const Forest& forest, Floats reference, bool partings) {
    const Span<const double> row = span(reference);
    require(row.size() == forest.n_columns(), "the reference must have a value for each column of the forest");
    nb::gil_scoped_release release;
    auto marked = std::make_shared<MarkedForest>(MarkedForest{forest.marked(row.data()), nullptr});
    if (partings) marked->partings = std::make_unique<Partings>(marked->forest);
    return marked;
}

std::shared_ptr<Patterns> make_patterns(const MarkedForest& marked, Ints column_feature, Bools allowed, bool minus, double sign) {
    std::vector<std::uint8_t> may(allowed.size());
    for (std::size_t f = 0; f < may.size(); ++f) may[f] = reinterpret_cast<const std::uint8_t*>(allowed.data())[f] != 0;
    const std::vector<std::int32_t> features = features_of(column_feature, marked.forest.n_columns(), may.size());
    Pulse pulse = signal_pulse();
    nb::gil_scoped_release release;
    return std::make_shared<Patterns>(marked.forest, features, may, minus, sign, pulse);
}

nb::tuple to_tuple(trees::Answers&& answers, std::size_t n_words) {
    const std::size_t n_sets = answers.values.size();
    return nb::make_tuple(to_numpy(std::move(answers.outcome)), to_numpy(std::move(answers.proven)),
                          to_numpy(std::move(answers.work)), to_numpy(std::move(answers.count)),
                          to_numpy(std::move(answers.kept)), to_numpy(std::move(answers.sets), {n_sets, n_words}),
                          to_numpy(std::move(answers.values)));
}

/// A request as it comes from Python.
struct Wanted {
    Ints rows, from_size, work;
    double seconds;
    std::int64_t max_sets, listing;

    trees::Request request() const { return {span(rows), span(from_size), span(work), seconds, max_sets, listing}; }
};

/// A session with everything that it looks at; one search at a time.
class BoundSession {
public:
    BoundSession(std::shared_ptr<MarkedForest> forest, std::shared_ptr<Patterns> patterns, FloatRows queries,
                 BoolRows active, Ints column_feature, const Rules& rules, double grid)
        : forest_(std::move(forest)), patterns_(std::move(patterns)), queries_(queries), active_(active) {
        require(forest_ != nullptr, "there must be a forest");
        require(active.shape(1) < (std::size_t{1} << 31), "too many features");
        session_ = std::make_unique<trees::Session>(trees::Problem{
            &forest_->forest, forest_->partings.get(), patterns_.get(), matrix(queries_), bytes(active_),
            features_of(column_feature, forest_->forest.n_columns(), active_.shape(1)), rules, grid});
    }

    template <class Search>
    nb::tuple run(const Wanted& wanted, const Search& search) {
        const trees::Request request = wanted.request();
        trees::Answers answers;
        {
            Pulse pulse = signal_pulse();
            nb::gil_scoped_release release;
            std::lock_guard<std::mutex> hold(mutex_);
            answers = search(*session_, request, pulse);
        }
        return to_tuple(std::move(answers), session_->n_words());
    }

    nb::ndarray<nb::numpy, std::int64_t> facts(const Ints& rows) {
        const Span<const std::int64_t> wanted = span(rows);
        std::vector<std::int64_t> found;
        {
            nb::gil_scoped_release release;
            std::lock_guard<std::mutex> hold(mutex_);
            for (const std::int64_t row : wanted) {
                const trees::Facts facts = session_->facts(row);
                for (const std::int64_t fact : {facts.n_features, facts.n_members, facts.widest_cube})
                    found.push_back(fact);
            }
        }
        return to_numpy(std::move(found), {wanted.size(), 3});
    }

    nb::ndarray<nb::numpy, double> query_margins() {
        std::vector<double> margins;
        {
            nb::gil_scoped_release release;
            std::lock_guard<std::mutex> hold(mutex_);
            margins = session_->query_margins();
        }
        return to_numpy(std::move(margins));
    }

    nb::ndarray<nb::numpy, std::uint8_t> helpful(const Ints& rows) {
        const Span<const std::int64_t> wanted = span(rows);
        const std::size_t n_features = session_->n_features();
        std::vector<std::uint8_t> marks(wanted.size() * n_features, 0);
        {
            Pulse pulse = signal_pulse();
            nb::gil_scoped_release release;
            std::lock_guard<std::mutex> hold(mutex_);
            for (std::size_t at = 0; at < wanted.size(); ++at)
                session_->mark_helpful(wanted[at], marks.data() + at * n_features, pulse);
        }
        return to_numpy(std::move(marks), {wanted.size(), n_features});
    }

    std::int64_t least_size(std::int64_t row) {
        nb::gil_scoped_release release;
        std::lock_guard<std::mutex> hold(mutex_);
        return session_->least_size(row);
    }

    std::int64_t count_terms(std::int64_t row, std::int64_t size) {
        nb::gil_scoped_release release;
        std::lock_guard<std::mutex> hold(mutex_);
        return session_->count_terms(row, size);
    }

private:
    std::shared_ptr<MarkedForest> forest_;
    std::shared_ptr<Patterns> patterns_;
    FloatRows queries_;
    BoolRows active_;
    std::unique_ptr<trees::Session> session_;
    std::mutex mutex_;
};

using Session = trees::Session;
using Request = trees::Request;

/// A search that takes a request and nothing else.
template <trees::Answers (Session::*search)(const Request&, Pulse&)>
nb::tuple run_search(BoundSession& self, Ints rows, Ints from_size, Ints work, double seconds, std::int64_t max_sets, std::int64_t listing) {
    return self.run({rows, from_size, work, seconds, max_sets, listing},
                    [](Session& session, const Request& request, Pulse& pulse) { return (session.*search)(request, pulse); });
}

nb::tuple run_pairs(BoundSession& self, Ints rows, Ints from_size, Ints work, double seconds, std::int64_t max_sets,
                    std::int64_t listing, std::int64_t widest) {
    return self.run({rows, from_size, work, seconds, max_sets, listing},
                    [&](Session& session, const Request& request, Pulse& pulse) { return session.pairs(request, widest, pulse); });
}

nb::tuple run_branch(BoundSession& self, Ints rows, Ints from_size, Ints work, double seconds, std::int64_t max_sets,
                     std::int64_t listing, std::int64_t widest_pairs) {
    return self.run({rows, from_size, work, seconds, max_sets, listing},
                    [&](Session& session, const Request& request, Pulse& pulse) { return session.branch(request, widest_pairs, pulse); });
}

nb::tuple run_cubic(BoundSession& self, Ints rows, Ints from_size, Ints work, double seconds, std::int64_t max_sets,
                    std::int64_t listing, std::int64_t last, bool looks_up, const trees::ProofEffort& proof) {
    return self.run({rows, from_size, work, seconds, max_sets, listing},
                    [&](Session& session, const Request& request, Pulse& pulse) { return session.cubic(request, last, looks_up, proof, pulse); });
}

template <class Class, class Method, class... Options>
void define(Class& session, const char* name, Method method, const Options&... options) {
    session.def(name, method, "rows"_a.noconvert(), "from_size"_a.noconvert(), "work"_a.noconvert(), "seconds"_a, "max_sets"_a,
                "listing"_a, options...);
}

void bind_session(nb::module_& m) {
    nb::class_<trees::ProofEffort>(m, "ProofEffort", "How far the question goes whether any set crosses at all.")
        .def("__init__", [](trees::ProofEffort* self, std::int64_t from_size, std::int64_t work, std::int64_t share) {
            new (self) trees::ProofEffort{from_size, work, share};
        }, "from_size"_a, "work"_a, "share"_a);
    nb::class_<BoundSession> session(m, "Session", "The rows of one problem; each search can be run on any of them.");
    session.def(nb::init<std::shared_ptr<MarkedForest>, std::shared_ptr<Patterns>, FloatRows, BoolRows, Ints, const Rules&, double>(),
                "forest"_a, "patterns"_a.none(), "queries"_a.noconvert(), "active"_a.noconvert(),
                "column_feature"_a.noconvert(), "rules"_a, "grid"_a);
    session.def("facts", &BoundSession::facts, "rows"_a.noconvert());
    session.def("count_terms", &BoundSession::count_terms, "row"_a, "size"_a);
    session.def("query_margins", &BoundSession::query_margins);
    session.def("helpful", &BoundSession::helpful, "rows"_a.noconvert());
    session.def("least_size", &BoundSession::least_size, "row"_a);
    define(session, "pairs", &run_pairs, "widest"_a);
    define(session, "cubic", &run_cubic, "last"_a, "looks_up"_a, "proof"_a);
    define(session, "terms", &run_search<&Session::terms>);
    define(session, "branch", &run_branch, "widest_pairs"_a);
    define(session, "exists", &run_search<&Session::exists>);
    define(session, "greedy", &run_search<&Session::greedy>);
}

}  // namespace

void bind_trees(nb::module_& m) {
    nb::class_<Rules>(m, "Rules", "When a set crosses. Margins are sign-flipped so that it does so by going down.")
        .def("__init__", [](Rules* self, bool minus, double sign, double sure, double limit, std::int64_t max_size) {
            new (self) Rules{minus, sign, sure, limit, max_size};
        }, "minus"_a, "sign"_a, "sure"_a, "limit"_a, "max_size"_a);
    nb::class_<Forest>(m, "Forest", "Trees whose leaves are summed; the arrays are copied and checked.")
        .def(nb::new_(&make_forest), "nodes"_a.noconvert(), "values"_a.noconvert(), "roots"_a.noconvert(),
             "category_first"_a.noconvert(), "category_words"_a.noconvert(), "n_columns"_a, "base"_a)
        .def("margins", &margins, "rows"_a.noconvert(), "The sum of the leaves that each row reaches.")
        .def("mark", &mark, "reference"_a.noconvert(), "partings"_a = false,
             "The forest with the directions of a reference, and for many rows with where it parts from them.")
        .def_prop_ro("depth", &Forest::depth)
        .def_prop_ro("n_trees", &Forest::n_trees);
    nb::class_<MarkedForest>(m, "MarkedForest", "A forest with the direction of one reference in its nodes.");
    nb::class_<Patterns>(m, "Patterns", "What every tree does for every pattern of its splits, for one reference.")
        .def(nb::new_(&make_patterns), "forest"_a, "column_feature"_a.noconvert(), "allowed"_a.noconvert(), "minus"_a, "sign"_a);
    bind_session(m);
}

}  // namespace sev::bind
