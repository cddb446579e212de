#include "trees/cubic.hpp"

#include <algorithm>
#include <limits>

#include "trees/square.hpp"

namespace sev::trees {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
void grow(std::vector<T>& some, std::size_t size) {
    if (some.size() < size) some.resize(size);
}

/// Put a value into an ascending list in place of its highest entry, without a branch that could be guessed wrong; returns
/// ``total`` with all entries that were in the list added to it.
inline double insert_lowest(double* lowest, std::size_t n, double value, double total) {
    for (std::size_t at = 0; at < n; ++at) {
        const double here = lowest[at];
        total += here;
        lowest[at] = std::min(here, value);
        value = std::max(here, value);
    }
    return total;
}

/// Mark the values that are not above ``slack`` together with the n lowest before them. ``N`` is n, or the most that it
/// may be.
template <std::size_t N>
void mark_sums(std::size_t n_values, std::size_t n, const double* values, double slack, std::uint8_t* marks) {
    double lowest[N];
    std::fill_n(lowest, N == most_columns ? n : N, infinity);
    for (std::size_t i = 0; i < n_values; ++i)
        marks[i] = insert_lowest(lowest, N == most_columns ? n : N, values[i], values[i]) <= slack;
}

}  // namespace

/// Order the usable features by a guess of what they do to a large set.
void CubicSearch::sort_effects(const PairTables& tables, const std::uint8_t* usable) {
    weight_.assign(tables.single(), tables.single() + tables.n);
    share_halves(tables.n, tables.pair(), weight_.data());
    grow(usable_, tables.n);
    grow(order_, tables.n);
    n_ = 0;
    for (std::size_t i = 0; i < tables.n; ++i) {
        usable_[n_] = i;
        weight_[n_] = weight_[i];
        n_ += usable == nullptr || usable[i] != 0 ? 1 : 0;
    }
    sort_falling(n_, weight_.data(), order_.data());
    for (std::size_t b = 0; b < n_; ++b) order_[b] = usable_[order_[b]];
}

void CubicSearch::arrange(const PairTables& tables, const std::uint8_t* usable, const std::int32_t* feature_of) {
    forget_partners();
    sort_effects(tables, usable);
    stride_ = pad(n_);
    for (std::vector<double>* row : {&single_, &share_, &weight_, &lowest_}) grow(*row, stride_);
    grow(pair_, n_ * stride_);
    grow(sums_, n_triples(n_));
    grow(feature_, n_);
    grow(hit_, n_);
    grow(picks_, n_);
    place_.assign(tables.n, -1);
    while (front_.size() < tables.n) front_.push_back(n_pairs(front_.size()));
    for (std::size_t b = 0; b < n_; ++b) {
        const std::size_t own = order_[b], own_front = front_[own];
        place_[own] = static_cast<std::int32_t>(b);
        feature_[b] = feature_of == nullptr ? static_cast<std::int32_t>(own) : feature_of[own];
        single_[b] = tables.single()[own];
        for (std::size_t a = 0; a < b; ++a) {
            const std::size_t other = order_[a], mine = own_front + other, theirs = front_[other] + own;
            // Who is higher cannot be guessed: no branch.
            const std::size_t place = mine + ((theirs - mine) & (std::size_t{0} - static_cast<std::size_t>(other > own)));
            pair_[b * stride_ + a] = pair_[a * stride_ + b] = tables.pair()[place];
        }
        pair_[b * stride_ + b] = infinity;
    }
    root_ = {single_.data(), pair_.data(), tables.start, n_};
}

void CubicSearch::add_term(std::size_t one, std::size_t two, std::size_t three, double value) {
    if (place_[one] < 0 || place_[two] < 0 || place_[three] < 0) return;
    auto low = static_cast<std::uint32_t>(place_[one]), mid = static_cast<std::uint32_t>(place_[two]),
         high = static_cast<std::uint32_t>(place_[three]);
    if (low > mid) std::swap(low, mid);
    if (mid > high) std::swap(mid, high);
    if (low > mid) std::swap(low, mid);
    double& sum = sums_[triple_at(low, mid, high)];
    if (sum == 0.0) met_.push_back(low | mid << 8 | high << 16);  // a term that came back to zero is listed twice
    sum += value;
}

