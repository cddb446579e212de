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

/// For each of n features its single term and half of what it may get at most of ``others`` + 1 pairs: its lowest share,
/// and so many times the next.
void find_lowest_shares(std::size_t n, std::size_t stride, const PairShares& shares, const double* single,
                        double others, double* lowest);

/// For each of n features its single term and half of each pair that is below zero, with what ``third`` adds to it.
void share_negative_terms(std::size_t n, std::size_t stride, const double* single, const double* pair,
                          const double* third, double* weight);

/// Add half of each pair below zero, in a table as in ``tables.hpp``, to what either of its features has.
void share_halves(std::size_t n, const double* pair, double* effect);

/// More than there are features in a table of triples.
constexpr std::size_t most_columns = 256;

/// The places of n numbers, at most ``most_columns``, the highest number first; equal ones stay in order. NaN counts as
/// the highest.
void sort_falling(std::size_t n, double* values, std::size_t* places);

/// Mark which of n features may be the higher one of a pair that brings the margin down to the limit; whether any may.
bool mark_pairs(std::size_t n, std::size_t stride, double start, const double* single, const double* pair,
                double limit, std::uint8_t* hit);

}  // namespace sev::trees
