"""Conditional variation: how much a teacher's prediction varies when one column moves and the others stay.

Teachers that see all columns are cross-fitted; each is swept along every column for rows it has not seen.

A *lesson* is one thing to learn: the target, or one of its outputs. A *teacher* is a model that has learnt a
lesson. A *lecture* is the teachers of one fold with rows they have not seen. A *shadow* is a shuffled column.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tabstretch._cells import Column
from tabstretch._folds import Folds, Splits
from tabstretch._lessons import Lesson, make_lessons, taken
from tabstretch._magnitude import scale_for_models
from tabstretch._order import copies_of_rows, rows_in_order
from tabstretch._shadows import Shadow, choose_shadows, shadow_noise
from tabstretch._sharing import remembered
from tabstretch._target import Target
from tabstretch._teacher import FittedTeacher
from tabstretch._threads import map_models_in_threads
from tabstretch._variation import Variation

# Curves are drawn at no more places than this; bins beyond it share what lies between two places.
_MAX_PLACES = 1025
# Individual curves are held this many numbers at a time.
_NUMBERS_AT_ONCE = 1 << 22


class Curves(NamedTuple):
    """What the teachers predict when one column moves and the others stay.

    Attributes
    ----------
    places : array of shape (n_places,)
        Values that the column takes: its bin edges, or some of them.
    variation : array of shape (n_places - 1,)
        Mean over rows of the variation of their curves between neighbouring places.
    mean : array of shape (n_places, n_outputs)
        Mean over rows of their curves.
    spread : array of shape (n_places, n_outputs)
        Standard deviation over rows of their curves, each centred, within folds; small for a column that
        has no interaction with others.
    outputs : array of shape (n_outputs,)
        Which outputs of the teachers they are.
    by_lecture : array of shape (n_lectures,)
        Total variation for the teachers of each fold.
    """

    places: Column
    variation: Column
    mean: Column
    spread: Column
    outputs: NDArray[np.intp]
    by_lecture: Column


@dataclass(frozen=True)
class Lecture:
    """The teachers of one fold, one for each lesson, and weighted rows that they have not seen."""

    teachers: list[FittedTeacher]
    rows: NDArray[np.float64]
    weight: Column


@dataclass(frozen=True)
class Teaching:
    """How teachers are trained and asked, and everything they learn from but the columns.

    `key` orders the rows (`_order`), and `n_rows` is their number before any were repeated by their weights.
    """

    teacher: Any
    n_curves: int
    target: Target
    folds: Folds
    weight: Column | None
    key: NDArray[np.float64]
    n_rows: int
    random_state: Any
    n_jobs: int | None


def conditional_variation(
    X: NDArray[Any],
    context: NDArray[np.float64] | None,
    edges: list[Column],
    teaching: Teaching,
    *,
    with_noise: bool,
) -> list[tuple[Variation, float, Curves]]:
    """Return, for every column, the variation in its bins and what noise would show, and its curves.

    Between them, how many times this noise a column of noise may show (the margin of `remove_noise`).

    NOTE[DIFF] The paper's variation is that of the target along one column, whatever the others are; a
    column that matters only together with others then looks flat.

    The noise is measured on shadows (`_shadows`), which the teachers see beside the columns.
    """
    n_columns = X.shape[1]
    X = np.asarray(X, dtype=np.float64)
    scale = scale_for_models(X)
    n_bins = np.array([max(len(column) - 1, 0) for column in edges])
    casts = choose_shadows(n_bins) if with_noise else np.empty(0, dtype=np.intp)
    table = [X * scale]
    if context is not None:
        table.append(context * scale_for_models(context))
    table.append(X[:, casts] * scale[casts])
    n_all = sum(part.shape[1] for part in table)
    shadows = range(n_all - len(casts), n_all)
    lectures = _give_lectures(np.hstack(table), shadows, teaching)
    places = [column[_thinned(len(column))] * by for column, by in zip(edges, scale, strict=True)]
    jobs = [(lectures, j, places[j]) for j in range(n_columns)]
    jobs += [(lectures, shadow, places[j]) for shadow, j in zip(shadows, casts, strict=True)]
    sweeps = map_models_in_threads(_sweep, jobs, teaching.n_jobs)
    made = [
        Shadow(j, sweep.variation, sweep.by_lecture)
        for j, sweep in zip(casts, sweeps[n_columns:], strict=True)
    ]
    pooled = all(teacher.sees_only_order for lecture in lectures for teacher in lecture.teachers)
    noise = shadow_noise(made, n_bins, pooled=pooled)
    return [
        (
            Variation(_share_out(sweep.variation, n), each),
            margin,
            sweep._replace(places=sweep.places / by),
        )
        for sweep, (each, margin), n, by in zip(sweeps[:n_columns], noise, n_bins, scale, strict=True)
    ]


def _give_lectures(table: NDArray[np.float64], shadows: range, teaching: Teaching) -> list[Lecture]:
    """Fit the teachers of every fold, or find those of an earlier fit with other bins."""
    splits = teaching.folds.rows()
    random = check_random_state(teaching.random_state)
    seeds = random.randint(np.iinfo(np.int32).max, size=len(splits))
    n_rows = -(-teaching.n_curves // max(len(splits), 1))
    lessons = make_lessons(teaching.target, by_default=teaching.teacher is None)

    def give() -> list[Lecture]:
        return _lectures_of(table, shadows, teaching, lessons, splits, n_rows, seeds)

    if teaching.teacher is not None:  # a stranger may be none that learns the same from the same
        return give()
    made_from = (table, shadows, lessons, splits, teaching.weight, teaching.n_rows, n_rows, seeds)
    return remembered(made_from, give)


def _lectures_of(
    table: NDArray[np.float64],
    shadows: range,
    teaching: Teaching,
    lessons: list[Lesson],
    splits: Splits,
    n_rows: int,
    seeds: NDArray[np.intp],
) -> list[Lecture]:
    import_module("sklearn.ensemble")  # slow to import, so only here, but before there are threads
    key, jobs = teaching.key, []
    for (train, held), seed in zip(splits, seeds, strict=True):
        # Not even the order of a teacher's rows depends on the target of those that it is asked about.
        train = train[rows_in_order(key[train], taken(lessons, train))]
        held = held[rows_in_order(key[held], [])]
        jobs.append((table, shadows, teaching, taken(lessons, train), train, held, n_rows, int(seed)))
    return map_models_in_threads(_give_lecture, jobs, teaching.n_jobs)


def _give_lecture(
    table: NDArray[np.float64],
    shadows: range,
    teaching: Teaching,
    lessons: list[Lesson],
    train: NDArray[np.intp],
    held: NDArray[np.intp],
    n_rows: int,
    seed: int,
) -> Lecture:
    """Fit the teachers of one fold to what `lessons` say of its training rows."""
    random = np.random.RandomState(seed)
    ask = random.permutation(held)[:n_rows]
    rows = np.concatenate([train, ask])
    part = table[rows]
    # Copies of a row keep together: shuffled apart, a shadow would have more rows than there are.
    seen, share = part[:, : shadows.start], teaching.n_rows / len(table)
    copy = copies_of_rows(seen[: len(train)], lessons, share * len(train))
    copy_asked = copies_of_rows(seen[len(train) :], [], share * len(ask)) + len(train)
    copy = np.concatenate([copy, copy_asked])
    _, first, of_row = np.unique(copy, return_index=True, return_inverse=True)
    by_row = np.sort(first)  # in the order of rows, whatever the copies' numbers are
    number = np.searchsorted(by_row, first)[of_row.ravel()]
    for column in shadows:
        part[:, column] = random.permutation(part[by_row, column])[number]
    # Neither boosting nor imputers take a column without any value.
    part[:, np.all(np.isnan(part[: len(train)]), axis=0)] = 0.0
    weight = np.ones(len(table)) if teaching.weight is None else teaching.weight
    teachers = [
        FittedTeacher(
            teaching.teacher,
            part[: len(train)],
            lesson,
            lesson.y,
            None if teaching.weight is None else weight[train],
            seed,
        )
        for lesson in lessons
    ]
    return Lecture(teachers, part[len(train) :].copy(), weight[ask])  # without holding on to all of it


def _sweep(lectures: list[Lecture], column: int, places: Column) -> Curves:
    """Move one column through places for all rows of all lectures, some rows at a time."""
    n_places = len(places)
    variation, total = np.zeros(max(n_places - 1, 0)), 0.0
    level: Any = np.zeros((n_places, 1))
    spread = level
    by_lecture = np.zeros(len(lectures))
    for number, lecture in enumerate(lectures if n_places > 1 else []):
        n_outputs = sum(max(teacher.lesson.n_classes, 1) for teacher in lecture.teachers)
        at_once = max(1, _NUMBERS_AT_ONCE // (n_places * n_outputs))
        shape: Any = 0.0
        square: Any = 0.0
        for start in range(0, len(lecture.rows), at_once):
            some = slice(start, start + at_once)
            rows, weight = lecture.rows[some], lecture.weight[some]
            curves = np.concatenate(
                [teacher.sweep(rows, column, places) for teacher in lecture.teachers], axis=2
            )
            steps = np.diff(curves, axis=1)
            lengths = weight @ np.sqrt(np.einsum("ijk,ijk->ij", steps, steps))
            variation += lengths
            by_lecture[number] += lengths.sum()
            centred = curves - curves.mean(axis=1, keepdims=True)
            level = level + np.tensordot(weight, curves, 1)
            shape = shape + np.tensordot(weight, centred, 1)
            square = square + np.tensordot(weight, centred**2, 1)
        in_lecture = float(lecture.weight.sum())
        by_lecture[number] /= in_lecture
        spread = spread + square - shape**2 / in_lecture  # among rows that one teacher predicts
        total += in_lecture
    total = max(total, np.finfo(float).tiny)
    spread = np.sqrt(np.maximum(spread / total, 0.0))
    outputs = np.arange(level.shape[1])
    return Curves(places, variation / total, level / total, spread, outputs, by_lecture)


def interaction_share(curves: Curves) -> float:
    """Return the share of the variance along the teachers' curves that depends on the row.

    It is zero where all rows have the same curve but for its height, and one where the curves cancel out.
    """
    common = float(np.var(curves.mean, axis=0).sum())
    own = float(np.mean(curves.spread**2, axis=0).sum())
    return own / (common + own) if own > 0 else 0.0


def _thinned(n_edges: int) -> NDArray[np.intp]:
    """Return which edges become places: all, or some evenly spread that include both ends."""
    if n_edges <= _MAX_PLACES:
        return np.arange(n_edges)
    return np.round(np.linspace(0, n_edges - 1, _MAX_PLACES)).astype(np.intp)


def _share_out(variation: Column, n_bins: int) -> Column:
    """Return the variation in bins from that between places, which neighbouring bins share evenly."""
    if n_bins <= len(variation):
        return variation
    cumulative = np.concatenate([[0.0], np.cumsum(variation)])
    return np.diff(np.interp(np.arange(n_bins + 1), _thinned(n_bins + 1), cumulative))
