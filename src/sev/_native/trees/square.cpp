#include "trees/square.hpp"

#include <limits>

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

SEV_WIDE_REGISTERS
void find_lowest_shares(std::size_t n, std::size_t stride, const PairShares& shares, double* low, double* next_low) {
    const Lanes third = Lanes::all(1.0 / 3.0), more = Lanes::all(shares.more);
    for (std::size_t i = 0; i < n; i += lanes) {
        Lanes one = Lanes::all(std::numeric_limits<double>::infinity()), two = one;
        for (std::size_t j = 0, at = i; j < n; ++j, at += stride) {
            const Lanes value = Lanes::load(shares.pair + at) +
                                (third * Lanes::load(shares.least + at) + more * Lanes::load(shares.second + at));
            two = lower(two, higher(one, value));
            one = lower(one, value);
        }
        one.store(low + i);
        two.store(next_low + i);
    }
}

SEV_WIDE_REGISTERS
void share_negative_terms(std::size_t n, std::size_t stride, const double* single, const double* pair,
                          const double* third, double* weight) {
    const Lanes zero = Lanes::all(0.0), half = Lanes::all(0.5);
    for (std::size_t i = 0; i < n; i += lanes) {
        Lanes sum = zero;
        for (std::size_t j = 0, at = i; j < n; ++j, at += stride)
            sum = sum + lower(Lanes::load(pair + at) + Lanes::load(third + at), zero);
        (Lanes::load(single + i) + half * sum).store(weight + i);
    }
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
