"""Verbs that analyse: the report of a study, marginal signals of data sets, a study under label noise."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from tabstretch._terminal import tell
from tabstretch.cli.arguments import Verbs, add_workers, names, numbers


def add_report(verbs: Verbs) -> None:
    """Add `tabstretch report`."""
    verb = verbs.add_parser(
        "report",
        help="write every table and figure of a study as one HTML page",
        description="Write every table and figure of a study, finished or not, as one HTML page, or its "
        "tables or figures as files.",
    )
    verb.add_argument("plan", type=Path, nargs="?", metavar="PLAN", help="the study's TOML file")
    verb.add_argument(
        "--storage", metavar="URL", help="a SQLite file or postgresql://… (default: PLAN.db beside the plan)"
    )
    verb.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help="instead of a plan, results from elsewhere: FILE.csv or .parquet",
    )
    verb.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="the page; with --format, a folder"
    )
    verb.add_argument(
        "--format",
        choices=("html", "csv", "parquet", "latex", "markdown", "svg", "png", "pdf"),
        default="html",
        help="html for the page (default); csv, parquet, latex or markdown for its tables, svg, png or pdf "
        "for its figures, each in a file of its own",
    )
    verb.set_defaults(run=partial(_report, verb))


def _report(verb: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    if (chosen.plan is None) == (chosen.results is None):
        verb.error("give either a PLAN or --results FILE")
    if chosen.results is not None and chosen.storage is not None:
        verb.error("--storage belongs to a PLAN, not to --results")
    from tabstretch.study import report

    material = (
        report.material_of_results(chosen.results)
        if chosen.plan is None
        else report.material_of_plan(chosen.plan, chosen.storage)
    )
    if chosen.format == "html":
        report.write_report(material, chosen.output)
        tell(f"{len(material.results)} runs in {chosen.output}")
    elif chosen.format in report.FIGURE_FORMATS:
        paths = report.write_figures(material, chosen.output, chosen.format)
        tell(f"{len(paths)} figures in {chosen.output}")
    else:
        paths = report.write_tables(material, chosen.output, chosen.format)
        tell(f"{len(paths)} tables in {chosen.output}")


def add_marginal(verbs: Verbs) -> None:
    """Add `tabstretch marginal`."""
    verb = verbs.add_parser(
        "marginal",
        help="measure how unevenly a target changes along numeric columns",
        description="Measure how unevenly the target of data sets changes along their numeric columns: "
        "standard "
        "deviation and skewness of its local slopes, each relative to the mean of its column.",
    )
    verb.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="sources as in plans, such as sklearn:diabetes or file:x.csv?target=y",
    )
    verb.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the table to FILE.csv or FILE.parquet"
    )
    verb.add_argument("--figure", type=Path, metavar="FILE", help="draw it to FILE.svg, FILE.png or FILE.pdf")
    verb.add_argument(
        "--variant",
        choices=("printed", "published"),
        default="printed",
        help="the paper's formula (default), or what its table holds: not divided by the distance where "
        "the target is a class",
    )
    verb.set_defaults(run=_marginal)


def _marginal(chosen: argparse.Namespace) -> None:
    from tabstretch.study.marginal import VARIANTS, draw_marginal, measured, with_slopes
    from tabstretch.study.report.formats import pipe_table, write_data
    from tabstretch.study.report.pictures import write_figure
    from tabstretch.study.report.signals import marginal_sheet

    marginals = measured(chosen.data, Path(), chosen.variant)
    sheet = marginal_sheet(marginals)
    (other,) = set(VARIANTS) - {chosen.variant}
    tell("\n".join([*pipe_table(sheet), "", f"{sheet.caption} The other way: --variant {other}"]))
    if chosen.output is not None:
        write_data(sheet, chosen.output)
    if chosen.figure is not None:
        write_figure(draw_marginal(with_slopes(marginals)), chosen.figure)


def add_noise(verbs: Verbs) -> None:
    """Add `tabstretch noise`."""
    verb = verbs.add_parser(
        "noise",
        help="run a study again under label noise",
        description="Run the data sets and networks of a plan under noise on the training target. The "
        "same command "
        "again goes on where it ended. Its plan is written beside PLAN, so that every other command "
        "knows it.",
    )
    verb.add_argument("plan", type=Path, metavar="PLAN", help="the TOML file of the study without noise")
    verb.add_argument(
        "--storage", metavar="URL", help="a SQLite file or postgresql://… (default: PLAN-noise.db)"
    )
    verb.add_argument("--levels", type=numbers, metavar="A,B", help="default: 0,0.1,0.2,0.3,0.4,0.5")
    verb.add_argument(
        "--transformations",
        type=names,
        metavar="A,B",
        help="default: the paper's five, stretch_sup, stretch_unsup, standard, ple and ple_t",
    )
    verb.add_argument("--figure", type=Path, metavar="FILE", help="default: PLAN-noise.svg")
    add_workers(verb)
    verb.set_defaults(run=_noise)


def _noise(chosen: argparse.Namespace) -> None:
    from tabstretch.study.figures import draw_noise_ranks
    from tabstretch.study.noise_study import LEVELS, TRANSFORMATIONS, write_noise_plan
    from tabstretch.study.report.formats import pipe_table
    from tabstretch.study.report.noise import noise_sheet
    from tabstretch.study.report.pictures import short_names, write_figure
    from tabstretch.study.runner import run_study
    from tabstretch.study.statistics import noise_ranks

    plan = write_noise_plan(
        chosen.plan,
        levels=LEVELS if chosen.levels is None else chosen.levels,
        transformations=chosen.transformations or TRANSFORMATIONS,
    )
    results = run_study(
        plan,
        storage=chosen.storage,
        scheduler=chosen.scheduler,
        workers=chosen.workers,
        threads=chosen.threads,
        progress=not chosen.quiet,
    )
    ranks = noise_ranks(results)
    figure = chosen.figure or plan.with_suffix(".svg")
    tell("\n".join(pipe_table(noise_sheet(ranks[ranks["dataset"] == "all"]))))
    write_figure(draw_noise_ranks(short_names(ranks)), figure)
    tell(f"\nmean ranks, 1 is best; drawn in {figure}. More: tabstretch report {plan} -o report.html")
