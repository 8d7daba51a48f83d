"""Names of the API in Markdown pages lead to their reference, though they are written as plain code.

Plain code reads well on a code host too, where a Sphinx role would show its markup.
"""

from __future__ import annotations

from typing import Any

from api_pages import public_modules, public_names
from docutils import nodes
from sphinx import addnodes


def targets() -> dict[str, str]:
    """Return what each piece of code that is a name refers to, with and without its module."""
    found = {}
    for module in reversed(public_modules()):  # the package's own names win
        for name in public_names(module):
            path = f"{module}.{name}"
            found[path] = path
            if module in ("tabstretch", "tabstretch.study") or name[0].isupper():
                found[name] = path
    for word in ("load", "compare"):  # as words of code they mean other things too
        found.pop(word, None)
    return found


def link_names(app: Any, doctree: nodes.document) -> None:
    """Replace inline code that is a public name by a reference to it."""
    if not str(doctree.get("source", "")).endswith(".md"):
        return
    known = targets()
    for literal in list(doctree.findall(nodes.literal)):
        path = known.get(literal.astext().removesuffix("()"))
        if path is None or isinstance(literal.parent, (nodes.reference, addnodes.pending_xref, nodes.title)):
            continue
        reference = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", reftarget=path, refexplicit=True, refwarn=True
        )
        reference["refdoc"] = app.env.docname
        literal.replace_self(reference)
        reference += literal


def setup(app: Any) -> dict[str, bool]:
    """Connect to the reading of pages."""
    app.connect("doctree-read", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
