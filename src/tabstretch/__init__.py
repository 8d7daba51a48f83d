"""tabstretch: give a network's numeric columns more room where the target changes fast.

A column flows through these steps, one module each: validated (`_validation`), cut into cells
(`_cells`), binned by quantiles (`_bins`), compressed with its target into sums per cell and fold
(`_compress`), smoothed out of fold (`_smoothing`), measured for variation bin by bin (`_variation`),
given widths (`_widths`) and mapped (`_monotone`). `_column` fits one column from end to end. Where
columns are seen together, `_teacher` models the target by all of them, `_trees` sweeps boosted trees,
`_shadows` tells what is noise, `_conditional` measures the variation and `_interactions` fits all
columns by it; `_sharing` lets several fits have the same teachers. `_views` lays the coordinates of a
column side by side, and `_transformers` and `_table` hold the estimators. `_export` takes what was
fitted elsewhere: to JSON (`_saving`, `_loading`) and SQL (`_sql`); `tabstretch.torch` and
`tabstretch.onnx` need extras.

Data that do not fit into memory come in batches (`_batches`), from Parquet files (`_parquet`) or a cluster
(`tabstretch.dask`). Each part is compressed (`_parts`, its columns by `_merging` and its target by
`_target_parts`), and `_whole` fits all columns from what the merged parts keep.

`_suggest` tells before any fit what is worth one: `_traits` measures each column, `_advice` has the rules.

Files are read as sources (`_sources`, `_csv`) and rewritten, stretched, in a stream (`_rewriting`);
`_map_display` draws maps without data. `cli` has these as verbs.
"""

from importlib.metadata import version as _version

from tabstretch._display import StretchDisplay
from tabstretch._loading import load
from tabstretch._monotone import MonotoneMap
from tabstretch._parquet import fit_parquet
from tabstretch._suggest import suggest
from tabstretch._table import TableStretch
from tabstretch._transformers import StretchTransformer, SupervisedStretchTransformer
from tabstretch._widths import dirichlet_energy

__version__ = _version("tabstretch")
__all__ = [
    "MonotoneMap",
    "StretchDisplay",
    "StretchTransformer",
    "SupervisedStretchTransformer",
    "TableStretch",
    "dirichlet_energy",
    "fit_parquet",
    "load",
    "suggest",
]
