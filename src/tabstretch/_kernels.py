"""The loops that run compiled. Each is small, touches plain arrays only and knows nothing of estimators."""

from __future__ import annotations

import numpy as np

from tabstretch._jit import kernel, strict_kernel

# How many slots of a guide table the search for one value may span (see `_search.guide_table`).
SLOT_REACH = 3
LARGEST = np.finfo(np.float64).max
# Rows go through the search in blocks that fit the fastest cache.
BLOCK = 2048


@kernel
def find_slots(values, center, scale, origin, slots_per_unit, n_slots, slot):
    """Write the slot of a guide table that every value falls into; NaN gets the first. Vectorises."""
    top = n_slots - 1.0
    for i in range(len(values)):
        distance = values[i] - center
        place = (distance / (scale + abs(distance)) - origin) * slots_per_unit
        place = place if place > 0.0 else 0.0
        slot[i] = np.int32(place if place < top else top)


@kernel
def find_interval(value, slot, edges, n_intervals, first):
    """Return t with edges[t] <= value < edges[t + 1], given the value's slot in the guide table.

    Slots and table are unsigned: of signed numbers every look-up would check whether they count from the end.
    """
    low = np.int64(first[slot])
    high = np.int64(first[slot + SLOT_REACH])
    if high - low <= 2 and low + 2 < n_intervals:  # nearly always: without branches, which are guessed wrong
        low += value >= edges[low + 1]
        low += value >= edges[low + 1]
        return low
    while high - low > 8:
        middle = (low + high) // 2
        if value >= edges[middle]:
            low = middle
        else:
            high = middle
    while low < n_intervals - 1 and value >= edges[low + 1]:
        low += 1
    return low


@kernel
def locate_rows(x, edges, center, scale, origin, slots_per_unit, first, index):
    """Write the interval of every row, or the number of intervals for NaN."""
    n_cells = len(edges) - 1
    n_slots = len(first) - SLOT_REACH
    slot = np.empty(BLOCK, dtype=np.uint32)
    for start in range(0, len(x), BLOCK):
        values, cell = x[start : start + BLOCK], index[start : start + BLOCK]
        find_slots(values, center, scale, origin, slots_per_unit, n_slots, slot)
        for i in range(len(values)):
            cell[i] = find_interval(values[i], slot[i], edges, n_cells, first)
        for i in range(len(values)):  # by itself, or it would be guessed wrong where some are missing
            if np.isnan(values[i]):
                cell[i] = n_cells


@kernel
def find_infinite(x):
    """Return the first row that holds an infinite number, or the number of rows."""
    for start in range(0, len(x), BLOCK):
        values = x[start : start + BLOCK]
        n_infinite = 0
        for i in range(len(values)):
            n_infinite += abs(values[i]) == np.inf
        if n_infinite > 0:
            for i in range(len(values)):
                if abs(values[i]) == np.inf:
                    return start + i
    return len(x)


@kernel
def find_rows(index, first, last, rows):
    """Write the rows in the first or the last cell, as many as find room, and return how many."""
    n_found = 0
    for start in range(0, len(index), BLOCK):
        cell = index[start : start + BLOCK]
        some = False
        for i in range(len(cell)):
            some |= (cell[i] == first) | (cell[i] == last)
        if some:
            for i in range(len(cell)):
                if (cell[i] == first or cell[i] == last) and n_found < len(rows):
                    rows[n_found] = start + i
                    n_found += 1
    return n_found


@kernel
def shift_numbers(index, by, last, new_last):
    """Give every cell a number higher by so many, and the last one a number of its own."""
    for i in range(len(index)):
        index[i] = new_last if index[i] == last else index[i] + by


@kernel
def describe_cells(x, weight, index, origin, cells):
    """Add up the weight, the weighted distance from `origin`, the smallest and largest value of each cell."""
    weighted = len(weight) > 0
    for i in range(len(x)):
        cell, value = index[i], x[i]
        w = weight[i] if weighted else 1.0
        cells[cell, 0] += w
        cells[cell, 1] += w * (value - origin[cell])
        cells[cell, 2] = min(cells[cell, 2], value)
        cells[cell, 3] = max(cells[cell, 3], value)


@kernel
def relate_numbers(numbers, shift, scale):
    """Take `shift` off numbers and divide them by `scale`; return their sum and that of their squares."""
    total, square = 0.0, 0.0
    for i in range(len(numbers)):
        value = (numbers[i] - shift) / scale
        numbers[i] = value
        total += value
        square += value * value
    return total, square


@kernel
def add_values(index, group, values, square, weight, start, stop, sums):
    weighted = len(weight) > 0
    for i in range(len(index)):
        cell = sums[index[i], group[i]]
        w = weight[i] if weighted else 1.0
        cell[0] += w
        cell[1] += w * square[i]
        for j in range(start, stop):
            cell[2 + j - start] += w * values[i, j]


