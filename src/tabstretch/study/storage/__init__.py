"""One database for a study: its plan, its data sets, who works on what, trials and results.

- `tables`: what our tables hold; Optuna keeps its own beside them
- `failures`: what an error means: a database that is away, or one that is broken, in words
- `database`: URL -> connections, with patience for a database that is away
- `liveness`: which coordinators still live, told by the operating system or the server, never by a clock
- `claims`: who works on which cell
- `plans`: the plan of a study, which may change until the study has begun
- `studies`: `StudyStorage`, what a coordinator reads and writes
"""

from tabstretch.study.storage.studies import StudyStorage, default_storage, opened_study

__all__ = ["StudyStorage", "default_storage", "opened_study"]
