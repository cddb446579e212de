// Four numbers at once. GCC's own vectors are used where they exist, because it does not make branch-free code of a
// minimum in a plain loop; other compilers do.
#pragma once

#include <cstddef>
#include <cstring>

#include "core/views.hpp"

namespace sev {

#if defined(__GNUC__) && !defined(__clang__)

struct Lanes {
    typedef double Four __attribute__((vector_size(32)));
    Four at;

    SEV_INSIDE static Lanes load(const double* from) {
        Lanes some;
        std::memcpy(&some.at, from, sizeof some.at);
        return some;
    }
    SEV_INSIDE static Lanes all(double value) { return {Four{value, value, value, value}}; }
    SEV_INSIDE void store(double* to) const { std::memcpy(to, &at, sizeof at); }
};

SEV_INSIDE Lanes operator+(const Lanes& one, const Lanes& other) { return {one.at + other.at}; }
SEV_INSIDE Lanes operator*(const Lanes& one, const Lanes& other) { return {one.at * other.at}; }
SEV_INSIDE Lanes lower(const Lanes& one, const Lanes& other) { return {one.at < other.at ? one.at : other.at}; }
SEV_INSIDE Lanes higher(const Lanes& one, const Lanes& other) { return {one.at > other.at ? one.at : other.at}; }

#else

struct Lanes {
    double at[4];

    SEV_INSIDE static Lanes load(const double* from) { return {{from[0], from[1], from[2], from[3]}}; }
    SEV_INSIDE static Lanes all(double value) { return {{value, value, value, value}}; }
    SEV_INSIDE void store(double* to) const {
        for (std::size_t lane = 0; lane < 4; ++lane) to[lane] = at[lane];
    }
};

template <class Combine>
SEV_INSIDE Lanes combine(const Lanes& one, const Lanes& other, const Combine& of) {
    return {{of(one.at[0], other.at[0]), of(one.at[1], other.at[1]), of(one.at[2], other.at[2]), of(one.at[3], other.at[3])}};
}
SEV_INSIDE Lanes operator+(const Lanes& one, const Lanes& other) {
    return combine(one, other, [](double a, double b) { return a + b; });
}
SEV_INSIDE Lanes operator*(const Lanes& one, const Lanes& other) {
    return combine(one, other, [](double a, double b) { return a * b; });
}
SEV_INSIDE Lanes lower(const Lanes& one, const Lanes& other) {
    return combine(one, other, [](double a, double b) { return a < b ? a : b; });
}
SEV_INSIDE Lanes higher(const Lanes& one, const Lanes& other) {
    return combine(one, other, [](double a, double b) { return a > b ? a : b; });
}

#endif

/// The lowest of the four.
SEV_INSIDE double lowest_of(const Lanes& some) {
    const double left = some.at[0] < some.at[1] ? some.at[0] : some.at[1];
    const double right = some.at[2] < some.at[3] ? some.at[2] : some.at[3];
    return left < right ? left : right;
}

}  // namespace sev
