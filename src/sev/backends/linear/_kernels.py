"""Compiled inner loops for additive margins. Everything is turned so that crossing means falling below zero."""

import numpy as np

from sev.kernels.source import njit

INT, FLOAT = "int64", "float64"
INTS, BOOLS, VECTOR = "int64[::1]", "boolean[::1]", "float64[::1]"
INT_MATRIX, BOOL_MATRIX, WORD_MATRIX, MATRIX = "int64[:, ::1]", "boolean[:, ::1]", "uint64[:, ::1]", "float64[:, ::1]"


@njit(MATRIX, VECTOR, VECTOR, FLOAT, INTS, INT, FLOAT, VECTOR, MATRIX, VECTOR)
def moves(queries, reference, weights, intercept, column_feature, from_query, sign, start, gains, magnitude):
    """Start value, what changing each feature adds to it, and the size of the terms for a bound on rounding, per row.

    ``from_query`` 1: the start is the query and features move to the reference; 0: the other way round. ``gains`` comes
    with zeros.
    """
    n_rows, n_columns = queries.shape
    for row in range(n_rows):
        total, terms = intercept, abs(intercept)
        for column in range(n_columns):
            of_query = weights[column] * queries[row, column]
            of_reference = weights[column] * reference[column]
            terms += max(abs(of_query), abs(of_reference))
            if from_query == 1:
                total += of_query
                gains[row, column_feature[column]] += sign * (of_reference - of_query)
            else:
                total += of_reference
                gains[row, column_feature[column]] += sign * (of_query - of_reference)
        start[row] = sign * total
        magnitude[row] = terms


@njit(VECTOR, MATRIX, BOOL_MATRIX, VECTOR, VECTOR, INTS, INTS, WORD_MATRIX)
def first_sets(start, gains, active, low, high, sure, possible, masks):
    """The fewest features that take each row below its ``low``, and the fewest that might, reaching its ``high``.

    Writes ``sure`` and ``possible`` sizes, which come with -1 (not even with all helpful features), and the mask of the
    sure set, which comes with zeros.
    """
    n_rows, n_features = gains.shape
    for row in range(n_rows):
        value = start[row]
        for size in range(1, n_features + 1):
            best, best_gain = -1, 0.0
            for feature in range(n_features):
                if active[row, feature] and gains[row, feature] < best_gain:
                    word, bit = feature >> 6, np.uint64(1) << np.uint64(feature & 63)
                    if masks[row, word] & bit == 0:
                        best, best_gain = feature, gains[row, feature]
            if best < 0:
                break
            value += best_gain
            masks[row, best >> 6] |= np.uint64(1) << np.uint64(best & 63)
            if possible[row] < 0 and value <= high[row]:
                possible[row] = size
            if value < low[row]:
                sure[row] = size
                break
        if sure[row] < 0:
            masks[row, :] = 0


@njit()
def sort(values, n, order, spare):
    """Order the first ``n`` values, lowest first; equal ones keep their order."""
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for begin in range(0, n, 2 * width):
            middle, end = min(begin + width, n), min(begin + 2 * width, n)
            left, right = begin, middle
            for at in range(begin, end):
                if left < middle and (right >= end or values[order[left]] <= values[order[right]]):
                    spare[at] = order[left]
                    left += 1
                else:
                    spare[at] = order[right]
                    right += 1
        for i in range(n):
            order[i] = spare[i]
        width *= 2


