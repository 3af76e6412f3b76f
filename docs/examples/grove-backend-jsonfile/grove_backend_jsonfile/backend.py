"""The backend class."""

import json
from collections.abc import Callable
from pathlib import Path

from attrs import evolve

import grove_core as grove

FILE = "learnings.json"
_FAULTS = (grove.StorageError, grove.CodecError, TypeError, ValueError)


class JsonFileBackend:
    """Keeps learnings in a JSON object, by id."""

    name = "jsonfile"
    capabilities = frozenset(
        {grove.Capability.GET, grove.Capability.ITERATE, grove.Capability.SET_STATUS}
    )

    def __init__(self, context: grove.BackendContext) -> None:
        self._path = context.root / FILE
        self._root = context.root

    def write(self, learning: grove.Learning) -> grove.Receipt:
        """Store a learning, unless its id is there already."""
        status = grove.ReceiptStatus.DUPLICATE

        def add(stored: dict[str, grove.Learning]) -> None:
            nonlocal status
            if learning.id not in stored:
                stored[learning.id] = learning
                status = grove.ReceiptStatus.STORED

        self._edit(add)
        return grove.Receipt(
            learning_id=learning.id, status=status, backend=self.name, location=str(self._path)
        )

    def search(self, query: grove.Query, filters: grove.Filters) -> list[grove.Hit]:
        """Score every learning by grove's own rules; the best come first."""
        return grove.rule_hits(query, self.iterate(), filters)

    def ping(self) -> grove.Health:
        """Read the file."""
        try:
            return grove.Health(ok=True, detail=f"{len(self.iterate())} learnings in {FILE}")
        except grove.BackendError as error:
            return grove.Health(ok=False, detail=str(error))

    def get(self, learning_id: str) -> grove.Learning | None:
        """Fetch one learning."""
        return next((one for one in self.iterate() if one.id == learning_id), None)

    def iterate(self) -> list[grove.Learning]:
        """List all learnings, oldest first."""
        return sorted(read_file(self._path), key=lambda learning: learning.timestamp)

    def set_status(
        self, learning_id: str, status: grove.LearningStatus, note: str = ""
    ) -> grove.Learning:
        """Give a learning another status; this store has no place for the note."""

        def change(stored: dict[str, grove.Learning]) -> None:
            if learning_id in stored:
                stored[learning_id] = evolve(stored[learning_id], status=status)

        self._edit(change)
        learning = self.get(learning_id)
        if learning is None:
            raise grove.LearningNotFoundError(f"there is no learning {learning_id} in {self._path}")
        return learning

    def _edit(self, change: Callable[[dict[str, grove.Learning]], None]) -> None:
        """Change the file under its lock, so that parallel agents lose nothing."""

        def edit(text: str) -> str:
            stored = _read(text)
            change(stored)
            values = {key: grove.learning_to_dict(one) for key, one in stored.items()}
            return json.dumps(values, indent=2) + "\n"

        try:
            grove.edit_text(self._path, edit, inside=self._root)
        except _FAULTS as error:
            raise grove.BackendError(f"{self._path}: {error}") from error


def read_file(path: Path) -> list[grove.Learning]:
    """Read all learnings; a file that is not there holds none."""
    try:
        return list(_read(grove.read_text(path) or "").values())
    except _FAULTS as error:
        raise grove.BackendError(f"{path}: {error}") from error


def _read(text: str) -> dict[str, grove.Learning]:
    values = json.loads(text or "{}")
    if not isinstance(values, dict) or not all(isinstance(one, dict) for one in values.values()):
        raise TypeError("is no JSON object of learnings")
    return {key: grove.learning_from_dict(value) for key, value in values.items()}
