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

Collapser::Collapser(const Forest& forest, const std::vector<std::int32_t>& column_feature, std::size_t n_features)
    : forest_(forest), column_feature_(column_feature), state_(n_features), number_(n_features) {}

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
    for (const std::int32_t root : forest_.roots()) walk_tree(root);
}

void Collapser::walk_tree(std::int64_t root) {
    path_.clear();
    std::int64_t node = descend(root);
    const double value = rules_->sign * forest_.nodes()[node].value;
    if (path_.empty()) {
        row_->constant += value;
        return;
    }
    write_cube(value);
    while (!forks_.empty()) {
        node = descend(take_other_side());
        write_cube(rules_->sign * forest_.nodes()[node].value);
    }
    end_tree();
}

/// Follow the path to a leaf. Where query and reference part on a feature, it stays out of the set first.
std::int64_t Collapser::descend(std::int64_t at) {
    const Node* nodes = forest_.nodes();
    for (;;) {
        const Node& node = nodes[at];
        const std::int64_t left = left_of(node);
        if (left == 0) return at;
        const std::size_t column = column_of(node);
        const std::int64_t query_side = forest_.side_of(node, query_[column]);
        if (query_side == reference_side(node)) {
            at = left + query_side;
            continue;
        }
        const std::int32_t feature = column_feature_[column];
        const std::int64_t stay = rules_->minus ? query_side : 1 - query_side;
        const State state = state_[static_cast<std::size_t>(feature)];
        if (state == State::open) fork(feature, left + 1 - stay);
        at = left + (state == State::in ? 1 - stay : stay);
    }
}

void Collapser::fork(std::int32_t feature, std::int64_t other) {
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
std::int64_t Collapser::take_other_side() {
    const Fork fork = forks_.back();
    forks_.pop_back();
    for (std::size_t d = fork.depth + 1; d < path_.size(); ++d)
        state_[static_cast<std::size_t>(path_[d].feature)] = State::open;
    path_.resize(fork.depth + 1);
    path_.back().in = true;
    state_[static_cast<std::size_t>(path_.back().feature)] = State::in;
    return fork.node;
}

void Collapser::write_cube(double value) {
    Cubes& cubes = row_->cubes;
    const std::size_t depth = path_.size(), begin = cubes.member.size();
    cubes.member.resize(begin + depth);
    std::int32_t *front = cubes.member.data() + begin, *back = front + depth;
    for (const Step& step : path_) {
        const std::int32_t number = number_[static_cast<std::size_t>(step.feature)];
        if (step.in)
            *front++ = number;
        else
            *--back = number;
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
