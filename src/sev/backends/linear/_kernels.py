"""Compiled inner loops for additive margins. Everything is turned so that crossing means falling below zero."""

import numpy as np

from sev._compile import njit


@njit("Tuple((f8[::1], f8[:,::1], f8[::1]))(f8[:,::1], f8[::1], f8[::1], f8, i8[::1], i8, b1, f8)")
def moves(queries, reference, weights, intercept, column_feature, n_features, from_query, sign):
    """Start value, what changing each feature adds to it, and the size of the terms for a bound on rounding, per row.

    ``from_query``: the start is the query and features move to the reference; otherwise the other way round.
    """
    n_rows, n_columns = queries.shape
    start = np.empty(n_rows)
    gains = np.zeros((n_rows, n_features))
    magnitude = np.empty(n_rows)
    for row in range(n_rows):
        total, terms = intercept, abs(intercept)
        for column in range(n_columns):
            of_query = weights[column] * queries[row, column]
            of_reference = weights[column] * reference[column]
            terms += max(abs(of_query), abs(of_reference))
            if from_query:
                total += of_query
                gains[row, column_feature[column]] += sign * (of_reference - of_query)
            else:
                total += of_reference
                gains[row, column_feature[column]] += sign * (of_query - of_reference)
        start[row] = sign * total
        magnitude[row] = terms
    return start, gains, magnitude


@njit("Tuple((i8[::1], i8[::1], u8[:,::1]))(f8[::1], f8[:,::1], b1[:,::1], f8[::1], f8[::1])")
def first_sets(start, gains, active, low, high):
    """The fewest features that take each row below its ``low``, and the fewest that might, reaching its ``high``.

    Gives ``sure`` and ``possible`` sizes (-1: not even with all helpful features) and the mask of the sure set.
    """
    n_rows, n_features = gains.shape
    sure = np.full(n_rows, -1, dtype=np.int64)
    possible = np.full(n_rows, -1, dtype=np.int64)
    masks = np.zeros((n_rows, max(1, (n_features + 63) // 64)), dtype=np.uint64)
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
    return sure, possible, masks


@njit("Tuple((i8, f8[::1], i8[:,::1]))(f8, f8[::1], i8, f8, i8)")
def best_sets(start, gains, size, high, most):
    """The ``most`` best sets of a given size whose value is at most ``high``; ``gains`` must be sorted, smallest first.

    Depth first over positions, stopped by the best that the remaining picks could reach. Gives how many sets there
    are (counting stops at most + 1), their values and their positions, best first.
    """
    n = gains.shape[0]
    values = np.empty(most)
    sets = np.empty((most, size), dtype=np.int64)
    kept, seen = 0, 0
    worst = -1
    sums = np.zeros(n + 1)
    for position in range(n):
        sums[position + 1] = sums[position] + gains[position]
    picks = np.empty(size, dtype=np.int64)
    partial = np.empty(size + 1)
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
            full = kept == most
            if bound <= high and not (full and seen > most and bound >= values[worst]):
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
        value = partial[size]
        if value <= high:
            seen = min(seen + 1, most + 1)
            if kept < most:
                values[kept] = value
                sets[kept] = picks
                kept += 1
                if kept == most:
                    worst = np.argmax(values)
            elif value < values[worst]:
                values[worst] = value
                sets[worst] = picks
                worst = np.argmax(values)
        picks[depth] += 1
    order = np.argsort(values[:kept], kind="mergesort")
    return seen, values[:kept][order], sets[:kept][order]


@njit("Tuple((i8[::1], b1[::1], u8[:,::1]))(f8[::1], f8[:,::1], b1[:,::1], f8[::1], f8[::1], i8[::1], i8)")
def list_sets(start, gains, active, low, high, sizes, most):
    """All sets of each row's size, best first, at most ``most`` of them.

    Gives how many were listed for each row (-1 where some are within rounding of the decision and only the model
    can tell), whether these are all, and their masks, row after row.
    """
    n_rows, n_features = gains.shape
    n_words = max(1, (n_features + 63) // 64)
    counts = np.zeros(n_rows, dtype=np.int64)
    complete = np.ones(n_rows, dtype=np.bool_)
    masks = np.zeros((max(16, n_rows), n_words), dtype=np.uint64)
    used = 0
    for row in range(n_rows):
        if sizes[row] < 1:
            continue
        features = np.flatnonzero(active[row])
        mine = gains[row][features]
        order = np.argsort(mine, kind="mergesort")
        # one more than wanted tells whether these are all
        _, values, positions = best_sets(start[row], mine[order], sizes[row], high[row], most + 1)
        if values.shape[0] and values[-1] >= low[row]:
            counts[row] = -1
            continue
        counts[row] = min(most, values.shape[0])
        complete[row] = values.shape[0] <= most
        if used + counts[row] > masks.shape[0]:
            larger = np.zeros((2 * (used + counts[row]), n_words), dtype=np.uint64)
            larger[:used] = masks[:used]
            masks = larger
        for number in range(counts[row]):
            for place in positions[number]:
                feature = features[order[place]]
                masks[used, feature >> 6] |= np.uint64(1) << np.uint64(feature & 63)
            used += 1
    return counts, complete, masks[:used].copy()
