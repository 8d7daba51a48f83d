"""The compiled loops of dropout: one pass over the numbers where torch takes five."""

from __future__ import annotations

import numpy as np

from tabstretch._jit import kernel


@kernel
def random_bits(key, place):
    """Return 64 bits that depend on a key and a place only: the SplitMix64 generator. Vectorises."""
    bits = key + np.uint64(place) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@kernel
def drop(values, key, threshold, scale, low):
    """Raise values to `low`, then drop those whose 16 random bits are below the threshold, and scale others.

    The bits of one draw go to four distant places, so that neighbours are treated alike and vectorise.
    """
    n = len(values) // 4
    mask = np.uint64(0xFFFF)
    for i in range(n):
        bits = random_bits(key, i)
        for quarter in range(4):
            value = values[quarter * n + i]
            value = low if value < low else value  # NaN stays
            kept = (bits >> np.uint64(16 * quarter)) & mask >= threshold
            values[quarter * n + i] = value * scale if kept else np.float32(0.0)
    for i in range(4 * n, len(values)):
        value = low if values[i] < low else values[i]
        values[i] = value * scale if random_bits(key, i) & mask >= threshold else np.float32(0.0)


@kernel
def keep_where_positive(gradient, outputs, scale, kept):
    """Write the gradients of outputs that are positive, scaled, and zero for the others."""
    for i in range(len(gradient)):
        kept[i] = gradient[i] * scale if outputs[i] > 0.0 else np.float32(0.0)
