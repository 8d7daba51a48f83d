"""How long the statistics and the report of a full-size study take, on synthetic results.

    python benchmarks/report.py

190 panels (38 data sets, 5 networks), the paper's nine transformations, 15 seeds: 25,650 runs. The whole
must take less than a minute.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "study"))

from results_maker import full_study

from tabstretch.study.names import PAPERS_TRANSFORMATIONS
from tabstretch.study.report import material_of_results, write_report, write_tables
from tabstretch.study.report.findings import find

LIMIT = 60.0
STATISTICS = (
    "scores",
    "table1",
    "metrics",
    "breakdown",
    "sweep",
    "pairs",
    "ranks",
    "friedman",
    "blocks",
    "intervals",
    "lead",
)


def timed(name: str, action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    seconds = time.perf_counter() - begin
    print(f"{name:<24}{seconds:8.2f} s")
    return seconds


def main() -> int:
    results = full_study(transformations=PAPERS_TRANSFORMATIONS, seeds=15)
    panels = results[["dataset", "model"]].drop_duplicates()
    print(
        f"{len(panels)} panels, {results['transformation'].nunique()} transformations, {len(results)} runs\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.csv"
        results.to_csv(path, index=False)
        material = material_of_results(path)
        findings = find(material.results)
        for name in STATISTICS:
            timed(name, lambda name=name: getattr(findings, name))  # type: ignore[misc]
        page = Path(folder) / "report.html"
        print()
        seconds = timed("read, compute, draw, write", lambda: write_report(material_of_results(path), page))
        print(f"{page.stat().st_size / 1e6:.1f} MB")
        for name in ("csv", "latex"):
            timed(
                f"all tables as {name}", lambda name=name: write_tables(material, Path(folder) / name, name)
            )  # type: ignore[misc]
    print(f"\nthe report took {seconds:.1f} s of {LIMIT:.0f} s")
    return int(seconds > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