@njit()
def search_best(start, gains, n, size, high, most, values, sets):
    """The ``most`` best sets of a given size whose value is at most ``high``; ``gains`` must be sorted, smallest first.

    Depth first over the n positions, stopped by the best that the remaining picks could reach. Writes the values and
    positions of the sets, in no order; gives how many were kept, and how many there are (counting stops at most + 1).
    """
    kept, seen = 0, 0
    worst = -1
    sums, partial = np.empty(n + 1), np.empty(size + 1)
    sums[0] = 0.0
    for position in range(n):
        sums[position + 1] = sums[position] + gains[position]
    picks = np.empty(size, dtype=np.int64)
    partial[0] = start
    depth = 0
    picks[0] = 0
    while depth >= 0:
        position = picks[depth]
        left = size - depth
        descend = False
        if position + left <= n:
            # the next `left` gains from here are the smallest that remain
            bound = partial[depth] + (sums[position + left] - sums[position])
            if bound <= high and not (kept == most and seen > most and bound >= values[worst]):
                descend = True
        if not descend:
            depth -= 1
            if depth >= 0:
                picks[depth] += 1
            continue
        partial[depth + 1] = partial[depth] + gains[position]
        if left > 1:
            picks[depth + 1] = position + 1
            depth += 1
            continue
        if partial[size] <= high:
            seen = min(seen + 1, most + 1)
            place = kept if kept < most else worst
            if kept < most or partial[size] < values[worst]:
                values[place] = partial[size]
                for i in range(size):
                    sets[place, i] = picks[i]
                kept = min(kept + 1, most)
                if kept == most:
                    worst = 0
                    for i in range(1, most):
                        if values[i] > values[worst]:
                            worst = i
        picks[depth] += 1
    return kept, seen


@njit(FLOAT, VECTOR, INT, FLOAT, VECTOR, INT_MATRIX, INTS)
def best_sets(start, gains, size, high, values, sets, order):
    """The best sets of a given size, as many as there is room for, and in which order they come.

    Gives how many there are, at most one more than there is room for.
    """
    kept, seen = search_best(start, gains, gains.shape[0], size, high, values.shape[0], values, sets)
    sort(values, kept, order, np.empty(kept, dtype=np.int64))
    return seen


@njit(INT, VECTOR, MATRIX, BOOL_MATRIX, VECTOR, VECTOR, INTS, INT, INTS, BOOLS, WORD_MATRIX)
def list_sets(begin, start, gains, active, low, high, sizes, most, counts, complete, masks):
    """All sets of each row's size, best first, at most ``most`` of them, from the row ``begin`` on.

    Stops before the row for which there is no room in ``masks``, which comes with zeros, and gives its number. Writes
    how many were listed for each row (-1 where some are within rounding of the decision and only the model can tell),
    whether these are all, and their masks, row after row.
    """
    n_rows, n_features = gains.shape
    widest = 1
    for row in range(begin, n_rows):
        widest = max(widest, sizes[row])
    features, feature_order = np.empty(n_features, dtype=np.int64), np.empty(n_features, dtype=np.int64)
    mine, sorted_gains = np.empty(n_features), np.empty(n_features)
    # room for one more than wanted tells whether these are all
    values, sets = np.empty(most + 1), np.empty((most + 1, widest), dtype=np.int64)
    order, spare = np.empty(most + 1, dtype=np.int64), np.empty(max(most + 1, n_features), dtype=np.int64)
    used = 0
    for row in range(begin, n_rows):
        if sizes[row] < 1:
            continue
        n = 0
        for feature in range(n_features):
            if active[row, feature]:
                features[n] = feature
                mine[n] = gains[row, feature]
                n += 1
        sort(mine, n, feature_order, spare)
        for i in range(n):
            sorted_gains[i] = mine[feature_order[i]]
        kept, _ = search_best(start[row], sorted_gains, n, sizes[row], high[row], most + 1, values, sets)
        sort(values, kept, order, spare)
        if kept > 0 and values[order[kept - 1]] >= low[row]:
            counts[row] = -1
            continue
        listed = min(most, kept)
        if used + listed > masks.shape[0]:
            return row
        counts[row] = listed
        complete[row] = kept <= most
        for number in range(listed):
            for i in range(sizes[row]):
                feature = features[feature_order[sets[order[number], i]]]
                masks[used, feature >> 6] |= np.uint64(1) << np.uint64(feature & 63)
            used += 1
    return n_rows
