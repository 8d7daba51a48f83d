"""The sentences of the summary, by hand."""

from typing import Any

import pandas as pd
import pytest
from study.report.materials import material, record, three
from study.results_maker import frame, panel

from tabstretch.study.report.findings import find
from tabstretch.study.report.summary import shared_datasets, summary


def said(results: pd.DataFrame, **more: Any) -> str:
    made = material(results, **more)
    return "\n".join(summary(made, find(made.results)).text)


def test_who_leads_and_by_how_much() -> None:
    # In each panel ple scores 1 and standard 0. minmax: (0.81 - 0.51) / (0.91 - 0.51) = 0.75.
    text = said(
        frame(*[three(f"d{number}") for number in range(4)], *[three(f"r{n}", "r2") for n in range(3)])
    )
    assert "PLE has the highest mean normalised score: 1.000, against 0.750 of Min-max, the next." in text
    assert "7 data sets (4 of classification and 3 of regression), 1 network and 3 transformations" in text
    assert "2 seeds each: 42 runs, of which 0 failed." in text
    # All data sets are alike, so resampling moves nothing.
    assert "puts its lead over Min-max between 0.250 and 0.250 (95 %): it would probably lead" in text
    assert "transformations differ (Friedman, p < 0.001); PLE ranks best (1.00)" in text
    assert "7 data sets are few" in text
    assert "On classification PLE leads (1.000) and on regression PLE leads (1.000)." in text


def test_a_lead_that_other_data_sets_might_turn() -> None:
    text = said(
        frame(
            panel("a", ple=[0.9], minmax=[0.1]),
            panel("b", ple=[0.3], minmax=[0.4]),
            panel("c", ple=[0.9], minmax=[0.1]),
        )
    )
    assert "0.667, against 0.333 of Min-max" in text
    assert "0 is among these, so the data sets do not decide between the two" in text


def test_equal_scores_are_level() -> None:
    text = said(frame(panel("a", ple=[0.9], minmax=[0.1]), panel("b", ple=[0.1], minmax=[0.9])))
    assert "PLE" in text
    assert "as has" in text


def test_ties_are_counted() -> None:
    text = said(frame(three("a"), panel("b", ple=[0.9, 0.8], minmax=[0.8, 0.9], standard=[0.8, 0.9])))
    assert "In 1 of 2 panels transformations differ by less than seeds do" in text


@pytest.mark.parametrize(
    ("trials", "words"),
    [
        (7, "each network tuned in 7 trials and trained with 2 seeds"),
        (0, "with its published defaults, untuned,"),
    ],
)
def test_the_budget(trials: int, words: str) -> None:
    assert words in said(frame(three("wine"), trials=trials))


def test_the_budget_of_a_plan() -> None:
    text = said(frame(three("wine")), record=record())
    assert text.startswith("2 data sets, 1 network and 3 transformations; each network tuned in 7 trials")


def test_the_paper_s_data_sets_are_told_from_others_of_their_name() -> None:
    facts = {"dataset": ["wine", "yeast"], "n_categorical": [0, 0]}
    ours = pd.DataFrame({**facts, "task": ["multiclass", "multiclass"], "n_numeric": [13, 8]})
    assert shared_datasets(ours) == ["yeast"]  # the wine of scikit-learn has three classes
    assert shared_datasets(ours.assign(task=["binclass", "multiclass"])) == ["yeast"]  # and 13 columns, not 4
    assert shared_datasets(ours.drop(columns=["n_numeric", "n_categorical"])) == ["yeast"]
