"""The driver, with everything compiled and loaded that a first study needs: sessions fork from here."""

import tempfile
from pathlib import Path

import driver  # noqa: F401 (sessions find it imported)

from tabstretch.study import run_study
from tabstretch.study.plan import StudyPlan

with tempfile.TemporaryDirectory() as _folder:
    _plan = StudyPlan(
        name="warm",
        datasets=("sklearn:diabetes", "sklearn:wine"),
        models=("mlp",),
        transformations=("standard", "stretch_unsup"),
        trials=1,
        seeds=2,
        epochs=1,
        folder=Path(_folder),
    )
    run_study(_plan, workers=0, progress=False)