void CubicSearch::expand(const Cubes& cubes) {
    const std::int32_t* member = cubes.member.data();
    const auto at = [member](std::int64_t a) { return static_cast<std::size_t>(member[a]); };
    for (std::size_t i = 0; i < cubes.n_cubes(); ++i) {
        const std::int64_t begin = cubes.first[i], end = cubes.first[i + 1];
        const std::int32_t need = cubes.need[i];
        if (need > 3 || end - begin < 3) continue;
        // All needed features are in the triple; the sign turns with each of the others.
        const double value = (need & 1) == 1 ? cubes.leaf[i] : -cubes.leaf[i];
        const std::int64_t end_one = need == 0 ? end : begin + 1, end_two = need <= 1 ? end : begin + 2,
                           end_three = need <= 2 ? end : begin + 3;
        for (std::int64_t a = begin; a < end_one; ++a)
            for (std::int64_t b = a + 1; b < end_two; ++b)
                for (std::int64_t c = b + 1; c < end_three; ++c) add_term(at(a), at(b), at(c), value);
    }
}

/// Move the sums of triples to a list, by their highest feature.
void CubicSearch::collect_triples() {
    first_.assign(n_ + 1, 0);
    for (const std::uint32_t packed : met_) ++first_[packed >> 16];
    for (std::size_t k = 0, end = 0; k <= n_; ++k) first_[k] = static_cast<std::uint32_t>(end += first_[k]);
    triples_.resize(met_.size());
    for (const std::uint32_t packed : met_) {
        const std::uint32_t low = packed & 0xFF, mid = (packed >> 8) & 0xFF, high = packed >> 16;
        double& sum = sums_[triple_at(low, mid, high)];
        triples_[--first_[high]] = {low, mid, high, sum};
        sum = 0.0;  // also for a triple that is listed twice
    }
    met_.clear();
}

/// For each pair the two lowest terms with a third feature, and a third of the sum of all, where below zero.
void CubicSearch::find_least_partners() {
    for (std::vector<double>* table : {&least_, &second_, &third_}) grow(*table, n_ * stride_);
    const auto add = [this](std::size_t at, double value) {
        third_[at] += value / 3.0;
        second_[at] = std::max(least_[at], std::min(second_[at], value));
        least_[at] = std::min(least_[at], value);
    };
    for (const Triple& triple : triples_)
        if (triple.value < 0.0) for_each_pair(triple, [&](std::size_t at) { add(at, triple.value); });
}

/// Undo ``find_least_partners`` for the last row.
void CubicSearch::forget_partners() {
    for (const Triple& triple : triples_)
        for_each_pair(triple, [this](std::size_t at) { least_[at] = second_[at] = third_[at] = 0.0; });
    triples_.clear();
}

void CubicSearch::make_buffers(std::size_t n_levels) {
    grow(singles_, n_levels * stride_);
    grow(pairs_, n_levels * n_ * stride_);
    grow(levels_, n_levels + 1);
    grow(top_, n_levels + 1);
    levels_[0] = root_;
}

/// The tables of the features below a pick once it is in the set, in a buffer.
CubicSearch::Level CubicSearch::after_pick(const Level& level, std::size_t pick, std::size_t buffer) {
    double* single = singles_.data() + buffer * stride_;
    add_row(pick, level.single, level.pair + pick * stride_, single);
    const double start = level.start + level.single[pick];
    if (first_[pick] == first_[pick + 1]) return {single, level.pair, start, pick};
    double* pair = pairs_.data() + buffer * n_ * stride_;
    copy_square(pick, stride_, level.pair, pair);
    for (std::uint32_t at = first_[pick]; at < first_[pick + 1]; ++at) {
        const Triple& triple = triples_[at];
        pair[triple.mid * stride_ + triple.low] += triple.value;
        pair[triple.low * stride_ + triple.mid] += triple.value;
    }
    return {single, pair, start, pick};
}

/// Mark the features that may have the highest number in a set of ``size`` >= 3.
///
/// Every term of a set is shared out among its features: halves of pairs, thirds of triples through their pairs. A
/// feature takes the lowest terms that it could possibly get, so the sum over a set is never above the truth.
void CubicSearch::mark_viable(const Level& level, std::size_t size, double slack, std::uint8_t* viable) {
    const double others = static_cast<double>(size) - 2.0;
    find_lowest_shares(level.n, stride_, {level.pair, least_.data(), second_.data(), (others - 1.0) / 3.0},
                       level.single, others, share_.data());
    if (size == 3)
        mark_sums<2>(level.n, 2, share_.data(), slack, viable);
    else if (size == 4)
        mark_sums<3>(level.n, 3, share_.data(), slack, viable);
    else
        mark_sums<most_columns>(level.n, size - 1, share_.data(), slack, viable);
}

