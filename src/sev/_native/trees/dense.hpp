// One table with the margin of every set of up to 26 features.
//
// A cube is a polynomial in "feature i is in the set". Its coefficients, added up over all subsets of a set, are the
// margin of the set: for n features and all sets at once that takes n times 2^n additions (Yates), however hard the row
// is. Rounding is not watched in the table: what it says may cross, up to the slack, is added up once more cube by cube.
#pragma once

#include <cstdint>
#include <vector>

#include "core/budget.hpp"
#include "trees/found.hpp"
#include "trees/margin.hpp"

namespace sev::trees {

class DenseSearch {
public:
    static constexpr int most_features = 26;

    Ending search(const Row& row, std::int64_t from, std::int64_t max_size, Found& found, Budget& budget);

private:
    double fill(const Row& row, Budget& budget);
    std::int64_t least_size(std::int64_t from, double loose) const;
    bool record_all(const Row& row, std::int64_t size, double slack, Found& found, Budget& budget);

    int n_ = 0;
    std::vector<double> sums_;
    std::vector<std::uint8_t> chosen_;
};

}  // namespace sev::trees
