"""The pages of the documentation, and the fenced blocks in them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if not page.is_relative_to(DOCS / "examples"))
TEXTS = [*PAGES, ROOT / "README.md", ROOT / "CHANGELOG.md"]
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    info: str
    body: str
    follows_directly: bool


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    found = []
    end = 0
    for match in FENCE.finditer(text):
        width = len(match["indent"])
        body = "".join(line[width:] for line in match["body"].splitlines(keepends=True))
        between = text[end : match.start()].strip()
        found.append(Block(match["info"].strip(), body, follows_directly=not between and end > 0))
        end = match.end()
    return found


def prose_of(page):
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def name_of(page):
    return str(page.relative_to(ROOT))
