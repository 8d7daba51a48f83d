"""Teachers shared by fits that differ in their bins only."""

from typing import Any

import numpy as np
import pytest
from taught import boosted, conditional, same_fit, table

from tabstretch import _conditional, _teacher
from tabstretch._sharing import TeacherMemory, shared_teachers

X = table(120, 3)
Y = X[:, 0] * X[:, 1]


@pytest.fixture
def fitted_teachers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows that each teacher learnt from, one entry for each that was fitted; teachers are cheap."""
    seen: list[int] = []

    class Counted(_conditional.FittedTeacher):
        def __init__(self, teacher: Any, X: Any, *args: Any) -> None:
            seen.append(len(X))
            super().__init__(teacher, X, *args)

    def cheap(lesson: Any, seed: int) -> Any:
        return boosted(classes=lesson.n_classes > 0, random_state=seed)

    monkeypatch.setattr(_conditional, "FittedTeacher", Counted)
    monkeypatch.setattr(_teacher, "_default_teacher", cheap)
    return seen


def test_other_bins_share_teachers_and_nothing_changes(fitted_teachers: list[int]) -> None:
    alone = [conditional(n_bins, n_curves=40).fit(X, Y) for n_bins in (4, 9, 16)]
    assert len(fitted_teachers) == 3 * 4
    fitted_teachers.clear()
    memory = TeacherMemory()
    with shared_teachers(memory):
        for n_bins, one in zip((4, 9, 16), alone, strict=True):
            same_fit(conditional(n_bins, n_curves=40).fit(X, Y), one)
    assert len(fitted_teachers) == 4
    assert memory.seconds_saved > 0


OTHERS: dict[str, dict[str, Any]] = {
    "rows": {"X": X[:100], "y": Y[:100]},
    "columns": {"X": X + np.eye(120, 3)},
    "target": {"y": Y + np.eye(120)[0]},
    "classes": {"y": Y > 0},
    "context": {"context": X[:, :1] ** 2},
    "weights": {"sample_weight": np.linspace(1, 2, 120)},
    "counts": {"sample_weight": np.arange(120) % 3},
    "folds": {"cv": 3},
    "curves": {"n_curves": 20},
    "seed": {"random_state": 1},
    "shadows": {"shrinkage": 0.0},
    "teacher_rows": {"teacher_rows": 90},
}


@pytest.mark.parametrize("name", OTHERS)
def test_anything_else_that_differs_makes_other_teachers(name: str, fitted_teachers: list[int]) -> None:
    def fit(**given: Any) -> Any:
        data = {key: given.pop(key, default) for key, default in (("X", X), ("y", Y))}
        extra = {key: given.pop(key) for key in ("context", "sample_weight") if key in given}
        return conditional(8, **{"n_curves": 40, **given}).fit(data["X"], data["y"], **extra)

    alone = fit(**OTHERS[name])
    fitted_teachers.clear()
    with shared_teachers(TeacherMemory()):
        first = fit()
        before = len(fitted_teachers)
        same_fit(fit(**OTHERS[name]), alone)
        assert len(fitted_teachers) == before + (3 if name == "folds" else 4)
        same_fit(fit(), first)
        assert len(fitted_teachers) == before + (3 if name == "folds" else 4)


def test_a_teacher_of_the_user_s_own_is_not_shared(fitted_teachers: list[int]) -> None:
    with shared_teachers(TeacherMemory()):
        for n_bins in (4, 8):
            conditional(n_bins, n_curves=40, teacher=boosted()).fit(X, Y)
    assert len(fitted_teachers) == 8


def test_the_memory_forgets_what_was_used_longest_ago() -> None:
    made: list[str] = []
    memory = TeacherMemory(2)
    for text in ("a", "b", "a", "c", "a", "b"):
        assert memory.get((text,), lambda text=text: made.append(text) or text) == text
    assert made == ["a", "b", "c", "b"]


def test_sharing_ends_with_its_block(fitted_teachers: list[int]) -> None:
    with pytest.raises(ValueError, match="n_bins"), shared_teachers(TeacherMemory()):
        conditional(0).fit(X, Y)
    for _ in range(2):
        conditional(4, n_curves=40).fit(X, Y)
    assert len(fitted_teachers) == 8
