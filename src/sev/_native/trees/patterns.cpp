#include "trees/patterns.hpp"

#include <algorithm>
#include <utility>
#include <stdexcept>

namespace sev::trees {

namespace {

/// How a triple of features is packed into one number: the lowest in the last bits.
constexpr std::uint32_t feature_bits = 6, feature_mask = (1u << feature_bits) - 1;
/// Trees whose marks are one word, and words that hold their patterns.
constexpr std::size_t trees_of_mark = 64, words_of_mark = 8;

/// One bit for each byte of a word that is not zero, the lowest byte first.
std::uint64_t mark_bytes(std::uint64_t word) {
    constexpr std::uint64_t low_seven = 0x7F7F'7F7F'7F7F'7F7Fu, ones = 0x0101'0101'0101'0101u;
    const std::uint64_t marks = ((((word & low_seven) + low_seven) | word) >> 7) & ones;
    return (marks * 0x0102'0408'1020'4080u) >> 56;  // bit 8 k moves to bit 56 + k, and no two meet
}

}  // namespace

Patterns::Patterns(const Forest& forest, const std::vector<std::int32_t>& column_feature,
                   const std::vector<std::uint8_t>& allowed, bool minus, double sign, Pulse& pulse)
    : column_feature_(column_feature), allowed_(allowed), minus_(minus), sign_(sign) {
    if (allowed.size() > most_features) throw std::invalid_argument("patterns are for at most 64 features");
    n_words_ = (forest.n_trees() + trees_of_mark - 1) / trees_of_mark * words_of_mark;
    reference_codes_.resize(n_words_);
    reference_paths_.resize(n_words_);
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        build_tree(forest, tree);
        pulse.tick(100'000);
    }
    build_vectors(forest);
}

void Patterns::build_tree(const Forest& forest, std::size_t tree) {
    const auto root = static_cast<std::size_t>(forest.roots()[tree]);
    const std::size_t end = forest.end_of(tree);
    splits_.assign(end - root, {0, 0});
    own_.clear();
    open_ = 0;
    std::uint32_t n_splits = 0;
    for (std::size_t at = root; at < end; ++at) {
        const Node& node = forest.nodes()[at];
        if (is_leaf(node)) continue;
        if (has(node, special) || n_splits == most_splits)
            throw std::invalid_argument("patterns are for at most eight plain splits a tree");
        const std::int32_t feature = column_feature_[column_of(node)];
        const auto place = static_cast<std::uint32_t>(std::find(own_.begin(), own_.end(), feature) - own_.begin());
        if (place == own_.size()) {
            own_.push_back(feature);
            if (allowed_[static_cast<std::size_t>(feature)]) open_ |= 1u << place;
        }
        splits_[at - root] = {n_splits++, place};
    }
    first_code_.push_back(record_at_.size());
    for (std::uint32_t code = 0; code < (1u << n_splits); ++code) {
        if (!minus_) query_leaf_.push_back(reached_leaf(forest, root, code));
        const std::uint32_t alike = code & reached_splits(forest, root, code);
        if (alike != code) {
            record_at_.push_back(record_at_[first_code_.back() + alike]);
            continue;
        }
        record_at_.push_back(static_cast<std::uint32_t>(cells_.size()));
        add_leaves(forest, root, code);
        write_record();
    }
    note_reference(forest, tree);
}

/// What the reference meets in a tree: a row that meets the same comes to the same leaf, and no set does anything to it.
void Patterns::note_reference(const Forest& forest, std::size_t tree) {
    const auto root = static_cast<std::size_t>(forest.roots()[tree]);
    std::uint32_t code = 0;
    for (std::size_t at = root; at < forest.end_of(tree); ++at) {
        const Node& node = forest.nodes()[at];
        if (!is_leaf(node)) code |= static_cast<std::uint32_t>(reference_side(node)) << splits_[at - root].bit;
    }
    const std::size_t shift = 8 * (tree % 8);
    reference_codes_[tree / 8] |= std::uint64_t{code} << shift;
    reference_paths_[tree / 8] |= std::uint64_t{reached_splits(forest, root, code)} << shift;
    reference_leaf_.push_back(cells_[record_at_[first_code_[tree] + code]].value);
}

/// Which splits query or reference, or a mix of them, can come to; the others do not matter.
std::uint32_t Patterns::reached_splits(const Forest& forest, std::size_t root, std::uint32_t code) {
    std::uint32_t reached = 0;
    tasks_.assign(1, {static_cast<std::int64_t>(root), 0, 0});
    while (!tasks_.empty()) {
        const std::int64_t at = tasks_.back().node;
        tasks_.pop_back();
        const Node& node = forest.nodes()[at];
        if (is_leaf(node)) continue;
        const std::uint32_t bit = splits_[static_cast<std::size_t>(at) - root].bit;
        reached |= 1u << bit;
        const std::int64_t query_side = (code >> bit) & 1;
        tasks_.push_back({left_of(node) + query_side, 0, 0});
        if (query_side != reference_side(node)) tasks_.push_back({left_of(node) + reference_side(node), 0, 0});
    }
    return reached;
}

double Patterns::reached_leaf(const Forest& forest, std::size_t root, std::uint32_t code) const {
    auto at = static_cast<std::int64_t>(root);
    while (!is_leaf(forest.nodes()[at]))
        at = left_of(forest.nodes()[at]) + ((code >> splits_[static_cast<std::size_t>(at) - root].bit) & 1);
    return forest.nodes()[at].value;
}

/// Add the terms of one tree for one pattern, in a table over all sets of its own features.
void Patterns::add_leaves(const Forest& forest, std::size_t root, std::uint32_t code) {
    tasks_.assign(1, {static_cast<std::int64_t>(root), 0, 0});
    while (!tasks_.empty()) {
        const Task task = tasks_.back();
        tasks_.pop_back();
        const Node& node = forest.nodes()[task.node];
        if (is_leaf(node)) {
            add_leaf(node.value, task.inside, task.outside);
            continue;
        }
        const Split& split = splits_[static_cast<std::size_t>(task.node) - root];
        const std::int64_t query_side = (code >> split.bit) & 1;
        const std::int64_t stay = minus_ ? query_side : reference_side(node);
        const std::uint32_t own = 1u << split.local;
        const bool parts = query_side != reference_side(node) && (open_ & own) != 0 && (task.outside & own) == 0;
        if (parts) tasks_.push_back({left_of(node) + 1 - stay, task.inside | own, task.outside});
        if (!parts) tasks_.push_back({left_of(node) + stay, task.inside, task.outside});
        if (parts && (task.inside & own) == 0)
            tasks_.push_back({left_of(node) + stay, task.inside, task.outside | own});
    }
}

/// A leaf that needs some features in the set and others out of it adds its value, sign-flipped for each feature of the
/// others, to every set between. Sets of more than three features are left out.
void Patterns::add_leaf(double value, std::uint32_t inside, std::uint32_t outside) {
    for (std::uint32_t part = outside;; part = (part - 1) & outside) {
        if (count_bits(inside | part) <= 3) sums_[inside | part] += (count_bits(part) & 1) == 0 ? value : -value;
        if (part == 0) return;
    }
}

void Patterns::write_record() {
    const std::size_t head = cells_.size();
    cells_.push_back({0, 0, sign_ * sums_[0]});
    sums_[0] = 0.0;
    for (const bool triples : {false, true}) {
        std::uint32_t n = 0;
        for (std::uint32_t own = 1; own < (1u << own_.size()); ++own) {
            if (sums_[own] == 0.0 || (count_bits(own) == 3) != triples) continue;
            cells_.push_back({place_of(own), 0, sign_ * sums_[own]});
            sums_[own] = 0.0;
            ++n;
        }
        (triples ? cells_[head].second : cells_[head].first) = n;
    }
}

/// Where the term of some of a tree's own features belongs.
std::uint32_t Patterns::place_of(std::uint32_t own) const {
    std::uint32_t features[3] = {0, 0, 0};
    int n = 0;
    for (std::size_t place = 0; own >> place != 0; ++place)
        if ((own >> place) & 1) features[n++] = static_cast<std::uint32_t>(own_[place]);
    if (features[0] > features[1] && n > 1) std::swap(features[0], features[1]);
    if (features[1] > features[2] && n > 2) std::swap(features[1], features[2]);
    if (features[0] > features[1] && n > 1) std::swap(features[0], features[1]);
    if (n == 1) return features[0];
    if (n == 2) return static_cast<std::uint32_t>(allowed_.size() + n_pairs(features[1])) + features[0];
    return features[0] | features[1] << feature_bits | features[2] << 2 * feature_bits;
}

/// For each column with splits: its thresholds, and for each place among them, and for a missing value, the splits that
/// go right.
void Patterns::build_vectors(const Forest& forest) {
    struct Edge {
        std::size_t column;
        double threshold;
        std::size_t byte;  // of the tree
        std::uint32_t bit;
        bool nan_right;
    };
    std::vector<Edge> all;
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        std::uint32_t n_splits = 0;
        for (auto at = static_cast<std::size_t>(forest.roots()[tree]); at < forest.end_of(tree); ++at) {
            const Node& node = forest.nodes()[at];
            if (!is_leaf(node)) all.push_back({column_of(node), node.value, tree, n_splits++, !has(node, nan_left)});
        }
    }
    std::sort(all.begin(), all.end(), [](const Edge& one, const Edge& other) {
        return one.column != other.column ? one.column < other.column : one.threshold < other.threshold;
    });
    const auto set_bit = [this](std::size_t vector, const Edge& edge) {
        passed_[vector * n_words_ + edge.byte / 8] |= std::uint64_t{1} << (8 * (edge.byte % 8) + edge.bit);
    };
    for (std::size_t begin = 0; begin < all.size();) {
        std::size_t end = begin;
        while (end < all.size() && all[end].column == all[begin].column) ++end;
        columns_.push_back({all[begin].column, edges_.size(), 0, passed_.size()});
        std::size_t vector = passed_.size() / std::max<std::size_t>(n_words_, 1);
        passed_.resize(passed_.size() + n_words_, 0);  // before the first threshold: all go left
        for (std::size_t at = begin; at < end; ++at) {
            if (at == begin || all[at].threshold != all[at - 1].threshold) {
                edges_.push_back(all[at].threshold);
                const std::size_t from = vector++ * n_words_;
                passed_.resize(passed_.size() + n_words_);
                std::copy_n(passed_.begin() + static_cast<std::ptrdiff_t>(from), n_words_,
                            passed_.end() - static_cast<std::ptrdiff_t>(n_words_));
            }
            set_bit(vector, all[at]);
        }
        columns_.back().n_edges = edges_.size() - columns_.back().first_edge;
        passed_.resize(passed_.size() + n_words_, 0);  // a missing value
        ++vector;
        for (std::size_t at = begin; at < end; ++at)
            if (all[at].nan_right) set_bit(vector, all[at]);
        begin = end;
    }
}

/// The union of some bit vectors whose lengths are a multiple of ``words_of_mark``.
SEV_WIDE_REGISTERS
static void unite(std::size_t n_words, const std::uint64_t* const* vectors, std::size_t n, std::uint64_t* codes) {
    for (std::size_t w = 0; w < n_words; w += words_of_mark) {
        std::uint64_t some[words_of_mark] = {};
        for (std::size_t v = 0; v < n; ++v)
            for (std::size_t lane = 0; lane < words_of_mark; ++lane) some[lane] |= vectors[v][w + lane];
        for (std::size_t lane = 0; lane < words_of_mark; ++lane) codes[w + lane] = some[lane];
    }
}

void Patterns::read_codes(const double* row, LookUp& found) const {
    found.codes.resize(n_words_);
    found.vectors.resize(columns_.size() + 1);
    const std::uint64_t** next = found.vectors.data();
    for (const Column& column : columns_) {
        const double x = row[column.number];
        // The first threshold that is not below x, without a branch that could be guessed wrong.
        const double* edge = edges_.data() + column.first_edge;
        for (std::size_t left = column.n_edges; left > 0;) {
            const std::size_t half = (left + 1) / 2;
            edge += half & (std::size_t{0} - static_cast<std::size_t>(edge[half - 1] < x));
            left -= half;
        }
        const std::size_t below = static_cast<std::size_t>(edge - edges_.data()) - column.first_edge;
        const bool is_missing = x != x;
        const std::size_t passed = is_missing ? column.n_edges + 1 : below;
        *next = passed_.data() + column.first_vector + passed * n_words_;
        next += passed != 0 ? 1 : 0;  // else all go left, as in most columns of a one-hot block
    }
    unite(n_words_, found.vectors.data(), static_cast<std::size_t>(next - found.vectors.data()), found.codes.data());
}

double Patterns::add_query_leaves(const LookUp& found) const {
    double total = 0.0;
    for (std::size_t tree = 0; tree < n_trees(); ++tree) total += query_leaf_[place_of_code(tree, found.codes.data())];
    return total;
}

/// The trees in which the row leaves the path of the reference, and where their cells begin.
void Patterns::find_records(const double* row, LookUp& found) const {
    read_codes(row, found);
    const std::uint64_t *codes = found.codes.data(), *sides = reference_codes_.data(), *paths = reference_paths_.data();
    found.parted.resize(n_words_ / words_of_mark);
    found.records.resize(n_trees());
    std::uint32_t* next = found.records.data();
    for (std::size_t mark = 0; mark < found.parted.size(); ++mark) {
        std::uint64_t parted = 0;
        for (std::size_t byte = 0; byte < words_of_mark; ++byte) {
            const std::size_t w = mark * words_of_mark + byte;
            parted |= mark_bytes((codes[w] ^ sides[w]) & paths[w]) << (8 * byte);
        }
        found.parted[mark] = parted;
        for (; parted != 0; parted &= parted - 1) {
            *next = record_at_[place_of_code(mark * trees_of_mark + lowest_bit(parted), codes)];
            prefetch(cells_.data() + *next++);
        }
    }
}

void Patterns::add_terms(const double* row, LookUp& found, PairTables& tables) const {
    find_records(row, found);
    found.wide.resize(n_trees());
    found.leaf.assign(reference_leaf_.begin(), reference_leaf_.end());
    double *sums = tables.terms.data(), *leaf = found.leaf.data();
    double constant = 0.0;
    std::size_t n_wide = 0;
    const std::uint32_t* record = found.records.data();
    for (std::size_t mark = 0; mark < found.parted.size(); ++mark) {
        const std::size_t begin = mark * trees_of_mark, end = std::min(begin + trees_of_mark, n_trees());
        for (std::uint64_t left = found.parted[mark]; left != 0; left &= left - 1) {
            const Cell* cell = cells_.data() + *record;
            leaf[begin + lowest_bit(left)] = cell->value;
            found.wide[n_wide] = *record++;  // the next one takes its place unless it has terms of three features
            n_wide += cell->second != 0 ? 1 : 0;
            for (const Cell* last = cell + cell->first; cell != last;) {
                ++cell;
                sums[cell->first] += cell->value;
            }
        }
        // In the order of the trees, while the terms of the next ones are added.
        for (std::size_t tree = begin; tree < end; ++tree) constant += leaf[tree];
    }
    tables.start += constant;
    found.n_wide = n_wide;
}

void Patterns::add_triples(const LookUp& found, CubicSearch& search) const {
    for (std::size_t at = 0; at < found.n_wide; ++at) {
        const Cell* head = cells_.data() + found.wide[at];
        const Cell* cell = head + 1 + head->first;
        for (const Cell* end = cell + head->second; cell < end; ++cell)
            search.add_term(cell->first & feature_mask, (cell->first >> feature_bits) & feature_mask,
                            cell->first >> 2 * feature_bits, cell->value);
    }
}

}  // namespace sev::trees
