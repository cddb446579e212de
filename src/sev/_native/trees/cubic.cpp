#include "trees/cubic.hpp"

#include <algorithm>
#include <limits>

namespace sev::trees {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The tables of the features below a pick once it is in the set.
SEV_INSIDE void fold_inside(std::size_t pick, const double* single, const double* pair, const double* triple, double* to_single,
          double* to_pair) {
    const std::size_t front = n_pairs(pick);
    const double *beside_single = pair + front, *beside_pair = triple + n_triples(pick);
    for (std::size_t i = 0; i < pick; ++i) to_single[i] = single[i] + beside_single[i];
    for (std::size_t e = 0; e < front; ++e) to_pair[e] = pair[e] + beside_pair[e];
}

SEV_WIDE_REGISTERS
void fold(std::size_t pick, const double* single, const double* pair, const double* triple, double* to_single,
          double* to_pair) {
    fold_inside(pick, single, pair, triple, to_single, to_pair);
}

/// Whether any feature below n brings the margin down to the limit, with one whose pairs begin at ``pair``.
SEV_INSIDE bool any_low(std::size_t n, double here, const double* single, const double* pair, double limit) {
    std::int64_t hits = 0;
    for (std::size_t i = 0; i < n; ++i) hits += here + (single[i] + pair[i]) <= limit ? 1 : 0;
    return hits != 0;
}

/// One feature's share of each pair below it, and the two lowest shares that each feature has met so far.
SEV_INSIDE void share_pairs(std::size_t n, const double* pair, const double* least, const double* second, double more,
                 double* beside, double* low, double* next_low) {
    constexpr double third = 1.0 / 3.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double value = pair[i] + third * least[i] + more * second[i];
        beside[i] = value;
        const double other = low[i] > value ? low[i] : value;
        next_low[i] = other < next_low[i] ? other : next_low[i];
        low[i] = value < low[i] ? value : low[i];
    }
}

/// Half of each pair below zero goes to either feature; returns what the higher one gets in all.
double share_halves_of(std::size_t n, const double* pair, double* effect) {
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double half = 0.5 * std::min(pair[i], 0.0);
        effect[i] += half;
        total += half;
    }
    return total;
}

/// Half of each entry below zero goes to either feature; returns what the higher one gets in all.
SEV_INSIDE double share_halves(std::size_t n, const double* pair, const double* third, double* weight) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const double entry = pair[i + lane] + third[i + lane];
            const double half = entry < 0.0 ? 0.5 * entry : 0.0;
            weight[i + lane] += half;
            sums[lane] += half;
        }
    for (; i < n; ++i) {
        const double entry = pair[i] + third[i];
        const double half = entry < 0.0 ? 0.5 * entry : 0.0;
        weight[i] += half;
        sums[0] += half;
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// For each feature the two lowest shares of its pairs.
struct Shares {
    const double* pair;
    const double* least;
    const double* second;
    double more;
    double *beside, *low, *next_low;
};

SEV_WIDE_REGISTERS
void lowest_shares(std::size_t n, const Shares& to) {
    for (std::size_t j = 0; j < n; ++j) {
        const std::size_t front = n_pairs(j);
        share_pairs(j, to.pair + front, to.least + front, to.second + front, to.more, to.beside, to.low, to.next_low);
        // Four at a time: each lane has the two lowest that it has met.
        double one[4] = {infinity, infinity, infinity, infinity}, two[4] = {infinity, infinity, infinity, infinity};
        for (std::size_t i = j; i < ((j + 3) & ~std::size_t{3}); ++i) to.beside[i] = infinity;
        for (std::size_t i = 0; i < j; i += 4)
            for (std::size_t lane = 0; lane < 4; ++lane) {
                const double value = to.beside[i + lane], other = one[lane] > value ? one[lane] : value;
                two[lane] = other < two[lane] ? other : two[lane];
                one[lane] = value < one[lane] ? value : one[lane];
            }
        for (std::size_t lane = 1; lane < 4; ++lane) {
            two[0] = std::min({two[0], two[lane], std::max(one[0], one[lane])});
            one[0] = std::min(one[0], one[lane]);
        }
        to.low[j] = one[0];
        to.next_low[j] = two[0];
    }
}

/// Weights with which terms below zero are shared out among their features.
SEV_WIDE_REGISTERS
void share_terms(std::size_t n, const double* single, const double* pair, const double* third, double* weight) {
    for (std::size_t i = 0; i < n; ++i) weight[i] = single[i];
    for (std::size_t j = 1; j < n; ++j)
        weight[j] += share_halves(j, pair + n_pairs(j), third + n_pairs(j), weight);
}

/// Whether any pair of the features below n brings the margin down to the limit; ``hit`` has those that may be the
/// higher one.
SEV_WIDE_REGISTERS
bool mark_pairs(std::size_t n, double start, const double* single, const double* pair, double limit,
                std::uint8_t* hit) {
    bool any = false;
    for (std::size_t j = 1; j < n; ++j) {
        hit[j] = any_low(j, start + single[j], single, pair + n_pairs(j), limit);
        any |= hit[j] != 0;
    }
    return any;
}

template <class T>
void grow(std::vector<T>& some, std::size_t size) {
    if (some.size() < size) some.resize(size);
}

/// Put a value into an ascending list of at most ``most``.
std::size_t insert_lowest(double* lowest, std::size_t kept, std::size_t most, double value) {
    if (kept == most) {
        if (value >= lowest[most - 1]) return kept;
        --kept;
    }
    std::size_t at = kept;
    for (; at > 0 && lowest[at - 1] > value; --at) lowest[at] = lowest[at - 1];
    lowest[at] = value;
    return kept + 1;
}

}  // namespace

