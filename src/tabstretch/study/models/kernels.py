"""The compiled loops of dropout and of waves: one pass over the numbers where torch takes five."""

from __future__ import annotations

import math

import numpy as np

from tabstretch._jit import kernel
from tabstretch._kernels import scramble


@kernel
def random_bits(key, place):
    """Return 64 bits that depend on a key and a place only: the SplitMix64 generator. Vectorises."""
    return scramble(key + np.uint64(place) * np.uint64(0x9E3779B97F4A7C15))


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


def _series(first: int) -> tuple[np.float32, ...]:
    """Return the factors of r^first, r^(first + 2), … in the cosine (0) or sine (1) of 2πr.

    The first term left out is below 7e-10 for r up to a quarter, a hundredth of what a float resolves.
    """
    powers = range(first, 14 + first, 2)
    return tuple(
        np.float32((-1) ** (power // 2) * (2 * math.pi) ** power / math.factorial(power)) for power in powers
    )


_C0, _C1, _C2, _C3, _C4, _C5, _C6 = _series(0)
_S0, _S1, _S2, _S3, _S4, _S5, _S6 = _series(1)


@kernel
def make_waves(numbers, frequencies, waves):
    """Write cosines, then sines, of 2π times numbers (rows, columns) by frequencies (columns, frequencies).

    Angles are counted in half turns, of which whole ones only change the sign. Beyond some million turns
    a float has no place for what is left: waves stay waves, but mean nothing, as with any other sine.
    """
    quarter, half, one, two = np.float32(0.25), np.float32(0.5), np.float32(1.0), np.float32(2.0)
    n_rows, n_columns = numbers.shape
    n_frequencies = frequencies.shape[1]
    for row in range(n_rows):
        for column in range(n_columns):
            number = numbers[row, column]
            cosines = waves[row, column, :n_frequencies]
            sines = waves[row, column, n_frequencies:]
            for i in range(n_frequencies):
                turns = number * frequencies[column, i]
                half_turns = np.rint(two * turns)
                rest = turns - half * half_turns
                rest = -quarter if rest < -quarter else rest  # NaN stays
                rest = quarter if rest > quarter else rest
                is_odd = half_turns - two * np.rint(half * half_turns)  # -1, 0 or 1
                sign = one - two * is_odd * is_odd
                u = rest * rest
                c = _C0 + u * (_C1 + u * (_C2 + u * (_C3 + u * (_C4 + u * (_C5 + u * _C6)))))
                s = _S0 + u * (_S1 + u * (_S2 + u * (_S3 + u * (_S4 + u * (_S5 + u * _S6)))))
                cosines[i] = sign * c
                sines[i] = sign * rest * s


@kernel
def add_wave_slopes(gradient, waves, numbers, slopes):
    """Add to slopes (columns, frequencies) the gradient of frequencies from that of waves, but for the 2π."""
    n_rows, n_columns = numbers.shape
    n_frequencies = slopes.shape[1]
    for row in range(n_rows):
        for column in range(n_columns):
            number = numbers[row, column]
            cosines, by_cosine = waves[row, column, :n_frequencies], gradient[row, column, :n_frequencies]
            sines, by_sine = waves[row, column, n_frequencies:], gradient[row, column, n_frequencies:]
            for i in range(n_frequencies):
                slopes[column, i] += number * (cosines[i] * by_sine[i] - sines[i] * by_cosine[i])
