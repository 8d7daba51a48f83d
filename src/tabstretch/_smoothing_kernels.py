"""The compiled loops of the kernel smoother."""

from __future__ import annotations

import numpy as np

from tabstretch._jit import kernel

# Positions are of order one: below this a bandwidth is zero but for rounding.
TINY_BANDWIDTH = 1e-290


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
def find_spread_bandwidths(position, low, high, cumulative, query, wanted, bandwidth):
    """Find the same where each cell's weight is spread evenly from its low to its high end.

    Both ends of the interval around x only move to the right as x does: the search for the next one starts
    where its right end is that of the one before, and grows it, from one end of a cell to the next.
    """
    n_cells = len(position)
    right = -np.inf
    n_right = 0  # cells that end within the interval or before it
    n_left = 0  # cells that start before the interval
    for q in range(len(query)):
        x = position[query[q]]
        radius = max(right - x, 0.0)
        while n_right < n_cells and high[n_right] <= x + radius:
            n_right += 1
        while n_left < n_cells and low[n_left] < x - radius:
            n_left += 1
        while n_left > 0 and low[n_left - 1] >= x - radius:
            n_left -= 1
        inside = cumulative[n_right] - cumulative[n_left]
        enters_right = n_right < n_cells and low[n_right] < x + radius
        if enters_right:
            inside += spread(low, high, cumulative, n_right) * (x + radius - low[n_right])
        enters_left = n_left > 0 and high[n_left - 1] > x - radius
        if enters_left:
            inside += spread(low, high, cumulative, n_left - 1) * (high[n_left - 1] - (x - radius))
        while inside < wanted:
            to_right = np.inf
            to_left = np.inf
            density = 0.0
            if n_right < n_cells:
                to_right = (high[n_right] if enters_right else low[n_right]) - x
                density += spread(low, high, cumulative, n_right) if enters_right else 0.0
            if n_left > 0:
                to_left = x - (low[n_left - 1] if enters_left else high[n_left - 1])
                density += spread(low, high, cumulative, n_left - 1) if enters_left else 0.0
            following = max(min(to_right, to_left), radius)
            if following == np.inf:
                break
            if inside + density * (following - radius) >= wanted:
                radius += (wanted - inside) / density
                break
            inside += density * (following - radius)
            radius = following
            if to_right <= to_left:
                point = low[n_right] == high[n_right]
                if point:
                    inside += cumulative[n_right + 1] - cumulative[n_right]
                if enters_right or point:
                    n_right += 1
                    enters_right = False
                else:
                    enters_right = True
            else:
                point = low[n_left - 1] == high[n_left - 1]
                if point:
                    inside += cumulative[n_left] - cumulative[n_left - 1]
                if enters_left or point:
                    n_left -= 1
                    enters_left = False
                else:
                    enters_left = True
        bandwidth[q] = radius
        right = x + radius


@kernel
def spread(low, high, cumulative, cell):
    """Return the weight of a cell by length."""
    return (cumulative[cell + 1] - cumulative[cell]) / (high[cell] - low[cell])


# Loops from zero over slices vectorise; loops from `low` to `high` do not, as an index might be negative.


@kernel
def gaussian(position, center, bandwidth, out):
    """Write exp(-d^2 / 2h^2) for every position, as the 128th power of a short series: no branch, no call."""
    scale = 1.0 / (16.0 * bandwidth)
    for j in range(len(out)):
        z = (position[j] - center) * scale
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
        out[j] = e


@kernel
def dot(a, b):
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@kernel
def change_variance(a, b, noise):
    """Return the variance of a weighted sum of noise when its weights change from a to b."""
    total = 0.0
    for j in range(len(a)):
        change = a[j] - b[j]
        total += change * change * noise[j]
    return total


@kernel
def smooth_cells(position, weight, total, query, bandwidth, kernel_reach, noise, estimate, mass, step_noise):
    """Fill in estimates, their kernel mass and the noise of each step, query by query.

    `total` has outputs first; an empty `noise` leaves `step_noise` alone.
    """
    with_noise = len(noise) > 0
    # Normalised kernel weights of this query and of the one before, zero outside their windows.
    kernels = np.zeros((2, len(position)))
    start = np.zeros(2, dtype=np.int64)
    stop = np.zeros(2, dtype=np.int64)
    for q in range(len(query)):
        x = position[query[q]]
        h = bandwidth[q]
        # A little more than h, as a difference of rounded differences may miss the row at that distance.
        reach = kernel_reach * h if h > TINY_BANDWIDTH else h * (1.0 + 1e-15)
        low = np.searchsorted(position, x - reach)
        high = np.searchsorted(position, x + reach, side="right")
        now, before = q % 2, 1 - q % 2
        kernels[now, start[now] : stop[now]] = 0.0
        start[now], stop[now] = low, high
        current = kernels[now, low:high]
        if h > TINY_BANDWIDTH:
            gaussian(position[low:high], x, h, current)
        else:
            # As the bandwidth vanishes, the training rows at x itself, or nearest to it, count alike.
            current[:] = 1.0
        heap = dot(current, weight[low:high])
        mass[q] = heap
        for c in range(len(total)):
            estimate[q, c] = dot(current, total[c, low:high]) / heap
        if with_noise:
            current *= 1.0 / heap
            if q > 0:
                first = min(low, start[before])
                last = max(high, stop[before])
                step_noise[q] = change_variance(
                    kernels[now, first:last], kernels[before, first:last], noise[first:last]
                )
