"""Sections -> one HTML file that asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from tabstretch import __version__
from tabstretch._extras import import_extra
from tabstretch.study.report.sections import Section


def html_page(title: str, warnings: Sequence[str], sections: Sequence[Section]) -> str:
    """Write the page.

    Parameters
    ----------
    title : str
        The study's name.
    warnings : sequence of str
        What stands above everything else.
    sections : sequence of Section
        In their order. Whatever they hold is escaped; only what `picture` drew goes in as it is.
    """
    jinja2: Any = import_extra("jinja2", "report")
    # Every text is escaped, whatever the template's name; a misspelt variable is an error.
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=False)
    script = _asset("page.js")
    return str(
        environment.from_string(_asset("page.html")).render(
            title=title,
            warnings=warnings,
            sections=sections,
            policy=content_policy(script),
            css=_asset("page.css"),
            script=script,
            version=__version__,
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
        )
    )


def content_policy(script: str) -> str:
    """Return what browsers may do with the page: run this one script, and load nothing."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'sha256-{digest}'",
            "style-src 'unsafe-inline'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