void CubicSearch::arrange(const PairTables& tables, const std::uint8_t* usable, const std::int32_t* feature_of) {
    clear_triples();
    const double *single = tables.single(), *pair = tables.pair();
    grow(order_, tables.n);
    effect_.assign(single, single + tables.n);
    for (std::size_t j = 1; j < tables.n; ++j)
        effect_[j] += share_halves_of(j, pair + n_pairs(j), effect_.data());
    place_.assign(tables.n, -1);
    n_ = 0;
    for (std::size_t i = 0; i < tables.n; ++i) {
        if (usable != nullptr && usable[i] == 0) continue;
        std::size_t at = n_++;
        for (; at > 0 && effect_[order_[at - 1]] < effect_[i]; --at) order_[at] = order_[at - 1];
        order_[at] = i;
    }
    start_ = tables.start;
    grow(single_, n_);
    grow(feature_, n_);
    grow(pair_, n_pairs(n_));
    if (triple_.size() < n_triples(n_)) triple_.resize(n_triples(n_), 0.0);
    for (std::size_t b = 0; b < n_; ++b) {
        place_[order_[b]] = static_cast<std::int32_t>(b);
        feature_[b] = feature_of == nullptr ? static_cast<std::int32_t>(order_[b]) : feature_of[order_[b]];
        single_[b] = single[order_[b]];
        for (std::size_t a = 0; a < b; ++a) pair_[n_pairs(b) + a] = pair[pair_at(order_[b], order_[a])];
    }
}

void CubicSearch::clear_triples() {
    for (const std::uint32_t packed : met_)
        triple_[triple_at(packed & 0xFF, (packed >> 8) & 0xFF, packed >> 16)] = 0.0;
    met_.clear();
}

