"""Check the built site: links, anchors, pictures, and that no page asks the network for anything.

Usage: python docs/check_links.py [folder of the site, default build/docs]

Addresses of other sites that a reader may click on are counted, not visited.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself when a page is opened, by tag and attribute.
_FETCHED = {("img", "src"), ("script", "src"), ("source", "src"), ("video", "src"), ("iframe", "src")}
# Of `link` elements those that are no more than statements.
_STATEMENTS = {"canonical", "next", "prev", "search", "index", "author", "license", "copyright"}
_CSS_ADDRESS = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")


class Page(HTMLParser):
    """The anchors of a page and the addresses that it names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note what a tag names."""
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and "href" in values:
            statement = set(values.get("rel", "").split()) <= _STATEMENTS
            (self.links if statement else self.fetched).append(values["href"])
        self.fetched += [value for name, value in values.items() if (tag, name) in _FETCHED]
        for candidate in values.get("srcset", "").split(","):
            if candidate.strip():
                self.fetched.append(candidate.split()[0])
        self.fetched += css_addresses(values.get("style", ""))


def css_addresses(text: str) -> list[str]:
    """Return the addresses that a style sheet fetches."""
    return [first or second for first, second in _CSS_ADDRESS.findall(text)]


def check_site(site: Path) -> tuple[list[str], int, int]:
    """Return what is wrong, the number of links inside the site, and that of links to elsewhere."""
    pages = {
        path: Page(path.read_text())
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.relative_to(site).parts  # the theme's templates
    }
    errors: list[str] = []
    inside = outside = 0
    for path, page in pages.items():
        for address in [*page.links, *page.fetched]:
            parts = urlsplit(address)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                outside += 1
                if address in page.fetched:
                    errors.append(f"{path.relative_to(site)}: fetches {address}")
                continue
            inside += 1
            problem = _problem(path, unquote(parts.path), unquote(parts.fragment), pages)
            if problem:
                errors.append(f"{path.relative_to(site)}: {address}: {problem}")
    for path in sorted(site.rglob("*.css")):
        for address in css_addresses(path.read_text()):
            parts = urlsplit(address)
            if parts.scheme == "data" or not parts.path:
                continue
            inside += 1
            if parts.scheme or parts.netloc or not (path.parent / unquote(parts.path)).is_file():
                errors.append(f"{path.relative_to(site)}: {address}: no such file of the site")
    return errors, inside, outside


def _problem(source: Path, target: str, fragment: str, pages: dict[Path, Page]) -> str:
    path = Path(source.parent, target).resolve() if target else source
    if path.is_dir():
        return "a folder, which shows no page when it is opened from a disk"
    if not path.is_file():
        return "no such file"
    if fragment and path in pages and fragment not in pages[path].anchors:
        return "no such anchor"
    return ""


def main(site: Path) -> int:
    """Print what is wrong; the exit code tells whether anything is."""
    site = site.resolve()
    if not (site / "index.html").is_file():
        print(f"{site} holds no built site: run `make docs`", file=sys.stderr)
        return 2
    errors, inside, outside = check_site(site)
    print(*errors, sep="\n", end="\n" if errors else "", file=sys.stderr)
    print(f"{inside} links inside the site, {len(errors)} wrong; {outside} to elsewhere, not visited")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/docs")))
