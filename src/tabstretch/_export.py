"""What takes a fitted stretch elsewhere: methods that all estimators share."""

from __future__ import annotations

import os
from typing import Any

from sklearn.utils.validation import check_is_fitted

from tabstretch._saving import save
from tabstretch._sql import sql_expressions


class ExportMixin:
    """Ways out of Python."""

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted stretch to a small JSON file, from which `tabstretch.load` makes it again.

        The loaded estimator transforms as this one does, to the bit, and has its `summary`. What has no
        plain form is left out: a `teacher`, a splitter, the teachers' curves. The file appears whole or
        not at all.

        Parameters
        ----------
        path : str or path
            The file to write; one that exists is replaced.
        """
        save(self, path)

    def to_sql(self, dialect: str = "duckdb") -> dict[str, str]:
        """Return the transform as SQL expressions.

        They refer to the columns by name (`x0`, `x1`, … if there were no names in `fit`) and take any type of
        number. NULL stays NULL and NaN stays NaN.

        Parameters
        ----------
        dialect : {"duckdb", "postgres"}, default="duckdb"
            For which database.

        Returns
        -------
        dict of str to str
            The expression of each output column, by its name, in the order of `get_feature_names_out`.

        Examples
        --------
        >>> from tabstretch import StretchTransformer
        >>> stretch = StretchTransformer(n_bins=1).fit([[0.0], [4.0]])
        >>> print(stretch.to_sql()["x0"])
        CASE WHEN CAST("x0" AS DOUBLE) < 4.0e0 THEN ... END
        """
        check_is_fitted(self)
        return sql_expressions(*self._sql_parts(), dialect)

    def _sql_parts(self) -> tuple[list[str], list[str], list[Any]]:
        """Return the input, the name and the map of each output; no map where it is the input as it was."""
        raise NotImplementedError  # each estimator has its own
