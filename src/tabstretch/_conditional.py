"""Conditional variation: how much a teacher's prediction varies when one column moves and the others stay.

Teachers that see all columns are cross-fitted; each is swept along every column for rows it has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tabstretch._cells import Column
from tabstretch._folds import Folds
from tabstretch._lessons import Lesson, make_lessons
from tabstretch._magnitude import scale_for_models
from tabstretch._order import places_of_rows
from tabstretch._shadows import Shadow, choose_shadows, shadow_noise
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
        Standard deviation over rows of their curves, each centred; zero for a column that has no interaction
        with others.
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
    """How teachers are trained and asked, and everything they learn from but the columns."""

    teacher: Any
    n_curves: int
    target: Target
    folds: Folds
    weight: Column | None
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
    table = [X * scale, X[:, casts] * scale[casts]]
    if context is not None:
        table.append(context * scale_for_models(context))
    shadows = range(n_columns, n_columns + len(casts))
    lectures = _give_lectures(np.hstack(table), shadows, teaching)
    places = [column[_thinned(len(column))] * by for column, by in zip(edges, scale, strict=True)]
    places += [places[j] for j in casts]
    jobs = [(lectures, j, values) for j, values in enumerate(places)]
    sweeps = map_models_in_threads(_sweep, jobs, teaching.n_jobs)
    cast_by = [Shadow(sweeps[j].variation, sweeps[j].by_lecture) for j in shadows]
    noise = shadow_noise(cast_by, n_bins[casts], n_bins)
    return [
        (
            Variation(_share_out(sweep.variation, n), each),
            margin,
            sweep._replace(places=sweep.places / by),
        )
        for sweep, (each, margin), n, by in zip(sweeps[:n_columns], noise, n_bins, scale, strict=True)
    ]


def _give_lectures(table: NDArray[np.float64], shadows: range, teaching: Teaching) -> list[Lecture]:
    """Fit the teachers of every fold."""
    splits = teaching.folds.rows()
    random = check_random_state(teaching.random_state)
    seeds = random.randint(np.iinfo(np.int32).max, size=len(splits))
    n_rows = -(-teaching.n_curves // max(len(splits), 1))
    lessons = make_lessons(teaching.target, project=teaching.teacher is None)
    place = places_of_rows(np.delete(table, shadows, axis=1), lessons)
    jobs = [
        (table, shadows, teaching, lessons, train[np.argsort(place[train])], held[np.argsort(place[held])])
        for train, held in splits
    ]
    return map_models_in_threads(
        _give_lecture,
        [(*job, n_rows, int(seed)) for job, seed in zip(jobs, seeds, strict=True)],
        teaching.n_jobs,
    )


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
    random = np.random.RandomState(seed)
    ask = random.permutation(held)[:n_rows]
    part = table[np.concatenate([train, ask])]
    for column in shadows:
        part[:, column] = random.permutation(part[:, column])
    # Neither boosting nor imputers take a column without any value.
    part[:, np.all(np.isnan(part[: len(train)]), axis=0)] = 0.0
    weight = np.ones(len(table)) if teaching.weight is None else teaching.weight
    teachers = [
        FittedTeacher(
            teaching.teacher,
            part[: len(train)],
            lesson,
            lesson.y[train],
            None if teaching.weight is None else weight[train],
            seed,
        )
        for lesson in lessons
    ]
    return Lecture(teachers, part[len(train) :], weight[ask])


def _sweep(lectures: list[Lecture], column: int, places: Column) -> Curves:
    """Move one column through places for all rows of all lectures, some rows at a time."""
    n_places = len(places)
    variation, total = np.zeros(max(n_places - 1, 0)), 0.0
    level: Any = np.zeros((n_places, 1))
    shape, square = level, level
    by_lecture = np.zeros(len(lectures))
    for number, lecture in enumerate(lectures if n_places > 1 else []):
        n_outputs = sum(max(teacher.lesson.n_classes, 1) for teacher in lecture.teachers)
        at_once = max(1, _NUMBERS_AT_ONCE // (n_places * n_outputs))
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
        by_lecture[number] /= lecture.weight.sum()
        total += float(lecture.weight.sum())
    total = max(total, np.finfo(float).tiny)
    spread = np.sqrt(np.maximum(square / total - (shape / total) ** 2, 0.0))
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
