r"""What ``mkdocs.yml`` needs so that pages read as well on a host of git repositories.

Links from a page to files beside ``docs/`` lead to copies of them on the site; ``CHANGELOG.md`` is
a page there. Links to ``docs/README.md``, which lists all pages for such hosts, lead to the front
page. As on such hosts, ``\|`` in code in a table stands for a bar, and of what follows a fence the
first word is the language. Diagrams are drawn by such hosts; here their source is folded away.
"""

import posixpath
import re
from pathlib import Path, PurePosixPath
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

CHANGES: Final = "changes.md"
PLACES: Final = {"CHANGELOG.md": CHANGES, "docs/README.md": "index.md", "README.md": "index.md"}
"""Files of the repository that are pages of the site under another name."""

COPIES: Final = "repository"
"""The site's folder with copies of files that pages link to and that lie outside of ``docs/``."""

_LINK: Final = re.compile(r"(?<=\]\()(?!#|[a-z]+:)([^()\s#]+)(?=[)#])")
_DIAGRAM: Final = re.compile(r"^```mermaid\n.*?^```$", re.DOTALL | re.MULTILINE)
_FOLDED: Final = """\
<details markdown>
<summary>The diagram, as text for Mermaid</summary>

{}

</details>"""
_FENCE: Final = re.compile(r"^( *```[a-z]+) .*$", re.MULTILINE)
_CODE_WITH_BAR: Final = re.compile(r"`[^`\n]*\\\|[^`\n]*`")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the changes as a page."""
    changes = _root(config) / "CHANGELOG.md"
    files.append(File.generated(config, CHANGES, abs_src_path=str(changes)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links that leave ``docs/`` to where their targets are on the site, and the like."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]
    root = _root(config)
    source = "CHANGELOG.md" if page.file.src_uri == CHANGES else f"docs/{page.file.src_uri}"

    def led(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        wanted = _on_site(target)
        if wanted == target.removeprefix("docs/") and source != "CHANGELOG.md":
            return match[1]
        if files.get_file_from_path(wanted) is None and (root / target).is_file():
            copy = File.generated(config, wanted, content=(root / target).read_bytes())
            files.append(copy)
        return posixpath.relpath(wanted, posixpath.dirname(page.file.src_uri) or ".")

    lines = (_with_bars(line) if line.startswith("|") else line for line in markdown.split("\n"))
    text = _FENCE.sub(r"\1", _LINK.sub(led, "\n".join(lines)))
    return _DIAGRAM.sub(lambda diagram: _FOLDED.format(diagram[0]), text)


def _with_bars(row: str) -> str:
    return _CODE_WITH_BAR.sub(lambda code: code[0].replace("\\|", "|"), row)


def _on_site(target: str) -> str:
    if target in PLACES:
        return PLACES[target]
    inside = target.removeprefix("docs/")
    return inside if inside != target else str(PurePosixPath(COPIES) / target)


def _root(config: MkDocsConfig) -> Path:
    return Path(config.docs_dir).parent
