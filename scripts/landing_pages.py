"""What landing pages list: the pages of ``mkdocs.yml``, as ``docs/README.md`` tells of them."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).resolve().parent.parent
KINDS: Final = ("tutorial", "how-to", "reference", "explanation")
_LINK: Final = re.compile(r"\[([^\]]*)\]\(([^()\s]+)\)")
_ENTRY: Final = re.compile(r"^- .*(?:\n  .*)*", re.MULTILINE)


class _Loader(yaml.SafeLoader):
    """Reads ``mkdocs.yml`` without what its tags would make."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)
_Loader.add_constructor("!ENV", lambda *_: None)


def landing_page(kind: str) -> Iterator[str]:
    """List the pages of one kind, in the navigation's groups.

    Args:
        kind: The folder's name.

    Yields:
        Lines of markdown.
    """
    entries = _entries()
    for title, pages in _groups(kind):
        if title:
            yield from ("", f"## {title}", "")
        for page in pages:
            yield _led_from(kind, entries.get(page) or f"- [{_title(page)}]({page})")


def navigation() -> list[Any]:
    """Read the navigation of ``mkdocs.yml``, as it stands there."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    nav: list[Any] = yaml.load(text, Loader=_Loader)["nav"]
    return nav


def _groups(kind: str) -> Iterator[tuple[str, list[str]]]:
    landing = f"{kind}/index.md"
    sections = (pages for one in navigation() if isinstance(one, dict) for pages in one.values())
    section = next(pages for pages in sections if landing in pages)
    alone = [page for page in section if isinstance(page, str) and page != landing]
    if alone:
        yield "", alone
    for group in section:
        if isinstance(group, dict):
            for title, pages in group.items():
                yield title, list(_flat(pages))


def _flat(pages: list[Any]) -> Iterator[str]:
    for page in pages:
        if isinstance(page, str):
            yield page
        else:
            for inner in page.values():
                yield from _flat(inner)


def _entries() -> dict[str, str]:
    """What ``docs/README.md`` says of each page that has an entry of its own."""
    text = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    entries = ((entry, _LINK.findall(entry)) for entry in _ENTRY.findall(text))
    return {links[0][1]: entry for entry, links in entries if len(links) == 1}


def _title(page: str) -> str:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text.partition("\n")[0].removeprefix("# ")


def _led_from(kind: str, entry: str) -> str:
    return _LINK.sub(lambda link: f"[{link[1]}]({posixpath.relpath(link[2], kind)})", entry)
