// Views of arrays that somebody else owns, and a few operations on bits.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace sev {

template <class T>
class Span {
public:
    Span() = default;
    Span(T* data, std::size_t size) : data_(data), size_(size) {}
    T& operator[](std::size_t at) const { return data_[at]; }
    T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size_; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Rows one after the other.
template <class T>
class Matrix {
public:
    Matrix() = default;
    Matrix(T* data, std::size_t n_rows, std::size_t n_columns) : data_(data), n_rows_(n_rows), n_columns_(n_columns) {}
    T* row(std::size_t at) const { return data_ + at * n_columns_; }
    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_columns() const { return n_columns_; }

private:
    T* data_ = nullptr;
    std::size_t n_rows_ = 0, n_columns_ = 0;
};

inline int count_bits(std::uint64_t word) {
#if defined(_MSC_VER)
    int count = 0;
    for (; word != 0; word &= word - 1) ++count;
    return count;
#else
    return __builtin_popcountll(word);
#endif
}

/// The place of the lowest bit of a word that is not zero.
inline std::size_t lowest_bit(std::uint64_t word) {
#if defined(_MSC_VER)
    unsigned long place = 0;
    _BitScanForward64(&place, word);
    return place;
#else
    return static_cast<std::size_t>(__builtin_ctzll(word));
#endif
}

/// Where a set of features has the bit of one feature.
inline std::size_t word_of(std::size_t feature) { return feature >> 6; }
inline std::uint64_t bit_of(std::size_t feature) { return std::uint64_t{1} << (feature & 63); }

/// Start to load what will be read soon.
inline void prefetch(const void* from) {
#if defined(__GNUC__)
    __builtin_prefetch(from);
#else
    (void)from;
#endif
}

/// Copies of the hottest loops for wider registers, chosen when the extension is loaded. They add in the same order.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__)
#define SEV_WIDE_REGISTERS __attribute__((target_clones("default", "avx2")))
#else
#define SEV_WIDE_REGISTERS
#endif
/// Part of such a loop: compiled anew in each copy.
#if defined(__GNUC__)
#define SEV_INSIDE inline __attribute__((always_inline))
#define SEV_INSIDE_LAMBDA __attribute__((always_inline))
#else
#define SEV_INSIDE inline
#define SEV_INSIDE_LAMBDA
#endif

}  // namespace sev
