"""The tables that the paper prints, as data, to set beside those of a study.

They are facts of *Tabular Numeric Stretch Transformation* (Ye, Kim, Sundberg, Varici, Ravikumar), copied
from its source. What it only draws (threshold sweep, win rates, ranks under noise) is not among them.
"""

from tabstretch.study.paper.tables import TABLES, beside_paper, paper_table

__all__ = ["TABLES", "beside_paper", "paper_table"]
