"""Formulas as MathML, which browsers draw themselves: no script and nothing from the network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import ExtensionError


def _mathml(node: nodes.Element, *, as_block: bool) -> str:
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        raise ExtensionError(f"{node.source}: the formula {node.astext()!r} has an error: {error}") from error


def visit_inline(translator: Any, node: nodes.Element) -> None:
    """Write a formula into the line."""
    translator.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.Element) -> None:
    """Write a formula of its own, which scrolls where it is wider than the page."""
    translator.body.append(f'<div class="math-block">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
