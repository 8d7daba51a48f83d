"""Every table and figure of a study in one HTML page, or as files.

The modules, in the order data flows through them:

- `material`: a study in its storage, or a file of results -> `Material`
- `findings`: results -> `Findings`, every statistic
- `sheets`, `pictures`: tables as data and as they are read; figures as SVG
- `sections`: a part of the page; `comparison`, `pairs`, `evidence`, `noise`, `details`, `signals`,
  `record`, `summary`
- `page`, with page.html, page.css and page.js: sections -> HTML
- `formats`: tables -> CSV, Parquet, LaTeX, Markdown
- `writing`: all of it
"""

from tabstretch.study.report.material import Material, material_of_plan, material_of_results
from tabstretch.study.report.writing import (
    FIGURE_FORMATS,
    FORMATS,
    write_figures,
    write_report,
    write_tables,
)

__all__ = [
    "FIGURE_FORMATS",
    "FORMATS",
    "Material",
    "material_of_plan",
    "material_of_results",
    "write_figures",
    "write_report",
    "write_tables",
]
