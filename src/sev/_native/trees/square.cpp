#include "trees/square.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/lanes.hpp"

namespace sev::trees {

SEV_WIDE_REGISTERS
void copy_square(std::size_t n, std::size_t stride, const double* from, double* to) {
    for (std::size_t j = 0; j < n; ++j, from += stride, to += stride)
        for (std::size_t i = 0; i < n; i += lanes) Lanes::load(from + i).store(to + i);
}

SEV_WIDE_REGISTERS
void add_row(std::size_t n, const double* one, const double* other, double* to) {
    for (std::size_t i = 0; i < n; i += lanes) (Lanes::load(one + i) + Lanes::load(other + i)).store(to + i);
}

namespace {

/// Calls back for all columns up to n, two steps of them at once where there are two: sums and minima down a column wait
/// for each other, those of two steps do not.
template <class Use>
SEV_INSIDE void for_columns(std::size_t n, const Use& use) {
    std::size_t i = 0;
    for (; i + lanes < n; i += 2 * lanes) use(i, std::integral_constant<std::size_t, 2>());
    if (i < n) use(i, std::integral_constant<std::size_t, 1>());
}

}  // namespace

SEV_WIDE_REGISTERS
void find_lowest_shares(std::size_t n, std::size_t stride, const PairShares& shares, const double* single,
                        double others, double* lowest) {
    const Lanes third = Lanes::all(1.0 / 3.0), more = Lanes::all(shares.more);
    for_columns(n, [&](std::size_t i, auto steps) SEV_INSIDE_LAMBDA {
        Lanes one[steps()], two[steps()];
        for (std::size_t s = 0; s < steps(); ++s) one[s] = two[s] = Lanes::all(std::numeric_limits<double>::infinity());
        for (std::size_t j = 0, at = i; j < n; ++j, at += stride)
            for (std::size_t s = 0; s < steps(); ++s) {
                const std::size_t here = at + s * lanes;
                const Lanes value = Lanes::load(shares.pair + here) + (third * Lanes::load(shares.least + here) +
                                                                      more * Lanes::load(shares.second + here));
                two[s] = lower(two[s], higher(one[s], value));
                one[s] = lower(one[s], value);
            }
        for (std::size_t s = 0; s < steps(); ++s)
            (Lanes::load(single + i + s * lanes) + Lanes::all(0.5) * (one[s] + Lanes::all(others) * two[s]))
                .store(lowest + i + s * lanes);
    });
}

SEV_WIDE_REGISTERS
void share_negative_terms(std::size_t n, std::size_t stride, const double* single, const double* pair,
                          const double* third, double* weight) {
    const Lanes zero = Lanes::all(0.0), half = Lanes::all(0.5);
    for_columns(n, [&](std::size_t i, auto steps) SEV_INSIDE_LAMBDA {
        Lanes sum[steps()];
        for (std::size_t s = 0; s < steps(); ++s) sum[s] = zero;
        for (std::size_t j = 0, at = i; j < n; ++j, at += stride)
            for (std::size_t s = 0; s < steps(); ++s) {
                const std::size_t here = at + s * lanes;
                sum[s] = sum[s] + lower(Lanes::load(pair + here) + Lanes::load(third + here), zero);
            }
        for (std::size_t s = 0; s < steps(); ++s)
            (Lanes::load(single + i + s * lanes) + half * sum[s]).store(weight + i + s * lanes);
    });
}

namespace {

/// The shares of one feature with all that are below it; returns its own part.
SEV_INSIDE double share_row(std::size_t n, const double* pair, double* effect) {
    const Lanes zero = Lanes::all(0.0), half = Lanes::all(0.5);
    Lanes sum = zero;
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const Lanes share = lower(half * Lanes::load(pair + i), zero);
        (Lanes::load(effect + i) + share).store(effect + i);
        sum = sum + share;
    }
    double sums[lanes];
    sum.store(sums);
    for (; i < n; ++i) {
        const double share = std::min(0.0, 0.5 * pair[i]);
        effect[i] += share;
        sums[0] += share;
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

SEV_WIDE_REGISTERS
void share_halves(std::size_t n, const double* pair, double* effect) {
    for (std::size_t j = 1; j < n; ++j) {
        effect[j] += share_row(j, pair, effect);
        pair += j;
    }
}

namespace {

/// Of the numbers below i those that come before number i; the others come after one more.
SEV_INSIDE std::int64_t count_before(std::size_t i, const double* __restrict values, std::int64_t* __restrict before) {
    const double value = values[i];
    std::int64_t ahead = 0;
    for (std::size_t j = 0; j < i; ++j) {
        const std::int64_t is_ahead = values[j] >= value ? 1 : 0;
        ahead += is_ahead;
        before[j] += 1 - is_ahead;
    }
    return ahead;
}

}  // namespace

SEV_WIDE_REGISTERS
void sort_falling(std::size_t n, double* values, std::size_t* places) {
    for (std::size_t i = 0; i < n; ++i)
        if (values[i] != values[i]) values[i] = std::numeric_limits<double>::infinity();
    // How many come before each: counting needs no branch that could be guessed wrong.
    std::int64_t before[most_columns];
    for (std::size_t i = 0; i < n; ++i) before[i] = count_before(i, values, before);
    for (std::size_t i = 0; i < n; ++i) places[before[i]] = i;
}

SEV_WIDE_REGISTERS
bool mark_pairs(std::size_t n, std::size_t stride, double start, const double* single, const double* pair,
                double limit, std::uint8_t* hit) {
    bool any = false;
    for (std::size_t j = 1; j < n; ++j) {
        const Lanes here = Lanes::all(start + single[j]);
        Lanes lowest = Lanes::all(std::numeric_limits<double>::infinity());
        for (std::size_t i = 0; i < j; i += lanes)
            lowest = lower(lowest, here + (Lanes::load(single + i) + Lanes::load(pair + j * stride + i)));
        hit[j] = lowest_of(lowest) <= limit;
        any |= hit[j] != 0;
    }
    return any;
}

}  // namespace sev::trees
