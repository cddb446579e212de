// Where searches over numbered features report the sets that they find.
#pragma once

#include <cstdint>
#include <vector>

#include "core/best_sets.hpp"
#include "core/views.hpp"

namespace sev::trees {

/// How the search for one row ended.
enum class Outcome : std::int8_t {
    found,      // all sets of the smallest size
    none,       // no set crosses
    too_large,  // none up to the size limit does
    open,       // none up to the proven size does; larger ones were not searched
    spent,      // the budget ended first
};

struct Ending {
    Outcome outcome;
    std::int64_t proven;  // the largest size of which it is known that no set crosses
};

/// Sets in the numbers of one search, handed on as sets of features; without ``feature_of`` the numbers are features.
class Found {
public:
    Found(BestSets& sets, const std::int32_t* feature_of) : sets_(sets), feature_of_(feature_of), set_(sets.n_words()) {}

    double limit() const { return sets_.limit(); }
    bool any() const { return sets_.count() > 0; }

    void record(const std::int32_t* picks, int size, double value) {
        for (std::uint64_t& word : set_) word = 0;
        for (int p = 0; p < size; ++p) {
            const auto feature = static_cast<std::size_t>(feature_of_ == nullptr ? picks[p] : feature_of_[picks[p]]);
            set_[word_of(feature)] |= bit_of(feature);
        }
        sets_.add(set_.data(), value);
    }

private:
    BestSets& sets_;
    const std::int32_t* feature_of_;
    std::vector<std::uint64_t> set_;
};

}  // namespace sev::trees
