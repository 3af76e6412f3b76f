"""Where the learnings are kept: put your own store in the place of this file of JSON lines."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import grove_core as grove
from attrs import evolve

NAME = "acme"
FILE = f".grove/{NAME}.jsonl"
_FAULTS = (grove.StorageError, grove.CodecError, ValueError)
_Known = dict[str, grove.Learning]


class JsonLinesBackend:
    """Keeps a learning on a line; of several lines with one id the last one counts."""

    name = NAME
    capabilities = frozenset(
        {
            grove.Capability.GET,
            grove.Capability.ITERATE,
            grove.Capability.SET_STATUS,
            grove.Capability.PERSONAL,
            grove.Capability.FILES,
        }
    )

    def __init__(self, context: grove.BackendContext) -> None:
        """Remember where to work; nothing is read or made yet."""
        is_personal = context.area is grove.Area.PERSONAL
        self._path = context.home / Path(FILE).name if is_personal else context.root / FILE
        # Links in a project were made by others: they must not lead elsewhere.
        self._inside = None if is_personal else context.root

    def write(self, learning: grove.Learning) -> grove.Receipt:
        """Store a learning, unless its id is there already."""
        is_new = self._append(lambda known: None if learning.id in known else learning)
        return grove.Receipt(
            learning_id=learning.id,
            status=grove.ReceiptStatus.STORED if is_new else grove.ReceiptStatus.DUPLICATE,
            backend=self.name,
            location=str(self._path),
        )

    def search(self, query: grove.Query, filters: grove.Filters) -> Sequence[grove.Hit]:
        """Score every learning by grove's own rules; the best come first."""
        return grove.rule_hits(query, self._read().values(), filters)

    def ping(self) -> grove.Health:
        """Read the file."""
        try:
            return grove.Health(ok=True, detail=f"learnings: {len(self._read())} ({self._path})")
        except grove.BackendError as error:
            return grove.Health(ok=False, detail=str(error))

    def get(self, learning_id: str) -> grove.Learning | None:
        """Fetch one learning."""
        return self._read().get(learning_id)

    def iterate(self) -> Sequence[grove.Learning]:
        """List all learnings, oldest first."""
        return sorted(self._read().values(), key=lambda learning: learning.timestamp)

    def set_status(
        self, learning_id: str, status: grove.LearningStatus, note: str = ""
    ) -> grove.Learning:
        """Give a learning another status; this store has no place for the note."""
        del note
        changed: grove.Learning | None = None

        def change(known: _Known) -> grove.Learning | None:
            nonlocal changed
            if learning_id in known:
                changed = evolve(known[learning_id], status=status)
            return changed

        self._append(change)
        if changed is None:
            raise grove.LearningNotFoundError(f"there is no learning {learning_id} in {self._path}")
        return changed

    def files(self) -> Sequence[Path]:
        """Name what is read: as long as it looks the same, grove does not ask again."""
        return [self._path]

    def _append(self, decide: Callable[[_Known], grove.Learning | None]) -> bool:
        """Append what is decided from what is known, under the file's lock."""

        def line(present: str) -> str:
            learning = decide(_parse(present))
            return "" if learning is None else json.dumps(grove.learning_to_dict(learning)) + "\n"

        try:
            return grove.append_text(self._path, line, inside=self._inside)
        except _FAULTS as error:
            raise grove.BackendError(f"{self._path}: {error}") from error

    def _read(self) -> _Known:
        try:
            return _parse(grove.read_text(grove.confined(self._path, self._inside)) or "")
        except _FAULTS as error:
            raise grove.BackendError(f"{self._path}: {error}") from error


def _parse(text: str) -> _Known:
    learnings = (grove.learning_from_dict(json.loads(line)) for line in text.split("\n") if line)
    return {learning.id: learning for learning in learnings}
