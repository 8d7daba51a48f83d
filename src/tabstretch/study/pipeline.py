"""`TabularPipeline`: a trained network with everything before it, from rows as a file has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from tabstretch._extras import import_extra
from tabstretch._files import written_whole
from tabstretch.study.datasets import Dataset
from tabstretch.study.datasets.frames import column_numbers
from tabstretch.study.datasets.tables import as_labels, listed
from tabstretch.study.training import Fitted
from tabstretch.study.transformations import FittedTransformation


@dataclass(frozen=True, eq=False)
class TabularPipeline:
    """Imputes, encodes, transforms and predicts. Save it with `save`, load it with `joblib.load`."""

    numeric_names: tuple[str, ...]
    means: NDArray[np.float64]
    """What stands for a missing number."""
    categorical_names: tuple[str, ...]
    categories: tuple[tuple[str | None, ...], ...]
    classes: tuple[str, ...] | None
    transformation: FittedTransformation
    network: Fitted

    @property
    def feature_names_in_(self) -> list[str]:
        """The columns that rows must have; others are ignored."""
        return [*self.numeric_names, *self.categorical_names]

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes in the order of `predict_proba`: truth values, whole numbers, or else text."""
        if self.classes is None:
            raise AttributeError("a regression has no classes")
        if set(self.classes) <= {"False", "True"}:
            return np.array([label == "True" for label in self.classes])
        if all(_is_whole(label) for label in self.classes):
            return np.array([int(label) for label in self.classes])
        return np.array(self.classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted target or class of each row of a data frame."""
        outputs = self._outputs(X)
        return outputs if self.classes is None else self.classes_[outputs.argmax(axis=1)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, for each row of a data frame."""
        if self.classes is None:
            raise AttributeError("a regression has no probabilities; use predict")
        return self._outputs(X)

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        frame = _as_pandas(X)
        missing = [name for name in self.feature_names_in_ if name not in frame.columns]
        if missing:
            raise ValueError(f"there is no column {missing[0]!r}; available: {listed(list(frame.columns))}")
        columns = [column_numbers(name, frame[name]) for name in self.numeric_names]
        numbers = np.column_stack([np.empty((len(frame), 0)), *columns])
        numbers = np.where(np.isnan(numbers), self.means, numbers)
        codes = np.empty((len(frame), len(self.categorical_names)), dtype=np.int64)
        for j, (name, known) in enumerate(zip(self.categorical_names, self.categories, strict=True)):
            code_of = {label: code for code, label in enumerate(known)}
            codes[:, j] = [code_of.get(label, len(known)) for label in as_labels(frame[name].tolist())]
        return self.network.predict(self.transformation.transform(numbers), codes)

    def save(self, path: Path) -> None:
        """Write the pipeline for `joblib.load`. The file appears whole or not at all."""
        with written_whole(path) as temporary:
            joblib.dump(self, temporary)


def assemble(dataset: Dataset, transformation: FittedTransformation, network: Fitted) -> TabularPipeline:
    """Put together what was fitted on a data set."""
    return TabularPipeline(
        numeric_names=dataset.numeric_names,
        # The means that stood for missing numbers did not move the mean.
        means=dataset.numeric["train"].mean(axis=0),
        categorical_names=dataset.categorical_names,
        categories=dataset.categories,
        classes=dataset.classes,
        transformation=transformation,
        network=network,
    )


def _is_whole(label: str) -> bool:
    """Tell whether a label is a number that is written back as it was: "7", not "07", which may be a code."""
    try:
        return str(int(label)) == label
    except ValueError:
        return False


def _as_pandas(X: Any) -> Any:
    pandas = import_extra("pandas", "study")
    frame = X.to_pandas() if hasattr(X, "to_pandas") else X
    if not isinstance(frame, pandas.DataFrame):
        raise TypeError(f"rows must be a data frame with named columns, got {type(X).__name__}")
    return frame.set_axis([str(column) for column in frame.columns], axis=1)
