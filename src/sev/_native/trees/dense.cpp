#include "trees/dense.hpp"

#include <algorithm>
#include <cmath>

namespace sev::trees {

namespace {

SEV_WIDE_REGISTERS
void add_block(double* to, const double* from, std::size_t n) {
    for (std::size_t at = 0; at < n; ++at) to[at] += from[at];
}

}  // namespace

/// Write the margin of every set into the table; returns a bound on what rounding has done to it.
double DenseSearch::fill(const Row& row, Budget& budget) {
    const Cubes& cubes = row.cubes;
    const std::size_t n_sets = std::size_t{1} << n_;
    sums_.assign(n_sets, 0.0);
    sums_[0] = row.constant;
    double total = std::fabs(row.constant);
    for (int g = 0; g < n_; ++g) {
        sums_[std::size_t{1} << g] = row.linear[static_cast<std::size_t>(g)];
        total += std::fabs(row.linear[static_cast<std::size_t>(g)]);
    }
    for (std::size_t i = 0; i < cubes.n_cubes(); ++i) {
        std::uint32_t inside = 0, outside = 0;
        const std::int64_t middle = cubes.first[i] + cubes.need[i];
        for (std::int64_t a = cubes.first[i]; a < cubes.first[i + 1]; ++a)
            (a < middle ? inside : outside) |= 1u << cubes.member[static_cast<std::size_t>(a)];
        for (std::uint32_t some = outside;; some = (some - 1) & outside) {
            sums_[inside | some] += (count_bits(some) & 1) != 0 ? -cubes.leaf[i] : cubes.leaf[i];
            total += std::fabs(cubes.leaf[i]);
            if (some == 0) break;
        }
        budget.spend(std::int64_t{1} << count_bits(outside));
    }
    for (int g = 0; g < n_; ++g) {
        const std::size_t step = std::size_t{1} << g;
        for (std::size_t begin = 0; begin < n_sets; begin += 2 * step)
            add_block(sums_.data() + begin + step, sums_.data() + begin, step);
        budget.spend(static_cast<std::int64_t>(n_sets));
    }
    return addition_error * total * (static_cast<double>(cubes.n_cubes()) + 2.0 * n_ + 2.0);
}

/// The smallest size from ``from`` on of a set that may cross; one more than the features when there is none.
std::int64_t DenseSearch::least_size(std::int64_t from, double loose) const {
    std::int64_t least = n_ + 1;
    for (std::size_t at = 0; at < sums_.size(); ++at) {
        if (sums_[at] > loose) continue;
        const std::int64_t size = count_bits(at);
        if (from <= size && size < least) least = size;
    }
    return least;
}

/// Record every set of a size that may cross and does, added up cube by cube; false when the budget ends.
bool DenseSearch::record_all(const Row& row, std::int64_t size, double slack, Found& found, Budget& budget) {
    std::int32_t picks[most_features];
    for (std::size_t at = 0; at < sums_.size(); ++at) {
        if (sums_[at] > found.limit() + slack || count_bits(at) != size) continue;
        int n = 0;
        for (int g = 0; g < n_; ++g)
            if ((at >> g) & 1) picks[n++] = g;
        const double value = margin_of(row, picks, n, chosen_);
        if (value <= found.limit()) found.record(picks, n, value);
        if (!budget.spend(row.cubes.first.back())) return false;
    }
    return true;
}

Ending DenseSearch::search(const Row& row, std::int64_t from, std::int64_t max_size, Found& found, Budget& budget) {
    n_ = row.n();
    chosen_.assign(static_cast<std::size_t>(n_), 0);
    const double slack = fill(row, budget);
    for (std::int64_t size = from;; ++size) {
        size = least_size(size, found.limit() + slack);
        if (size > n_) return {Outcome::none, n_};
        if (size > max_size) return {Outcome::too_large, max_size};
        if (!record_all(row, size, slack, found, budget)) return {Outcome::spent, size - 1};
        if (found.any()) return {Outcome::found, size - 1};
    }
}

}  // namespace sev::trees
