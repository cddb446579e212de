// Loops over square tables of pairs, several entries in one step.
//
// A table has ``stride`` entries a row, a multiple of ``lanes``; loops over the first n columns of it run on to the next
// multiple of ``lanes``. What they read and write beyond column n is of no meaning.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sev::trees {

constexpr std::size_t lanes = 4;
inline std::size_t pad(std::size_t n) { return (n + lanes - 1) / lanes * lanes; }

/// Copy the first n rows and columns.
void copy_square(std::size_t n, std::size_t stride, const double* from, double* to);

/// Add one row to another.
void add_row(std::size_t n, const double* one, const double* other, double* to);

/// What a pair may count for at most in a set: itself, a third of its lowest triple and ``more`` times the second.
struct PairShares {
    const double* pair;
    const double* least;
    const double* second;
    double more;
};

/// The two lowest shares that each of n features has of its pairs.
void find_lowest_shares(std::size_t n, std::size_t stride, const PairShares& shares, double* low, double* next_low);

/// For each of n features its single term and half of each pair that is below zero, with what ``third`` adds to it.
void share_negative_terms(std::size_t n, std::size_t stride, const double* single, const double* pair,
                          const double* third, double* weight);

/// Mark which of n features may be the higher one of a pair that brings the margin down to the limit; whether any may.
bool mark_pairs(std::size_t n, std::size_t stride, double start, const double* single, const double* pair,
                double limit, std::uint8_t* hit);

}  // namespace sev::trees
