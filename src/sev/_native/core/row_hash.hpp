// A number for each row that depends on its values alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/views.hpp"

namespace sev {

/// Spreads a number over all bits, the same on every machine (the finaliser of splitmix64).
inline std::uint64_t scramble(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/// One hash a row; 0.0 and -0.0 are one value, and so are all kinds of NaN.
inline std::vector<std::uint64_t> hash_rows(const Matrix<const double>& rows) {
    std::vector<std::uint64_t> factors(rows.n_columns()), hashes(rows.n_rows());
    for (std::size_t c = 0; c < factors.size(); ++c) factors[c] = scramble(c + 1) | 1;
    for (std::size_t r = 0; r < hashes.size(); ++r) {
        const double* row = rows.row(r);
        std::uint64_t sum = 0;
        for (std::size_t c = 0; c < factors.size(); ++c) {
            const double x = row[c] != row[c] ? std::numeric_limits<double>::quiet_NaN() : row[c] + 0.0;
            std::uint64_t bits;
            std::memcpy(&bits, &x, sizeof bits);
            sum += bits * factors[c];
        }
        hashes[r] = scramble(sum);
    }
    return hashes;
}

}  // namespace sev