/// A bound from below on the margin of every set; leaves the weights behind it in ``weight_`` unless it is above the
/// limit.
///
/// Terms below zero are shared out among their features. A term b above zero of two features that both lower the margin
/// takes something back: for x and y of 0 or 1, b x y is at least c (x + y - 1) for every c up to b.
double CubicSearch::lowest_margin(const Level& level, double limit) {
    const std::size_t n = level.n;
    share_negative_terms(n, stride_, level.single, level.pair, third_.data(), weight_.data());
    double low = level.start;
    std::size_t n_helpful = 0;
    for (std::size_t i = 0; i < n; ++i) {
        low += std::min(weight_[i], 0.0);
        order_[n_helpful] = i;
        n_helpful += weight_[i] < 0.0 ? 1 : 0;
    }
    while (n_helpful > 1 && low <= limit) {
        const std::size_t j = order_[--n_helpful];
        const double *pair = level.pair + j * stride_, *third = third_.data() + j * stride_;
        double own = weight_[j];
        for (std::size_t at = n_helpful; at-- > 0 && own < 0.0;) {
            const std::size_t i = order_[at];
            const double back = std::min({pair[i] + third[i], -own, -weight_[i]});
            if (back <= 0.0) continue;
            weight_[i] += back;
            own += back;
            low += back;  // twice for the weights, less once for the constant
        }
        weight_[j] = own;
    }
    return low;
}

/// Whether the weights behind the lowest margin leave a set of this size.
bool CubicSearch::may_cross(const Level& level, std::size_t size, double limit) {
    double low = lowest_margin(level, limit);
    if (low > limit) return false;
    std::fill_n(lowest_.begin(), size, infinity);
    for (std::size_t i = 0; i < level.n; ++i) {
        low -= std::min(weight_[i], 0.0);  // only the lowest count, whatever their sign
        insert_lowest(lowest_.data(), size, weight_[i], 0.0);
    }
    for (std::size_t i = 0; i < size; ++i) low += lowest_[i];  // infinity where there are not enough
    return low <= limit;
}

/// A bound from below on the margins of the sets of each size; false when none of them comes down to the limit.
bool CubicSearch::bound_sizes(double limit) {
    double low = lowest_margin(root_, limit);
    if (low > limit) {
        size_bound_.assign(n_ + 1, low);
        return false;
    }
    for (std::size_t i = 0; i < n_; ++i) low -= std::min(weight_[i], 0.0);
    sort_falling(n_, weight_.data(), order_.data());
    size_bound_.assign(1, low);
    for (std::size_t i = n_; i-- > 0;) size_bound_.push_back(low += weight_[order_[i]]);
    return true;
}

/// Most rows have a set, and most of them one of the features that still lower the margin when their turn comes.
bool CubicSearch::finds_by_greed(double limit) {
    Level level = root_;
    for (std::size_t pick = n_, buffer = 0; pick-- > 0;) {
        if (level.single[pick] >= 0.0) continue;
        level = after_pick(level, pick, buffer++);
        if (level.start <= limit) return true;
    }
    return false;
}

/// Whether a set of any size brings the margin down to the limit.
CubicSearch::Answer CubicSearch::exists(double limit, Budget& budget, std::int64_t work) {
    make_buffers(n_);
    if (finds_by_greed(limit)) return Answer::yes;
    top_[0] = n_;
    const std::int64_t last = budget.used() + work;
    for (std::size_t depth = 0;;) {
        const std::size_t left = top_[depth];
        Level level = levels_[depth];
        level.n = left;
        budget.spend(static_cast<std::int64_t>(left * left) + 20);
        if (left == 0 || lowest_margin(level, limit) > limit) {
            if (depth == 0) return Answer::no;
            --depth;
            continue;
        }
        const std::size_t pick = --top_[depth];
        levels_[depth + 1] = after_pick(level, pick, depth);
        if (levels_[++depth].start <= limit) return Answer::yes;
        if (budget.used() > last || budget.spent()) return Answer::unknown;
        top_[depth] = pick;
    }
}

/// The tables of the features below a pick once it is in the set; its triples are added to the pairs of the level itself,
/// below the diagonal only, until they are taken back.
CubicSearch::Level CubicSearch::lend_triples(const Level& level, std::size_t pick, std::size_t buffer) {
    double* single = singles_.data() + buffer * stride_;
    add_row(pick, level.single, level.pair + pick * stride_, single);
    before_.clear();
    for (std::uint32_t at = first_[pick]; at < first_[pick + 1]; ++at) {
        double& pair = level.pair[triples_[at].mid * stride_ + triples_[at].low];
        before_.push_back(pair);
        pair += triples_[at].value;
    }
    return {single, level.pair, level.start + level.single[pick], pick};
}

