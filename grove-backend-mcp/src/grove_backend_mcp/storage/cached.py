"""Learnings and notes that came from the server, kept until it is asked again."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from grove_backend_mcp.storage.lines import Folded, line_of, objects_in
from grove_core import (
    CodecError,
    Learning,
    append_text,
    is_learning_id,
    learning_from_dict,
    learning_to_dict,
    replace_text,
)


class CachedLearnings:
    """A file of learnings, which can be had again from the server."""

    def __init__(self, path: Path) -> None:
        """Read nothing yet."""
        self.path = path
        self._folded = Folded[Mapping[str, Learning]](path, {}, _read_lines)

    def learnings(self) -> Mapping[str, Learning]:
        """Read the learnings by id, oldest line first; the latest line about one counts."""
        return self._folded.value()

    def add(self, learnings: Iterable[Learning], *, most: int | None = None) -> None:
        """Keep further learnings, or other versions of what is kept."""
        known = self.learnings()
        new = {one.id: one for one in learnings if known.get(one.id) != one}
        if most is not None and len(known) + len(new) > most:
            kept = {**{one: known[one] for one in known if one not in new}, **new}
            self.replace(list(kept.values())[-most:])
        elif new:
            append_text(self.path, "".join(map(_line_of, new.values())))

    def replace(self, learnings: Iterable[Learning]) -> int:
        """Keep these learnings and no others; nothing is written where they are the same."""
        known, found = self.learnings(), {one.id: one for one in learnings}
        if known != found:
            replace_text(self.path, "".join(map(_line_of, found.values())))
        return sum(known.get(one.id) != one for one in found.values())


def _line_of(learning: Learning) -> str:
    return line_of({"learning": learning_to_dict(learning)})


def _read_lines(known: Mapping[str, Learning], content: bytes) -> Mapping[str, Learning]:
    found = dict(known)
    for line in objects_in(content):
        try:
            learning = learning_from_dict(line.get("learning"))
        except CodecError:
            continue
        if is_learning_id(learning.id):
            found.pop(learning.id, None)
            found[learning.id] = learning
    return found
