// Margins of single sets, cube by cube.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/collapse.hpp"

namespace sev::trees {

/// More than the relative error of one addition.
constexpr double addition_error = 2.3e-16;

/// The margin of a set of ``size`` numbers; ``chosen`` is zero everywhere before and after.
double margin_of(const Row& row, const std::int32_t* picks, int size, std::vector<std::uint8_t>& chosen);

/// Effect of moving each feature into or out of a set; returns the margin of the set.
double flip_effects(const Row& row, const std::vector<std::uint8_t>& chosen, std::vector<double>& effect);

}  // namespace sev::trees
