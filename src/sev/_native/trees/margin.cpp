#include "trees/margin.hpp"

namespace sev::trees {

double margin_of(const Row& row, const std::int32_t* picks, int size, std::vector<std::uint8_t>& chosen) {
    const Cubes& cubes = row.cubes;
    const auto is_chosen = [&](std::int64_t a) {
        return chosen[static_cast<std::size_t>(cubes.member[static_cast<std::size_t>(a)])] != 0;
    };
    double total = row.constant;
    for (int p = 0; p < size; ++p) {
        chosen[static_cast<std::size_t>(picks[p])] = 1;
        total += row.linear[static_cast<std::size_t>(picks[p])];
    }
    for (std::size_t t = 0; t < cubes.n_trees(); ++t) {
        for (auto i = static_cast<std::size_t>(cubes.tree[t]); i < static_cast<std::size_t>(cubes.tree[t + 1]); ++i) {
            const std::int64_t middle = cubes.first[i] + cubes.need[i], end = cubes.first[i + 1];
            std::int64_t at = cubes.first[i];
            while (at < end && is_chosen(at) == (at < middle)) ++at;
            if (at < end) continue;
            total += cubes.leaf[i];
            break;  // a tree has one leaf for each set
        }
    }
    for (int p = 0; p < size; ++p) chosen[static_cast<std::size_t>(picks[p])] = 0;
    return total;
}

double flip_effects(const Row& row, const std::vector<std::uint8_t>& chosen, std::vector<double>& effect) {
    const Cubes& cubes = row.cubes;
    double total = row.constant;
    for (std::size_t g = 0; g < row.linear.size(); ++g) {
        effect[g] = chosen[g] ? -row.linear[g] : row.linear[g];
        if (chosen[g]) total += row.linear[g];
    }
    for (std::size_t i = 0; i < cubes.n_cubes(); ++i) {
        const std::int64_t middle = cubes.first[i] + cubes.need[i], end = cubes.first[i + 1];
        int wrong = 0;
        std::size_t last_wrong = 0;
        for (std::int64_t a = cubes.first[i]; a < end && wrong < 2; ++a) {
            const auto member = static_cast<std::size_t>(cubes.member[static_cast<std::size_t>(a)]);
            if ((chosen[member] != 0) == (a < middle)) continue;
            ++wrong;
            last_wrong = member;
        }
        if (wrong == 1) effect[last_wrong] += cubes.leaf[i];
        if (wrong != 0) continue;
        total += cubes.leaf[i];
        for (std::int64_t a = cubes.first[i]; a < end; ++a)
            effect[static_cast<std::size_t>(cubes.member[static_cast<std::size_t>(a)])] -= cubes.leaf[i];
    }
    return total;
}

}  // namespace sev::trees
