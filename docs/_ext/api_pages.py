"""Pages of the API reference, one for each public name: what enters an `__all__` appears by itself.

What is public is read without Sphinx, so that a test can compare it with the package.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = "api"
# Modules that are not meant to be imported.
_NOT_PUBLIC = {"cli"}
# What scikit-learn adds to every estimator that takes metadata.
_REQUEST = re.compile(r"set_\w+_request")
# Headings of the modules, in the order of the page; others follow under their own names.
_HEADINGS = {
    "tabstretch": "Transformers, maps and pictures",
    "tabstretch.torch": "PyTorch",
    "tabstretch.onnx": "ONNX",
    "tabstretch.dask": "Dask",
    "tabstretch.study": "Studies",
}
_ESTIMATOR_NOTE = (
    "`fit_transform`, `get_params`, `set_params`, `set_output` and the methods of metadata routing are "
    "scikit-learn's own."
)


def public_modules() -> list[str]:
    """Return the names of the package and of the modules beside it that users import."""
    package = import_module("tabstretch")
    found = [
        f"tabstretch.{module.name}"
        for module in pkgutil.iter_modules(package.__path__)
        if not module.name.startswith("_") and module.name not in _NOT_PUBLIC
    ]
    known = [name for name in _HEADINGS if name == "tabstretch" or name in found]
    return known + sorted(set(found) - set(known))


def public_names(module: str) -> list[str]:
    """Return the public names of a module: classes first, then functions."""
    members = import_module(module)
    names = getattr(members, "__all__", [])
    return sorted(names, key=lambda name: (not inspect.isclass(getattr(members, name)), name.lower()))


def own_members(cls: type) -> list[str]:
    """Return the public methods and properties that tabstretch defines and describes, `fit` first."""
    found = []
    for name in dir(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if name.startswith("_") or owner is None or not owner.__module__.startswith("tabstretch"):
            continue
        member = inspect.getattr_static(cls, name)
        described = callable(member) or isinstance(member, (property, classmethod, staticmethod))
        if described and not _REQUEST.fullmatch(name) and inspect.getdoc(getattr(cls, name)):
            found.append(name)
    return sorted(found, key=lambda name: (name != "fit", name))


def table(things: dict[str, Any]) -> list[str]:
    """Return a table of references, by path, and the first sentences of their docstrings."""
    lines = [".. list-table::", "   :class: names", "   :widths: auto", ""]
    for path, thing in things.items():
        first = (inspect.getdoc(thing) or "").partition("\n\n")[0].replace("\n", " ")
        lines += [f"   * - :py:obj:`~{path}`", f"     - {first}"]
    return [*lines, ""]


def object_page(module: str, name: str) -> str:
    """Return the page of one class or function."""
    thing, path = getattr(import_module(module), name), f"{module}.{name}"
    lines = [name, "=" * len(name), "", f".. currentmodule:: {module}", ""]
    if not inspect.isclass(thing):
        lines += [f".. autofunction:: {path}", ""]
    else:
        members = own_members(thing)
        lines += [f".. autoclass:: {path}", ""]
        if members:
            lines += ["   .. rubric:: Methods", ""]
            lines += [
                f"   {line}" for line in table({f"{path}.{name}": getattr(thing, name) for name in members})
            ]
        if hasattr(thing, "get_params"):
            lines += [f"   {_ESTIMATOR_NOTE}", ""]
        for member in members:
            is_property = isinstance(inspect.getattr_static(thing, member), property)
            lines += [f"   .. auto{'property' if is_property else 'method'}:: {path}.{member}", ""]
    lines += [f".. minigallery:: {path}", "   :add-heading: In the gallery", "   :heading-level: -", ""]
    return "\n".join(lines)


def index_page(modules: list[str]) -> str:
    """Return the page that lists all names."""
    lines = ["API reference", "=============", "", "What is public, module by module.", ""]
    for module in modules:
        heading = _HEADINGS.get(module, module)
        lines += [heading, "-" * len(heading), ""]
        if module != "tabstretch":  # its own text is a tour of the source
            lines += [f".. automodule:: {module}", "   :no-members:", ""]
        names = public_names(module)
        if names:
            members = import_module(module)
            lines += table({f"{module}.{name}": getattr(members, name) for name in names})
            lines += [".. toctree::", "   :hidden:", ""]
            # In the list beside the page `fit` alone would not say whose.
            short = f"{module}.".removeprefix("tabstretch.")
            lines += [f"   {short}{name} <{module}.{name}>" for name in names] + [""]
    return "\n".join(lines)


def all_pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    modules = public_modules()
    pages = {"index.rst": index_page(modules)}
    for module in modules:
        pages |= {f"{module}.{name}.rst": object_page(module, name) for name in public_names(module)}
    return pages


def write_pages(folder: Path) -> None:
    """Write the pages that changed, and remove those of names that are gone."""
    folder.mkdir(exist_ok=True)
    pages = all_pages()
    for path in folder.glob("*.rst"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / FOLDER), priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
