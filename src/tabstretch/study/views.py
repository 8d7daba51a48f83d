"""What the commands print: tables for a person, computed elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tabstretch._terminal import printable
from tabstretch.study.plan import StudyPlan
from tabstretch.study.statistics import mean_ranks, normalised_scores
from tabstretch.study.storage import StudyStorage
from tabstretch.study.tally import tally

_PANEL = ["dataset", "model", "noise"]
_MOST_PANELS = 8
"""More columns do not fit on a screen."""

if TYPE_CHECKING:
    import pandas as pd

    from tabstretch.study.comparison import Comparison


def print_status(plan: StudyPlan, store: StudyStorage, console: Console | None = None) -> None:
    """Print where a study stands."""
    console = console or Console()
    counted = tally(plan, store)
    console.print(f"[bold]{_shown(plan.name)}[/bold] in {_shown(store.place)}", highlight=False)
    parts = [f"{counted.runs_done} of {counted.n_runs} runs stored", f"{counted.runs_failed} failed"]
    if plan.trials:
        parts.append(f"{counted.trainings_done} of {counted.n_trainings} trainings (trials included)")
    console.print(", ".join(parts), highlight=False)
    working = [str(cell) for cell, elsewhere in store.claimed().items() if elsewhere]
    if working:
        console.print(f"at work on {_shown(', '.join(sorted(working)))}", highlight=False)
    best = counted.best()
    if best:
        table = _table(["data set", "best so far", "network", "metric"], ["mean"])
        for row in best:
            cell = row.cell
            names = (_shown(cell.dataset), cell.transformation, cell.model, row.metric)
            table.add_row(*names, f"{row.score:.4f}")
        console.print(table)


def print_summary(results: pd.DataFrame, console: Console | None = None) -> None:
    """Print the mean scores of transformations: in each panel if they are few, over all if they are many."""
    console = console or Console()
    if results.groupby(_PANEL).ngroups <= _MOST_PANELS:
        for task_is_regression, metric in ((False, "accuracy"), (True, "r2")):
            part = results[(results["task"] == "regression") == task_is_regression]
            if len(part):
                _print_panels(part, metric, console)
    else:
        _print_overall(results, console)
    failed = results[results["status"] != "ok"]
    if len(failed):
        console.print(f"{len(failed)} of {len(results)} runs failed, for example:", highlight=False)
        for row in failed.drop_duplicates("error").head(3).itertuples():
            name = f"{row.dataset}/{row.model}/{row.transformation} seed {row.seed}"
            console.print(f"  {_shown(name)}: {_shown(str(row.error))}", highlight=False)


def _print_panels(results: pd.DataFrame, metric: str, console: Console) -> None:
    """Print a row for each transformation and a column for each panel, the best of each in bold."""
    headings, scores = [], []
    for _, panel in results.groupby(_PANEL, sort=False):
        dataset, model, noise = panel[_PANEL].iloc[0]
        headings.append(f"{_shown(str(dataset))}\n{model}" + (f"\nnoise {noise:g}" if noise > 0 else ""))
        scores.append(panel.groupby("transformation")[metric].agg(["mean", "std"]))
    table = _table(["transformation"], headings)
    for name in dict.fromkeys(results["transformation"]):
        table.add_row(name, *(_score(panel, name) for panel in scores))
    console.print(f"[bold]{metric}[/bold], mean over seeds ± standard deviation", highlight=False)
    console.print(table)


def _score(panel: pd.DataFrame, transformation: str) -> str:
    if transformation not in panel.index or panel["mean"].isna()[transformation]:
        return "–"
    mean, spread = panel.loc[transformation]
    text = f"{mean:.3f}" + (f" ±{spread:.3f}" if spread == spread else "")
    return f"[bold]{text}[/bold]" if mean == panel["mean"].max() else text


def _print_overall(results: pd.DataFrame, console: Console) -> None:
    """Print the normalised score and the mean rank over all panels without noise."""
    clean = results[results["noise"] == 0]
    scores = normalised_scores(clean).groupby("transformation")["score"].mean()
    by_group = mean_ranks(clean)
    overall = by_group[(by_group["tasks"] == "all") & (by_group["model"] == "all")]
    ranks = overall.set_index("transformation")["mean_rank"]
    table = _table(["transformation"], ["normalised score", "mean rank"])
    for name, score in scores.sort_values(ascending=False).items():
        rank = ranks.get(name, float("nan"))
        table.add_row(str(name), f"{score:.3f}", f"{rank:.2f}" if rank == rank else "–")
    n_panels = clean.groupby(["dataset", "model"]).ngroups
    console.print(f"[bold]{n_panels} panels[/bold] (data set and network)", highlight=False)
    console.print(table)


def print_comparison(found: Comparison, console: Console | None = None) -> None:
    """Print which transformation is best on a table, and where its pipeline is."""
    console = console or Console()
    objective = "MAE" if found.metric == "r2" else "accuracy"
    headings = [f"validation\n{objective}", f"test {found.metric}", "difference"]
    table = _table(["transformation", "network"], headings)
    table.add_column("", no_wrap=True)
    for row in found.table.to_dict("records"):
        spread = f" ±{row['std']:.3f}" if row["std"] == row["std"] else ""
        is_chosen = row["verdict"] == "chosen"
        difference = "" if is_chosen else f"{row['difference']:+.3f} ±{row['error']:.3f}"
        verdict = (
            "in noise" if row["verdict"] == "within noise" else row["verdict"]
        )  # lines have 80 characters
        cells = (f"{row['validation']:.4g}", f"{row['mean']:.3f}{spread}", difference, verdict)
        style = "bold" if is_chosen else "dim" if row["verdict"] == "within noise" else ""
        table.add_row(row["transformation"], row["model"], *cells, style=style)
    console.print(table)
    console.print(_verdict_in_words(found), highlight=False)
    failed = int((found.results["status"] != "ok").sum())
    if failed:
        console.print(f"{failed} of {len(found.results)} runs failed; results.csv says why", highlight=False)
    path = _shown(str(found.pipeline_path))
    console.print(
        f"The chosen pipeline is in {path}: joblib.load(…).predict(frame)", highlight=False, soft_wrap=True
    )


def _verdict_in_words(found: Comparison) -> str:
    table = found.table
    best = table.iloc[0]
    n_seeds = int(table["seeds"].min())
    words = [f"Chosen on the validation part: {best['transformation']} for {best['model']}."]
    if n_seeds < 2:
        return f"{words[0]} One seed each: nothing can be said about noise."
    others = table.iloc[1:]
    equal = int((others["verdict"] == "within noise").sum())
    worse, better = ((others["verdict"] == word).sum() for word in ("worse", "better"))
    words.append(
        f"On the test part, beyond seed noise (two standard errors of {n_seeds} seeds), "
        f"{worse} of {len(others)} others are worse, {better} better and {equal} no different."
    )
    return " ".join(words)


def _shown(name: str) -> str:
    """Return a name as it is printed: neither markup nor orders to the terminal."""
    return escape(printable(name))


def _table(left: list[str], right: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in left:
        table.add_column(heading, no_wrap=True)
    for heading in right:
        table.add_column(heading, justify="right")
    return table