@kernel
def add_numbers(index, group, values, weight, sums):
    """Do the same for a single output, of which there may be very many rows."""
    weighted = len(weight) > 0
    for i in range(len(index)):
        cell = sums[index[i], group[i]]
        value = values[i, 0]
        w = weight[i] if weighted else 1.0
        cell[0] += w
        cell[1] += w * value * value
        cell[2] += w * value


@kernel
def add_codes(index, group, codes, weight, start, stop, sums):
    weighted = len(weight) > 0
    for i in range(len(index)):
        cell = sums[index[i], group[i]]
        w = weight[i] if weighted else 1.0
        cell[0] += w
        cell[1] += w
        code = codes[i]
        if start <= code < stop:
            cell[2 + code - start] += w


@kernel
def unite(a, b, union):
    """Write the numbers of two increasing arrays in order, each once, and return how many there are."""
    i, j, n = 0, 0, 0
    while i < len(a) or j < len(b):
        if j == len(b) or (i < len(a) and a[i] <= b[j]):
            j += j < len(b) and a[i] == b[j]
            union[n] = a[i]
            i += 1
        else:
            union[n] = b[j]
            j += 1
        n += 1
    return n


@kernel
def place_cells(left, mean, place):
    """Write which of the cells that start at `left` holds each of some increasing means."""
    cell = 0
    for i in range(len(mean)):
        while cell + 1 < len(left) and left[cell + 1] <= mean[i]:
            cell += 1
        place[i] = cell


@kernel
def add_cells(place, weight, mean, low, high, sums, total, total_mean, lowest, highest, total_sums):
    """Add cells to those at their places; `total` is 0 where there is none yet."""
    for i in range(len(place)):
        cell = place[i]
        total[cell] += weight[i]
        if total[cell] > weight[i]:
            total_mean[cell] += (mean[i] - total_mean[cell]) * (weight[i] / total[cell])
        else:
            total_mean[cell] = mean[i]
        lowest[cell] = min(lowest[cell], low[i])
        highest[cell] = max(highest[cell], high[i])
        for j in range(sums.shape[1]):
            total_sums[cell, j] += sums[i, j]