void CubicSearch::add_term(std::size_t one, std::size_t two, std::size_t three, double value) {
    if (place_[one] < 0 || place_[two] < 0 || place_[three] < 0) return;
    auto low = static_cast<std::uint32_t>(place_[one]), mid = static_cast<std::uint32_t>(place_[two]),
         high = static_cast<std::uint32_t>(place_[three]);
    if (low > mid) std::swap(low, mid);
    if (mid > high) std::swap(mid, high);
    if (low > mid) std::swap(low, mid);
    double& term = triple_[triple_at(low, mid, high)];
    if (term == 0.0) met_.push_back(low | mid << 8 | high << 16);  // a term that came back to zero is listed twice
    term += value;
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

/// For each pair the two lowest terms with a third feature, and a third of the sum of all, where below zero.
void CubicSearch::find_least_partners() {
    const std::size_t size = n_pairs(n_);
    least_.assign(size, 0.0);
    second_.assign(size, 0.0);
    third_.assign(size, 0.0);
    for (const std::uint32_t packed : met_) {  // a term that is listed twice makes the bounds looser, not wrong
        const std::size_t i = packed & 0xFF, j = (packed >> 8) & 0xFF, k = packed >> 16;
        const double value = triple_[triple_at(i, j, k)];
        if (value >= 0.0) continue;
        for (const std::size_t e : {n_pairs(k) + j, n_pairs(k) + i, n_pairs(j) + i}) {
            third_[e] += value / 3.0;
            if (value < least_[e]) {
                second_[e] = least_[e];
                least_[e] = value;
            } else if (value < second_[e]) {
                second_[e] = value;
            }
        }
    }
}

/// Mark the features that may have the highest number in a set of ``size`` >= 3.
///
/// Every term of a set is shared out among its features: halves of pairs, thirds of triples through their pairs. A
/// feature takes the lowest terms that it could possibly get, so the sum over a set is never above the truth.
void CubicSearch::mark_viable(const Level& level, int size, double slack, std::uint8_t* viable) {
    const std::size_t n = level.n;
    lowest_shares(n, {level.pair, least_.data(), second_.data(), (size - 3) / 3.0, beside_.data(), low_.data(),
                      next_low_.data()});
    const auto most = static_cast<std::size_t>(size - 1);
    std::size_t kept = 0;  // how many of the lowest shares so far are in the list
    for (std::size_t i = 0; i < n; ++i) {
        const double share = level.single[i] + 0.5 * (low_[i] + (size - 2) * next_low_[i]);
        double total = share;
        for (std::size_t at = 0; at < kept; ++at) total += lowest_[at];
        viable[i] = kept == most && total <= slack;
        kept = insert_lowest(lowest_.data(), kept, most, share);
    }
}

/// A bound from below on the margin of every set; leaves the weights behind it in ``weight_``.
///
/// Terms below zero are shared out among their features. A term b above zero of two features that both lower the margin
/// takes something back: for x and y of 0 or 1, b x y is at least c (x + y - 1) for every c up to b.
double CubicSearch::lowest_margin(const Level& level) {
    const std::size_t n = level.n;
    share_terms(n, level.single, level.pair, third_.data(), weight_.data());
    double low = level.start;
    for (std::size_t j = n; j-- > 1;) {
        const double *pair = level.pair + n_pairs(j), *third = third_.data() + n_pairs(j);
        double own = weight_[j];
        for (std::size_t i = j; i-- > 0 && own < 0.0;) {
            const double back = std::min({pair[i] + third[i], -own, -weight_[i]});
            if (back <= 0.0) continue;
            weight_[i] += back;
            own += back;
            low -= back;
        }
        weight_[j] = own;
        low += std::min(own, 0.0);
    }
    return n > 0 ? low + std::min(weight_[0], 0.0) : low;
}

/// Whether the weights behind the lowest margin leave a set of this size.
bool CubicSearch::may_cross(const Level& level, int size, double limit) {
    double low = lowest_margin(level);
    if (low > limit) return false;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < level.n; ++i) {
        low -= std::min(weight_[i], 0.0);  // only the lowest count, whatever their sign
        kept = insert_lowest(lowest_.data(), kept, static_cast<std::size_t>(size), weight_[i]);
    }
    for (std::size_t i = 0; i < kept; ++i) low += lowest_[i];
    return kept == static_cast<std::size_t>(size) && low <= limit;
}

/// Most rows have a set, and most of them one of the features that still lower the margin when their turn comes.
bool CubicSearch::finds_by_greed(double limit) {
    const double *single = single_.data(), *pair = pair_.data();
    double value = start_;
    for (std::size_t pick = n_; pick-- > 0;) {
        if (single[pick] >= 0.0) continue;
        value += single[pick];
        if (value <= limit) return true;
        fold(pick, single, pair, triple_.data(), singles_.data(), pairs_.data());
        single = singles_.data();
        pair = pairs_.data();
    }
    return false;
}

/// Whether a set of any size brings the margin down to the limit.
CubicSearch::Answer CubicSearch::exists(double limit, Budget& budget, std::int64_t work) {
    const std::size_t n = n_, size = n_pairs(n);
    grow(singles_, (n + 1) * n);
    grow(pairs_, (n + 1) * size);
    grow(values_, n + 1);
    grow(top_, n + 1);
    if (finds_by_greed(limit)) return Answer::yes;
    std::copy_n(single_.begin(), n, singles_.begin());
    std::copy_n(pair_.begin(), size, pairs_.begin());
    values_[0] = start_;
    top_[0] = n;
    const std::int64_t last = budget.used() + work;
    for (std::size_t depth = 0;;) {
        const double *single = singles_.data() + depth * n, *pair = pairs_.data() + depth * size;
        const std::size_t left = top_[depth];
        budget.spend(static_cast<std::int64_t>(left * left) + 20);
        if (left == 0 || lowest_margin({single, pair, values_[depth], left}) > limit) {
            if (depth == 0) return Answer::no;
            --depth;
            continue;
        }
        const std::size_t pick = left - 1;
        top_[depth] = pick;
        const double value = values_[depth] + single[pick];
        if (value <= limit) return Answer::yes;
        if (budget.used() > last || budget.spent()) return Answer::unknown;
        ++depth;
        fold(pick, single, pair, triple_.data(), singles_.data() + depth * n, pairs_.data() + depth * size);
        values_[depth] = value;
        top_[depth] = pick;
    }
}

