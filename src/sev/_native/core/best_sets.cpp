#include "core/best_sets.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sev {

void BestSets::begin(double limit, double grid) {
    limit_ = limit;
    grid_ = grid;
    count_ = 0;
    entries_.clear();
    sets_.clear();
}

bool BestSets::is_before(const Entry& one, const Entry& other) const {
    if (std::fabs(one.value - other.value) > grid_) return one.value < other.value;
    return has_lower_features(one, other);
}

bool BestSets::has_lower_features(const Entry& one, const Entry& other) const {
    const std::uint64_t *mine = set_of(one), *theirs = set_of(other);
    for (std::size_t w = 0; w < n_words_; ++w) {
        const std::uint64_t different = mine[w] ^ theirs[w];
        if (different != 0) return (mine[w] & different & (~different + 1)) != 0;  // who has the lowest one
    }
    return false;
}

void BestSets::sift_down(std::size_t at) {
    const std::size_t size = entries_.size();
    for (;;) {
        std::size_t worst = at;
        for (std::size_t child = 2 * at + 1; child < size && child <= 2 * at + 2; ++child)
            if (is_before(entries_[worst], entries_[child])) worst = child;
        if (worst == at) return;
        std::swap(entries_[at], entries_[worst]);
        at = worst;
    }
}

void BestSets::add(const std::uint64_t* set, double value) {
    ++count_;
    if (entries_.size() < most_) {
        entries_.push_back({value, entries_.size()});
        sets_.insert(sets_.end(), set, set + n_words_);
        return;
    }
    if (count_ == most_ + 1) {
        sets_.resize((most_ + 1) * n_words_);
        spare_ = most_;
        for (std::size_t at = most_ / 2 + 1; at-- > 0;) sift_down(at);
    }
    const Entry entry{value, spare_};
    std::copy_n(set, n_words_, sets_.begin() + static_cast<std::ptrdiff_t>(spare_ * n_words_));
    if (is_before(entry, entries_[0])) {
        spare_ = entries_[0].slot;
        entries_[0] = entry;
        sift_down(0);
    }
    limit_ = std::min(limit_, entries_[0].value + grid_);
}

void BestSets::sort() {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& one, const Entry& other) { return one.value < other.value; });
    for (auto begin = entries_.begin(); begin != entries_.end();) {
        auto end = begin + 1;
        while (end != entries_.end() && end->value - (end - 1)->value <= grid_) ++end;
        if (end - begin > 1)
            std::sort(begin, end, [this](const Entry& one, const Entry& other) { return has_lower_features(one, other); });
        begin = end;
    }
}

void BestSets::write(std::vector<std::uint64_t>& sets, std::vector<double>& values) {
    if (entries_.size() > 1) sort();
    for (const Entry& entry : entries_) {
        const std::uint64_t* set = set_of(entry);
        sets.insert(sets.end(), set, set + n_words_);
        values.push_back(entry.value);
    }
}

}  // namespace sev
