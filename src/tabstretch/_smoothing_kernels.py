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