void CubicSearch::take_triples_back(const Level& level, std::size_t pick) {
    for (std::uint32_t at = first_[pick + 1]; at-- > first_[pick]; before_.pop_back())
        level.pair[triples_[at].mid * stride_ + triples_[at].low] = before_.back();
}

/// Record the marked pairs that bring the margin down to the limit.
void CubicSearch::record_marked_pairs(const Level& level, std::size_t depth, Found& found) {
    for (std::size_t j = 1; j < level.n; ++j) {
        if (!hit_[j]) continue;
        const double here = level.start + level.single[j];
        const double* row = level.pair + j * stride_;
        for (std::size_t i = 0; i < j; ++i) {
            const double value = here + (level.single[i] + row[i]);
            if (value > found.limit()) continue;
            picks_[depth] = static_cast<std::int32_t>(i);
            picks_[depth + 1] = static_cast<std::int32_t>(j);
            found.record(picks_.data(), static_cast<int>(depth + 3), value);
        }
    }
}

/// Record every triple that brings the margin down to the limit, after ``depth`` picks.
void CubicSearch::record_triples(const Level& level, const std::uint8_t* viable, std::size_t depth, Found& found) {
    for (std::size_t k = 2; k < level.n; ++k) {
        if (!viable[k]) continue;
        const Level last = lend_triples(level, k, depth);
        picks_[depth + 2] = static_cast<std::int32_t>(k);
        if (mark_pairs(k, stride_, last.start, last.single, last.pair, found.limit(), hit_.data()))
            record_marked_pairs(last, depth, found);
        take_triples_back(level, k);
    }
}

/// Record all sets of a size >= 3 that bring the margin down to the limit; false when the budget ends.
bool CubicSearch::search_size(std::size_t size, Found& found, Budget& budget) {
    const std::size_t deepest = size - 3;
    make_buffers(deepest + 1);
    grow(viable_, (deepest + 1) * n_);
    mark_viable(root_, size, found.limit() - root_.start, viable_.data());
    if (size == 3) {
        record_triples(root_, viable_.data(), 0, found);
        return true;
    }
    top_[0] = n_;
    for (std::size_t depth = 0;;) {
        const std::size_t left = size - depth;
        const std::uint8_t* viable = viable_.data() + depth * n_;
        std::size_t pick = top_[depth];
        while (pick >= left && !viable[pick - 1]) --pick;
        if (pick < left) {
            if (depth == 0) return true;
            --depth;
            continue;
        }
        top_[depth] = --pick;
        picks_[depth] = static_cast<std::int32_t>(pick);
        const Level level = levels_[depth + 1] = after_pick(levels_[depth], pick, depth);
        const std::size_t rest = left - 1;
        std::int64_t work = static_cast<std::int64_t>(pick * pick) + 50;
        if (rest <= 4 || may_cross(level, rest, found.limit())) {
            std::uint8_t* below = viable_.data() + (depth + 1) * n_;
            mark_viable(level, rest, found.limit() - level.start, below);
            if (rest > 3) {
                top_[++depth] = pick;
            } else {
                work += static_cast<std::int64_t>(pick * pick * pick) / 12;
                record_triples(level, below, depth + 1, found);
            }
        }
        if (!budget.spend(work)) return false;
    }
}

Ending CubicSearch::search(std::int64_t from, std::int64_t last, std::int64_t max_size, const ProofEffort& effort,
                           BestSets& sets, Budget& budget) {
    const auto n = static_cast<std::int64_t>(n_);
    budget.spend(n * n * n);
    collect_triples();
    find_least_partners();
    Found found(sets, feature_.data());
    const bool may_exist = bound_sizes(found.limit()), may_ask = last > 3 && max_size >= effort.from_size;
    if (!may_exist && may_ask) return {Outcome::none, n};
    bool asked = false;
    for (std::int64_t size = from; size <= n; ++size) {
        if (size > max_size) return {Outcome::too_large, max_size};
        if (size > last) return {Outcome::open, size - 1};
        if (size >= effort.from_size && !asked) {
            const Answer answer = exists(found.limit(), budget, effort.share * budget.used() + effort.work);
            if (answer == Answer::no) return {Outcome::none, n};
            asked = answer == Answer::yes;
        }
        if (size_bound_[static_cast<std::size_t>(size)] > found.limit()) continue;
        if (!search_size(static_cast<std::size_t>(size), found, budget)) return {Outcome::spent, size - 1};
        if (found.any()) return {Outcome::found, size - 1};
    }
    return {Outcome::none, n};
}

}  // namespace sev::trees
