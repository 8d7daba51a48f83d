"""Data sets of a study: a source such as "sklearn:diabetes" or "file:houses.csv?target=price" -> `Dataset`.

The modules, in the order data flows through them:

- `sources`: the text of a source -> its kind, location and options
- `pickles`, `npy`: NumPy files, without executing what they may contain
- `tables`: `Table`, columns that know whether they are numbers or categories, and a target
- `frames`: a data frame and the options of its source -> `Table`
- `talent`, `openml`, `readers`: one reader for each kind of source -> `Table`
- `splits`: rows -> training, validation and test
- `encoding`: gaps -> means, categories and classes -> codes
- `dataset`: `Table` -> `Dataset`, split, imputed, encoded and with a checksum
- `records`: the split on disk, to prove later what a study ran on
"""

from tabstretch.study.datasets.dataset import Dataset, load_dataset
from tabstretch.study.datasets.records import SplitRecord, check_split, read_split, save_split
from tabstretch.study.datasets.tables import PARTS

__all__ = ["PARTS", "Dataset", "SplitRecord", "check_split", "load_dataset", "read_split", "save_split"]
