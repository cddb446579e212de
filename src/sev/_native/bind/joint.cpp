#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

#include <nanobind/stl/shared_ptr.h>

#include "bind/arrays.hpp"
#include "trees/joint_session.hpp"

namespace sev::bind {

namespace {

using namespace nb::literals;
using trees::Forest;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

std::vector<std::int32_t> features_of(const Ints& column_feature, std::size_t n_features) {
    const Span<const std::int64_t> all = span(column_feature);
    for (const std::int64_t feature : all)
        require(feature >= 0 && static_cast<std::size_t>(feature) < n_features, "a feature in column_feature is out of range");
    return {all.begin(), all.end()};
}

Forest mark(const Forest& forest, const Floats& reference) {
    const Span<const double> row = span(reference);
    require(row.size() == forest.n_columns(), "the reference must have a value for each column of the forest");
    return forest.marked(row.data());
}

/// Encoded rows of one forest with the reference that they are compared with.
struct Ground {
    Forest forest;  // marked with the reference
    FloatRows queries;
    std::vector<std::int32_t> column_feature;
};

/// The second sum: rows, and what its leaves must add up to.
struct Second {
    Ground ground;
    double at_least;
};

/// What every row has, whatever the first sum is.
struct Limits {
    BoolRows active;
    Floats sure, limit, grid;
    std::int64_t max_size;
    bool every_feature;
};

/// A session with everything that it looks at; one search at a time.
class BoundJointSession {
public:
    BoundJointSession(std::shared_ptr<Second> second, const Limits& limits, std::optional<Ground> first, double sign,
                      std::optional<Floats> start, std::optional<FloatRows> gains)
        : second_(std::move(second)), limits_(limits), first_(std::move(first)), start_(std::move(start)), gains_(std::move(gains)) {
        trees::JointProblem problem;
        if (first_) {
            problem.forest = &first_->forest;
            problem.queries = matrix(first_->queries);
            problem.column_feature = first_->column_feature;
            problem.sign = sign;
        } else {
            problem.start = span(*start_);
            problem.gains = matrix(*gains_);
        }
        problem.active = bytes(limits_.active);
        problem.sure = span(limits_.sure);
        problem.limit = span(limits_.limit);
        problem.grid = span(limits_.grid);
        problem.max_size = limits_.max_size;
        problem.every_feature = limits_.every_feature;
        if (second_ != nullptr) {
            problem.other = &second_->ground.forest;
            problem.other_queries = matrix(second_->ground.queries);
            problem.other_column_feature = second_->ground.column_feature;
            problem.other_limit = -second_->at_least;
        }
        session_ = std::make_unique<trees::JointSession>(std::move(problem));
    }

    template <trees::Answers (trees::JointSession::*search)(const trees::Request&, Pulse&)>
    nb::tuple run(Ints rows, Ints from_size, Ints work, double seconds, std::int64_t max_sets, std::int64_t listing) {
        const trees::Request request{span(rows), span(from_size), span(work), seconds, max_sets, listing};
        trees::Answers answers;
        {
            Pulse pulse = signal_pulse();
            nb::gil_scoped_release release;
            std::lock_guard<std::mutex> hold(mutex_);
            answers = ((*session_).*search)(request, pulse);
        }
        const std::size_t n_sets = answers.values.size();
        return nb::make_tuple(to_numpy(std::move(answers.outcome)), to_numpy(std::move(answers.proven)),
                              to_numpy(std::move(answers.work)), to_numpy(std::move(answers.count)),
                              to_numpy(std::move(answers.kept)), to_numpy(std::move(answers.sets), {n_sets, session_->n_words()}),
                              to_numpy(std::move(answers.values)));
    }

private:
    std::shared_ptr<Second> second_;
    Limits limits_;
    std::optional<Ground> first_;
    std::optional<Floats> start_;
    std::optional<FloatRows> gains_;
    std::unique_ptr<trees::JointSession> session_;
    std::mutex mutex_;
};

std::shared_ptr<Second> make_second(const Forest& forest, Floats reference, FloatRows queries, Ints column_feature,
                                    std::int64_t n_features, double at_least) {
    require(n_features >= 0 && n_features < (std::int64_t{1} << 31), "the number of features is out of range");
    return std::make_shared<Second>(
        Second{{mark(forest, reference), queries, features_of(column_feature, static_cast<std::size_t>(n_features))}, at_least});
}

std::shared_ptr<BoundJointSession> with_forest(std::shared_ptr<Second> second, BoolRows active, Floats sure, Floats limit, Floats grid,
                                               std::int64_t max_size, bool every_feature, const Forest& forest, Floats reference, FloatRows queries,
                                               Ints column_feature, double sign) {
    Ground first{mark(forest, reference), queries, features_of(column_feature, active.shape(1))};
    return std::make_shared<BoundJointSession>(std::move(second), Limits{active, sure, limit, grid, max_size, every_feature}, std::move(first), sign,
                                               std::nullopt, std::nullopt);
}

std::shared_ptr<BoundJointSession> with_gains(std::shared_ptr<Second> second, BoolRows active, Floats sure, Floats limit, Floats grid,
                                              std::int64_t max_size, bool every_feature, Floats start, FloatRows gains) {
    return std::make_shared<BoundJointSession>(std::move(second), Limits{active, sure, limit, grid, max_size, every_feature}, std::nullopt, 1.0, start,
                                               gains);
}

template <class Class, class Method>
void define(Class& session, const char* name, Method method) {
    session.def(name, method, "rows"_a.noconvert(), "from_size"_a.noconvert(), "work"_a.noconvert(), "seconds"_a, "max_sets"_a,
                "listing"_a);
}

}  // namespace

void bind_joint(nb::module_& m) {
    nb::class_<Second>(m, "SecondSum", "Trees whose leaves must add up to more than some number, over rows and one reference.")
        .def(nb::new_(&make_second), "forest"_a, "reference"_a.noconvert(), "queries"_a.noconvert(), "column_feature"_a.noconvert(),
             "n_features"_a, "at_least"_a);
    nb::class_<BoundJointSession> session(m, "JointSession", "The rows of one problem with a second sum that must be high enough.");
    session.def_static("with_forest", &with_forest, "second"_a.none(), "active"_a.noconvert(), "sure"_a.noconvert(), "limit"_a.noconvert(),
                       "grid"_a.noconvert(), "max_size"_a, "every_feature"_a, "forest"_a, "reference"_a.noconvert(), "queries"_a.noconvert(),
                       "column_feature"_a.noconvert(), "sign"_a);
    session.def_static("with_gains", &with_gains, "second"_a.none(), "active"_a.noconvert(), "sure"_a.noconvert(), "limit"_a.noconvert(),
                       "grid"_a.noconvert(), "max_size"_a, "every_feature"_a, "start"_a.noconvert(), "gains"_a.noconvert());
    define(session, "search", &BoundJointSession::run<&trees::JointSession::search>);
    define(session, "greedy", &BoundJointSession::run<&trees::JointSession::greedy>);
}

}  // namespace sev::bind