/// Record every triple that brings the margin down to the limit, after ``depth`` picks.
void CubicSearch::record_triples(const Level& level, const std::uint8_t* viable, int depth, Found& found) {
    double *single = low_.data(), *pair = beside_.data();  // free again once the marks are made
    for (std::size_t k = 2; k < level.n; ++k) {
        if (!viable[k]) continue;
        fold(k, level.single, level.pair, triple_.data(), single, pair);
        const double picked = level.start + level.single[k];
        if (!mark_pairs(k, picked, single, pair, found.limit(), hit_.data())) continue;
        for (std::size_t j = 1; j < k; ++j) {
            if (!hit_[j]) continue;
            const double here = picked + single[j];
            const double* row = pair + n_pairs(j);
            for (std::size_t i = 0; i < j; ++i) {
                const double value = here + (single[i] + row[i]);
                if (value > found.limit()) continue;
                picks_[static_cast<std::size_t>(depth)] = static_cast<std::int32_t>(i);
                picks_[static_cast<std::size_t>(depth) + 1] = static_cast<std::int32_t>(j);
                picks_[static_cast<std::size_t>(depth) + 2] = static_cast<std::int32_t>(k);
                found.record(picks_.data(), depth + 3, value);
            }
        }
    }
}

/// Record all sets of a size >= 3 that bring the margin down to the limit; false when the budget ends.
bool CubicSearch::search_size(int size, Found& found, Budget& budget) {
    const std::size_t n = n_, n_entries = n_pairs(n);
    const auto deepest = static_cast<std::size_t>(size - 3);
    grow(singles_, (deepest + 1) * n);
    grow(pairs_, (deepest + 1) * n_entries);
    grow(values_, deepest + 1);
    grow(top_, deepest + 1);
    grow(viable_, (deepest + 1) * n);
    grow(picks_, n);
    const Level root{single_.data(), pair_.data(), start_, n};
    if (size > 3 && !may_cross(root, size, found.limit())) return true;
    mark_viable(root, size, found.limit() - start_, viable_.data());
    if (size == 3) {
        record_triples(root, viable_.data(), 0, found);
        return true;
    }
    std::copy_n(single_.begin(), n, singles_.begin());
    std::copy_n(pair_.begin(), n_entries, pairs_.begin());
    values_[0] = start_;
    top_[0] = n;
    for (std::size_t depth = 0;;) {
        const std::size_t left = static_cast<std::size_t>(size) - depth;
        const std::uint8_t* viable = viable_.data() + depth * n;
        std::size_t pick = top_[depth];
        while (pick >= left && !viable[pick - 1]) --pick;
        if (pick < left) {
            if (depth == 0) return true;
            --depth;
            continue;
        }
        top_[depth] = --pick;
        picks_[depth] = static_cast<std::int32_t>(pick);
        const double *single = singles_.data() + depth * n, *pair = pairs_.data() + depth * n_entries;
        const double value = values_[depth] + single[pick];
        ++depth;
        double *to_single = singles_.data() + depth * n, *to_pair = pairs_.data() + depth * n_entries;
        fold(pick, single, pair, triple_.data(), to_single, to_pair);
        const Level level{to_single, to_pair, value, pick};
        const int rest = size - static_cast<int>(depth);
        std::int64_t work = static_cast<std::int64_t>(pick * pick) + 50;
        if (rest > 4 && !may_cross(level, rest, found.limit())) {
            --depth;
        } else {
            mark_viable(level, rest, found.limit() - value, viable_.data() + depth * n);
            if (depth < deepest) {
                top_[depth] = pick;
                values_[depth] = value;
            } else {
                work += static_cast<std::int64_t>(pick * pick * pick) / 12;
                record_triples(level, viable_.data() + depth * n, static_cast<int>(depth), found);
                --depth;
            }
        }
        if (!budget.spend(work)) return false;
    }
}

Ending CubicSearch::search(std::int64_t from, std::int64_t last, std::int64_t max_size, const ProofEffort& effort,
                           BestSets& sets, Budget& budget) {
    const auto n = static_cast<std::int64_t>(n_);
    budget.spend(n * n * n);
    for (std::vector<double>* scratch : {&low_, &next_low_, &weight_, &lowest_}) grow(*scratch, n_ + 1);
    grow(beside_, n_pairs(n_) + n_ + 4);
    grow(hit_, n_ + 1);
    find_least_partners();
    Found found(sets, feature_.data());
    bool asked = false;
    for (std::int64_t size = from; size <= n; ++size) {
        if (size > max_size) return {Outcome::too_large, max_size};
        if (size > last) return {Outcome::open, size - 1};
        if (size >= effort.from_size && !asked) {
            const Answer answer = exists(found.limit(), budget, effort.share * budget.used() + effort.work);
            if (answer == Answer::no) return {Outcome::none, n};
            asked = answer == Answer::yes;
        }
        if (!search_size(static_cast<int>(size), found, budget)) return {Outcome::spent, size - 1};
        if (found.any()) return {Outcome::found, size - 1};
    }
    return {Outcome::none, n};
}

}  // namespace sev::trees
