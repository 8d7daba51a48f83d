"""Material -> sections -> files."""

from __future__ import annotations

from pathlib import Path

from tabstretch.study.errors import StudyError
from tabstretch.study.report.comparison import (
    breakdown_section,
    metrics_section,
    scores_section,
    sweep_section,
)
from tabstretch.study.report.details import costs_section, datasets_section
from tabstretch.study.report.evidence import bootstrap_section, ranks_section
from tabstretch.study.report.findings import Findings, find
from tabstretch.study.report.formats import latex, markdown, write_data, write_text
from tabstretch.study.report.material import Material
from tabstretch.study.report.noise import noise_section
from tabstretch.study.report.page import html_page
from tabstretch.study.report.pairs import pairs_section, win_rates_section
from tabstretch.study.report.pictures import write_figure
from tabstretch.study.report.record import failures_section, rerun_section, run_section
from tabstretch.study.report.sections import Section
from tabstretch.study.report.signals import signals_section
from tabstretch.study.report.summary import summary, warnings_of

FORMATS = {"csv": ".csv", "parquet": ".parquet", "latex": ".tex", "markdown": ".md"}
"""Of tables."""
FIGURE_FORMATS = ("svg", "png", "pdf")


def write_report(material: Material, path: Path) -> None:
    """Write the page; the file appears whole or not at all.

    Parameters
    ----------
    material : Material
        A study or results.
    path : Path
        Of the HTML file.
    """
    warnings, sections = report_sections(material)
    write_text(html_page(material.title, warnings, sections), path)


def write_tables(material: Material, folder: Path, format: str) -> list[Path]:
    """Write every table to a file of its own and return the files.

    Parameters
    ----------
    material : Material
        A study or results.
    folder : Path
        It is made if it does not exist.
    format : {"csv", "parquet", "latex", "markdown"}
        The first two hold the data, with all columns; the others the tables as the page shows them.
    """
    if format not in FORMATS:
        raise StudyError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    _make(folder)
    _, sections = report_sections(material)
    paths = []
    for sheet in (sheet for section in sections for sheet in section.sheets):
        path = folder / f"{sheet.name}{FORMATS[format]}"
        if format in ("csv", "parquet"):
            write_data(sheet, path)
        else:
            write_text(latex(sheet) if format == "latex" else markdown(sheet), path)
        paths.append(path)
    return paths


def write_figures(material: Material, folder: Path, format: str) -> list[Path]:
    """Write every figure to a file of its own and return the files.

    Parameters
    ----------
    material : Material
        A study or results.
    folder : Path
        It is made if it does not exist.
    format : {"svg", "png", "pdf"}
        All at the size of a printed page, PNG at 200 dots per inch.
    """
    if format not in FIGURE_FORMATS:
        raise StudyError(f"format must be one of {', '.join(FIGURE_FORMATS)}, got {format!r}")
    _make(folder)
    _, sections = report_sections(material)
    paths = []
    for picture in (picture for section in sections for picture in section.pictures):
        paths.append(folder / f"{picture.name}.{format}")
        write_figure(picture.figure, paths[-1])
    return paths


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"{folder} cannot be made: {error}") from error


def report_sections(material: Material) -> tuple[list[str], list[Section]]:
    """Return the warnings and the sections of the page."""
    findings = find(material.results) if len(material.results) else None
    sections = [summary(material, findings)]
    if findings is not None:
        sections += _comparison(findings)
    if material.noise is not None:
        sections.append(noise_section(material.noise))
    if findings is not None:
        sections.append(datasets_section(material.results))
        costs = costs_section(material.results)
        sections += [costs] if costs else []
    data = None if material.signals is None else signals_section(material.signals)
    sections += [data] if data else []
    sections += [run_section(material), failures_section(material), rerun_section(material)]
    return warnings_of(material, findings), sections


def _comparison(findings: Findings) -> list[Section]:
    """Return what there is to compare; a single transformation still has means."""
    if not (findings.scores["state"] == "ok").any():
        return []
    means = [scores_section(findings), breakdown_section(findings), metrics_section(findings)]
    if not findings.comparable:
        return means
    return [
        means[0],
        sweep_section(findings),
        win_rates_section(findings),
        pairs_section(findings),
        *means[1:],
        ranks_section(findings),
        bootstrap_section(findings),
    ]