@kernel
def scramble(bits):
    """Return 64 bits in which nothing of the given ones is seen: the end of the SplitMix64 generator."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@kernel
def scramble_in(bits, key):
    """Take the bits of floats into the keys of their rows; both zeros are one number, and so are all NaN."""
    minus_zero, infinity = np.uint64(1 << 63), np.uint64(0x7FF << 52)
    for i in range(len(bits)):
        number = bits[i] if bits[i] != minus_zero else np.uint64(0)
        number = number if number & ~minus_zero <= infinity else infinity + np.uint64(1)
        key[i] = scramble((key[i] ^ number) + np.uint64(0x9E3779B97F4A7C15))


@kernel
def tell_copies_apart(key, latest, start):
    """Give rows whose key was seen before another one, by their number, which is counted from `start`.

    `latest` has the latest key of each residue: of a key that comes often enough nearly all copies are seen.
    """
    mask = np.uint64(len(latest) - 1)
    for i in range(len(key)):
        place = key[i] & mask
        if latest[place] == key[i]:
            key[i] = scramble(key[i] ^ scramble(start + np.uint64(i)))
        else:
            latest[place] = key[i]


@kernel
def deal_by_key(key, labels, latest, n_copies, n_folds, fold):
    """Give each row the fold that its key says, and to its copies the following ones in turn.

    Copies have the same label too, if there are labels. `latest` has the latest copy of each residue and
    `n_copies` how many came before: of a row that comes often enough nearly all copies are seen.
    """
    mask, half = np.uint64(len(latest) - 1), np.uint64(32)
    for i in range(len(key)):
        copy = key[i] ^ scramble(np.uint64(labels[i] + 1)) if len(labels) > 0 else key[i]
        place = copy & mask
        if latest[place] == copy:
            n_copies[place] += 1
        else:
            latest[place] = copy
            n_copies[place] = 0
        # A high part of a product, as a remainder would take most of the time.
        first = np.int64(((key[i] >> half) * np.uint64(n_folds)) >> half)
        fold[i] = first if n_copies[place] == 0 else (first + n_copies[place]) % n_folds


@kernel
def deal_in_order(x, by_value, rows, dealt, fold):
    """Give each of some rows the fold dealt to its place in the order of x; ties are in the order of `rows`.

    `by_value` sorts x, the values of these rows, with ties in any order. All NaN are one value.
    """
    n = len(x)
    first = np.empty(n, dtype=np.int64)  # of the places of a row's value
    free = np.arange(n)  # the next of them that is free
    for place in range(n):
        here = by_value[place]
        before = by_value[place - 1] if place > 0 else here
        same = x[before] == x[here] or (x[before] != x[before] and x[here] != x[here])
        first[here] = first[before] if place > 0 and same else place
    for i in range(n):
        fold[rows[i]] = dealt[free[first[i]]]
        free[first[i]] += 1


@kernel
def apply_maps(X, out, divides, edges, bins, first, edge_start, first_start, numbers, extrapolate):
    """Map the columns of X through piecewise-linear maps that are laid out one after the other.

    Each row of `bins` holds the left edge, its output, the slope (or the length, if the loop is to divide by
    it) and the output at the right edge. Rows of X go in blocks, so that a block of a row-major matrix stays
    in the cache for all its columns.
    """
    values = np.empty(BLOCK)
    slot = np.empty(BLOCK, dtype=np.uint32)
    for start in range(0, X.shape[0], BLOCK):
        n_rows = min(BLOCK, X.shape[0] - start)
        for j in range(X.shape[1]):
            edge_scale, output_scale, lowest, highest, center, scale, origin, slots_per_unit = numbers[j]
            for i in range(n_rows):
                values[i] = X[start + i, j] * edge_scale
            guide = first[first_start[j] : first_start[j + 1]]
            n_slots = len(guide) - SLOT_REACH
            find_slots(values[:n_rows], center, scale, origin, slots_per_unit, n_slots, slot)
            map_block(
                divides,
                values[:n_rows],
                slot,
                edges[edge_start[j] : edge_start[j + 1]],
                bins[edge_start[j] : edge_start[j + 1]],
                guide,
                output_scale,
                lowest,
                highest,
                extrapolate[j],
                out[start : start + n_rows, j],
            )


@strict_kernel
def rise_along(distance, bin_, divides):
    """Return by how much the output rises along a distance in a bin.

    To multiply before dividing would overflow.
    """
    return distance / bin_[2] * (bin_[3] - bin_[1]) if divides else distance * bin_[2]


@kernel
def map_block(divides, values, slot, edges, bins, first, output_scale, lowest, highest, extrapolate, out):
    """Map values of one column whose slots in the guide table are known."""
    n_bins = len(edges) - 1
    lowest_edge, highest_edge = edges[0], edges[n_bins]
    first_bin, last_bin = bins[0], bins[max(n_bins - 1, 0)]
    # No slope stays none infinitely far away, where a product with it would be NaN.
    goes_on_below = extrapolate and first_bin[2] > 0.0 and first_bin[3] > first_bin[1]
    goes_on_above = extrapolate and last_bin[2] > 0.0 and last_bin[3] > last_bin[1]
    for i in range(len(values)):
        value = values[i]
        if value > lowest_edge and value < highest_edge:
            t = find_interval(value, slot[i], edges, n_bins, first)
            mapped = bins[t, 1] + rise_along(value - bins[t, 0], bins[t], divides)
            out[i] = min(mapped, bins[t, 3]) * output_scale
        elif np.isnan(value):
            out[i] = value
        # Scaled ends may have been rounded inward; what is beyond them must not be.
        elif value <= lowest_edge:
            beyond = (bins[0, 1] + rise_along(value - lowest_edge, first_bin, divides)) * output_scale
            out[i] = max(min(beyond, lowest), -LARGEST) if goes_on_below else lowest
        else:
            beyond = (bins[n_bins, 1] + rise_along(value - highest_edge, last_bin, divides)) * output_scale
            out[i] = min(max(beyond, highest), LARGEST) if goes_on_above else highest


@kernel
def sweep_trees(rows, column, n_values, walk, ends, depth, steps):
    """Add to `steps` (row, value, output) by how much each tree's prediction rises at each value.

    A node that splits on the moving column sends the values before its `cut` to the left and the others
    to the right; every other node sends all of them where the row's own value goes.
    """
    roots, output, feature, threshold, missing_left = walk
    left, right, leaf, cut = ends
    node_of = np.empty(depth + 1, dtype=np.int64)
    low_of = np.empty(depth + 1, dtype=np.int64)
    high_of = np.empty(depth + 1, dtype=np.int64)
    for i in range(len(rows)):
        for tree in range(len(roots)):
            waiting = 1
            node_of[0], low_of[0], high_of[0] = roots[tree], 0, n_values
            while waiting > 0:
                waiting -= 1
                node, low, high = node_of[waiting], low_of[waiting], high_of[waiting]
                while feature[node] >= 0:
                    if feature[node] != column:
                        value = rows[i, feature[node]]
                        goes_left = missing_left[node] if np.isnan(value) else value <= threshold[node]
                        node = left[node] if goes_left else right[node]
                    elif cut[node] >= high:
                        node = left[node]
                    elif cut[node] <= low:
                        node = right[node]
                    else:
                        node_of[waiting], low_of[waiting], high_of[waiting] = right[node], cut[node], high
                        waiting += 1
                        node, high = left[node], cut[node]
                steps[i, low, output[tree]] += leaf[node]
                steps[i, high, output[tree]] -= leaf[node]
