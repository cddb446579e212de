#include "trees/collapse.hpp"

namespace sev::trees {

void Cubes::clear() {
    tree.assign(1, 0);
    first.assign(1, 0);
    need.clear();
    leaf.clear();
    member.clear();
}

std::size_t Row::bytes() const {
    return cubes.tree.capacity() * 4 + cubes.need.capacity() * 4 + cubes.first.capacity() * 8 +
           cubes.leaf.capacity() * 8 + cubes.member.capacity() * 4 + linear.capacity() * 8 + feature.capacity() * 4;
}

Collapser::Collapser(const Forest& forest, const Partings* partings, const std::vector<std::int32_t>& column_feature,
                     std::size_t n_features)
    : forest_(forest), partings_(partings), column_feature_(column_feature), state_(n_features), number_(n_features) {}

void Collapser::collapse(const double* query, const std::uint8_t* active, const Rules& rules, Row& row) {
    query_ = query;
    rules_ = &rules;
    row_ = &row;
    for (std::size_t f = 0; f < state_.size(); ++f) {
        state_[f] = active[f] != 0 ? State::open : State::closed;
        number_[f] = -1;
    }
    row.cubes.clear();
    row.linear.clear();
    row.feature.clear();
    row.constant = rules.sign * forest_.base();
    if (partings_ == nullptr) {
        const auto descend = [this](const Partings::Path& from) { return walk(static_cast<std::int64_t>(from.splits)); };
        for (const std::int32_t root : forest_.roots()) collapse_tree({static_cast<std::uint64_t>(root), 0.0}, descend);
        return;
    }
    partings_->mark(forest_, query, marks_);
    for (std::size_t tree = 0; tree < marks_.size(); ++tree) {
        partings_->prefetch_first(tree + 4, marks_);
        collapse_tree(partings_->path(tree), [&](const Partings::Path& from) { return follow(tree, from); });
    }
}

template <class Descend>
void Collapser::collapse_tree(const Partings::Path& root, const Descend& descend) {
    path_.clear();
    const double value = rules_->sign * descend(root);
    if (path_.empty()) {
        row_->constant += value;
        return;
    }
    write_cube(value);
    while (!forks_.empty()) write_cube(rules_->sign * descend(take_other_side()));
    end_tree();
}

/// Go down to a leaf. Where query and reference part on a feature, it stays out of the set first.
double Collapser::walk(std::int64_t at) {
    const Node* nodes = forest_.nodes();
    for (;;) {
        const Node& node = nodes[at];
        const std::int64_t left = left_of(node);
        if (left == 0) return node.value;
        const std::size_t column = column_of(node);
        const std::int64_t query_side = forest_.side_of(node, query_[column]);
        if (query_side == reference_side(node)) {
            at = left + query_side;
            continue;
        }
        const std::int32_t feature = column_feature_[column];
        const std::int64_t stay = rules_->minus ? query_side : 1 - query_side;
        const State state = state_[static_cast<std::size_t>(feature)];
        if (state == State::open) fork(feature, {static_cast<std::uint64_t>(left + 1 - stay), 0.0});
        at = left + (state == State::in ? 1 - stay : stay);
    }
}

/// The same from parting to parting: between them the way is that of the reference.
double Collapser::follow(std::size_t tree, Partings::Path path) {
    const std::uint64_t marks = marks_[tree];
    while ((path.splits & marks) != 0) {
        const std::size_t bit = lowest_bit(path.splits & marks);
        const Partings::Split& split = partings_->split(tree, bit);
        path.splits &= ~std::uint64_t{1} << bit;  // what the reference meets further down
        const std::int32_t feature = column_feature_[split.column];
        const State state = state_[static_cast<std::size_t>(feature)];
        if (state == State::open) fork(feature, rules_->minus ? path : split.away);
        if ((state == State::in) != rules_->minus) path = split.away;
    }
    return path.leaf;
}

void Collapser::fork(std::int32_t feature, const Partings::Path& other) {
    std::int32_t& number = number_[static_cast<std::size_t>(feature)];
    if (number < 0) {
        number = static_cast<std::int32_t>(row_->feature.size());
        row_->feature.push_back(feature);
        row_->linear.push_back(0.0);
    }
    forks_.push_back({other, path_.size()});
    path_.push_back({feature, false});
    state_[static_cast<std::size_t>(feature)] = State::out;
}

/// Back to the last fork, with its feature in the set.
Partings::Path Collapser::take_other_side() {
    const Fork fork = forks_.back();
    forks_.pop_back();
    for (std::size_t d = fork.depth + 1; d < path_.size(); ++d)
        state_[static_cast<std::size_t>(path_[d].feature)] = State::open;
    path_.resize(fork.depth + 1);
    path_.back().in = true;
    state_[static_cast<std::size_t>(path_.back().feature)] = State::in;
    return fork.other;
}

void Collapser::write_cube(double value) {
    Cubes& cubes = row_->cubes;
    const std::size_t depth = path_.size(), begin = cubes.member.size();
    cubes.member.resize(begin + depth);
    std::int32_t *front = cubes.member.data() + begin, *back = front + depth;
    for (const Step& step : path_) {  // which end cannot be guessed: no branch
        *front = back[-1] = number_[static_cast<std::size_t>(step.feature)];
        front += step.in ? 1 : 0;
        back -= step.in ? 0 : 1;
    }
    cubes.need.push_back(static_cast<std::int32_t>(front - cubes.member.data() - static_cast<std::ptrdiff_t>(begin)));
    cubes.leaf.push_back(value);
    cubes.first.push_back(static_cast<std::int64_t>(begin + depth));
}

/// A tree of one feature needs no cubes: out of the set came first, in the set second.
void Collapser::end_tree() {
    for (const Step& step : path_) state_[static_cast<std::size_t>(step.feature)] = State::open;
    Cubes& cubes = row_->cubes;
    const std::size_t begin = static_cast<std::size_t>(cubes.tree.back());
    if (cubes.n_cubes() != begin + 2) {
        cubes.tree.push_back(static_cast<std::int32_t>(cubes.n_cubes()));
        return;
    }
    const std::int64_t first = cubes.first[begin];
    row_->constant += cubes.leaf[begin];
    row_->linear[static_cast<std::size_t>(cubes.member[static_cast<std::size_t>(first)])] +=
        cubes.leaf[begin + 1] - cubes.leaf[begin];
    cubes.leaf.resize(begin);
    cubes.need.resize(begin);
    cubes.first.resize(begin + 1);
    cubes.member.resize(static_cast<std::size_t>(first));
}

}  // namespace sev::trees
