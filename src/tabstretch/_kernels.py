"""The loops that run compiled. Each is small, touches plain arrays only and knows nothing of estimators."""

from __future__ import annotations

import numpy as np

from tabstretch._jit import kernel

# How many slots of a guide table the search for one value may span (see `_search.guide_table`).
SLOT_REACH = 3
# The Gaussian kernel is cut where it has fallen to 3e-10.
KERNEL_REACH = 6.6
# Positions are of order one: below this a bandwidth is zero but for rounding.
TINY_BANDWIDTH = 1e-290


@kernel
def find_interval(value, edges, start, n_intervals, center, scale, origin, slots_per_unit, first, first_start, n_slots):
    """Return t with edges[t] <= value < edges[t + 1], clipped to the first and the last interval.

    `edges` and `first` may hold several tables one after the other; `start` and `first_start` say
    where this one begins.
    """
    distance = value - center
    place = (distance / (scale + abs(distance)) - origin) * slots_per_unit
    slot = first_start + np.int64(min(max(place, 0.0), n_slots - 1.0))
    low = np.int64(first[slot])
    high = np.int64(first[slot + SLOT_REACH])
    while high - low > 8:
        middle = (low + high) // 2
        if value >= edges[start + middle]:
            low = middle
        else:
            high = middle
    while low < n_intervals - 1 and value >= edges[start + low + 1]:
        low += 1
    return low


@kernel
def locate_rows(x, weight, edges, center, scale, origin, slots_per_unit, first, index, total, shift, low, high):
    n_cells = len(total)
    n_slots = len(first) - SLOT_REACH
    weighted = len(weight) > 0
    for i in range(len(x)):
        value = x[i]
        if np.isnan(value):
            index[i] = n_cells
            continue
        cell = find_interval(
            value, edges, 0, n_cells, center, scale, origin, slots_per_unit, first, 0, n_slots
        )
        index[i] = cell
        w = weight[i] if weighted else 1.0
        total[cell] += w
        shift[cell] += w * (value - edges[cell])
        low[cell] = min(low[cell], value)
        high[cell] = max(high[cell], value)


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
def find_bandwidths(position, cumulative, query, wanted, bandwidth):
    """Find, for increasing queries, the smallest radius that holds the wanted weight.

    The cells within that radius are a window first..last with just enough weight; as the query
    moves to the right, so does the best window, and one walk over the cells serves all queries.
    """
    n_cells = len(position)
    first = 0
    last = 0
    while last < n_cells - 1 and cumulative[last + 1] - cumulative[first] < wanted:
        last += 1
    for q in range(len(query)):
        x = position[query[q]]
        radius = max(x - position[first], position[last] - x)
        while first < n_cells - 1:
            next_last = last
            while next_last < n_cells and cumulative[next_last + 1] - cumulative[first + 1] < wanted:
                next_last += 1
            if next_last == n_cells:
                break
            next_radius = max(x - position[first + 1], position[next_last] - x)
            if next_radius > radius:
                break
            first, last, radius = first + 1, next_last, next_radius
        bandwidth[q] = radius


@kernel
def smooth_cells(position, weight, total, query, bandwidth, noise, estimate, mass, step_noise):
    n_cells = len(position)
    n_outputs = len(total)
    with_noise = len(noise) > 0
    # Normalised kernel weights of this query and of the one before, zero outside their windows.
    kernels = np.zeros((2, n_cells))
    start = np.zeros(2, dtype=np.int64)
    stop = np.zeros(2, dtype=np.int64)
    for q in range(len(query)):
        x = position[query[q]]
        h = bandwidth[q]
        now = q % 2
        before = 1 - now
        current = kernels[now]
        current[start[now] : stop[now]] = 0.0
        reach = KERNEL_REACH * h if h > TINY_BANDWIDTH else h
        low = np.searchsorted(position, x - reach)
        high = np.searchsorted(position, x + reach, side="right")
        if h > TINY_BANDWIDTH:
            # exp(-u) as (exp(-u / 128))^128: ten terms and seven squarings, which vectorise.
            scale = 1.0 / (h * 16.0)
            for j in range(low, high):
                z = (position[j] - x) * scale
                u = -z * z
                e = 1.0 + u * (1.0 / 9.0)
                e = 1.0 + u * (1.0 / 8.0) * e
                e = 1.0 + u * (1.0 / 7.0) * e
                e = 1.0 + u * (1.0 / 6.0) * e
                e = 1.0 + u * (1.0 / 5.0) * e
                e = 1.0 + u * (1.0 / 4.0) * e
                e = 1.0 + u * (1.0 / 3.0) * e
                e = 1.0 + u * (1.0 / 2.0) * e
                e = 1.0 + u * e
                e *= e
                e *= e
                e *= e
                e *= e
                e *= e
                e *= e
                e *= e
                current[j] = e
        else:
            # As the bandwidth vanishes, the training rows at x itself, or nearest to it, count alike.
            current[low:high] = 1.0
        start[now], stop[now] = low, high
        heap = 0.0
        for j in range(low, high):
            heap += current[j] * weight[j]
        mass[q] = heap
        for c in range(n_outputs):
            column = total[c]
            value = 0.0
            for j in range(low, high):
                value += current[j] * column[j]
            estimate[q, c] = value / heap
        if with_noise:
            share = 1.0 / heap
            for j in range(low, high):
                current[j] *= share
            if q > 0:
                previous = kernels[before]
                variance = 0.0
                for j in range(min(low, start[before]), max(high, stop[before])):
                    change = current[j] - previous[j]
                    variance += change * change * noise[j]
                step_noise[q] = variance


@kernel
def apply_maps(X, out, edges, values, first, edge_start, first_start, numbers, extrapolate):
    """Map the columns of X through piecewise-linear maps that are laid out one after the other.

    Rows go in blocks, so that a block of a row-major matrix stays in the cache for all its columns.
    """
    largest = 1.7976931348623157e308
    for block in range(0, X.shape[0], 2048):
        stop = min(block + 2048, X.shape[0])
        for j in range(X.shape[1]):
            start = edge_start[j]
            n_bins = edge_start[j + 1] - start - 1
            edge_scale, value_scale, center, scale, origin, slots_per_unit = numbers[j]
            n_slots = first_start[j + 1] - first_start[j] - SLOT_REACH
            lowest, highest = values[start] / value_scale, values[start + n_bins] / value_scale
            beyond = extrapolate[j]
            for i in range(block, stop):
                value = X[i, j] * edge_scale
                if np.isnan(value):
                    out[i, j] = value
                elif n_bins == 0:
                    out[i, j] = lowest
                elif value <= edges[start] and not beyond:
                    out[i, j] = lowest
                elif value >= edges[start + n_bins] and not beyond:
                    out[i, j] = highest
                else:
                    if value <= edges[start]:
                        t = start
                    elif value >= edges[start + n_bins]:
                        t = start + n_bins - 1
                    else:
                        t = start + find_interval(
                            value,
                            edges,
                            start,
                            n_bins,
                            center,
                            scale,
                            origin,
                            slots_per_unit,
                            first,
                            first_start[j],
                            n_slots,
                        )
                    length = edges[t + 1] - edges[t]
                    way = (value - edges[t]) / length if length > 0.0 else 0.0
                    mapped = (values[t] + way * (values[t + 1] - values[t])) / value_scale
                    if way <= 1.0:
                        mapped = min(mapped, values[t + 1] / value_scale)
                    out[i, j] = min(max(mapped, -largest), largest)
