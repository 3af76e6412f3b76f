"""What a repair cannot know to be right, because a merge has left too little of the versions."""

from collections.abc import Sequence

from grove_backend_markdown.conflicts import has_ancestor
from grove_backend_markdown.document import Block, take_apart
from grove_backend_markdown.lines import heading_of
from grove_backend_markdown.merging_entry import quoted_losers
from grove_core import is_learning_id

_ADVICE = "compare with your history"


def doubts_of_merge(text: str, versions: Sequence[str], merged: str) -> list[str]:
    """Name the entries that markers stood in, and whose versions may be joined wrongly."""
    ours, theirs = (take_apart(version).blocks for version in versions)
    blocks = take_apart(merged).blocks
    doubts = []
    for key, block in blocks.items():
        mine, other = ours.get(key), theirs.get(key)
        if mine is None or other is None or _but_status(mine) == _but_status(other):
            continue
        known = max(quoted_losers(mine.lines), quoted_losers(other.lines))
        if quoted_losers(block.lines) > known:
            doubts.append(f"{key}: a branch's words are quoted at its end: {_ADVICE}")
        elif not has_ancestor(text):
            doubts.append(f"{key}: joined without the version before both branches: {_ADVICE}")
    return doubts


def _but_status(block: Block) -> tuple[str, ...]:
    return tuple(line for place, line in enumerate(block.lines) if place != block.status)


def part_headings(text: str, left: list[str]) -> str:
    """Put a blank line between a detail and a heading right behind it, as a union leaves them."""
    result: list[str] = []
    last = ""
    for line in text.split("\n"):
        heading = heading_of(line) if line.startswith("### [") else None
        if heading is not None and is_learning_id(heading[0]):
            if result and result[-1].startswith(">") and last:
                result.append("\r" if line.endswith("\r") else "")
                left.append(f"{last}: its last lines may be missing: {_ADVICE}")
            last = heading[0]
        result.append(line)
    return "\n".join(result)
