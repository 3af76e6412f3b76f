"""The memory backend itself."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grove_backend_markdown.places import area_of, file_of, folder_of, is_spread
from grove_core import (
    BackendContext,
    Capability,
    Changes,
    Filters,
    Health,
    Hit,
    Learning,
    LearningNotFoundError,
    LearningStatus,
    Query,
    Receipt,
    ReceiptStatus,
    append_text,
    check_storable,
    edit_text,
)

if TYPE_CHECKING:
    from grove_backend_markdown.store import Store

# Most hooks ask for no more than the names of the files: what reads them is imported by the one who
# reads.

NAME: Final = "markdown"


class MarkdownBackend:
    """Learnings in markdown files, made to be read, reviewed and edited by people."""

    name = NAME
    capabilities = frozenset(
        {
            Capability.GET,
            Capability.ITERATE,
            Capability.SET_STATUS,
            Capability.PERSONAL,
            Capability.FILES,
            Capability.CHANGES,
        }
    )

    def __init__(self, context: BackendContext) -> None:
        """Open the backend; nothing is read or created yet."""
        self._area = context.area
        self._inside = area_of(context)
        self._spread = is_spread(context)
        self._file, self._folder = file_of(context), folder_of(context)

    @cached_property
    def _store(self) -> "Store":
        from grove_backend_markdown.store import Store

        return Store(self._file, self._folder, spread=self._spread)

    def write(self, learning: Learning) -> Receipt:
        """Append a learning to the file, or to one of its own, unless its id is there already."""
        from grove_backend_markdown.format import file_header, format_entry
        from grove_backend_markdown.reader import read_entries

        check_storable(learning)
        entry = format_entry(learning)
        path = self._store.file_for(learning.id)
        header = f"{file_header(self._area)}\n" if path == self._file else ""

        def unless_there(text: str) -> str:
            if learning.id in text and read_entries(text).find(learning.id):
                return ""
            return _joint(text, header) + entry

        stored = self._store.find(learning.id)
        if stored is not None:
            path = stored.path
            is_new = self._complete(path, learning.id, entry)
        else:
            is_new = append_text(path, unless_there, inside=self._inside)
            self._store.forget(path)
        return Receipt(
            learning_id=learning.id,
            status=ReceiptStatus.STORED if is_new else ReceiptStatus.DUPLICATE,
            backend=NAME,
            location=str(path),
        )

    def _complete(self, path: Path, learning_id: str, entry: str) -> bool:
        """Write the rest of an entry that was cut off at the file's end, by a loss of power say."""
        heading = entry[: entry.index(learning_id) + len(learning_id)]
        completed: list[bool] = []

        def whole(text: str) -> str:
            start = text.rfind(heading)
            torn = start >= 0 and text[start:] != entry and entry.startswith(text[start:])
            completed.append(torn)
            return text[:start] + entry if torn else text

        edit_text(path, whole, inside=self._inside)
        self._store.forget(path)
        return completed[-1]

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        """Find learnings by the rules: tags, files, ticket, words."""
        from grove_core import rule_hits

        return rule_hits(query, self._store.learnings(), filters)

    def ping(self) -> Health:
        """Look whether the files can be read and written."""
        from grove_backend_markdown.health import look_at

        return look_at(self._store, self._inside)

    def get(self, learning_id: str) -> Learning | None:
        """Fetch one learning of any status."""
        located = self._store.find(learning_id)
        return located.entry.learning if located else None

    def iterate(self) -> Sequence[Learning]:
        """Go through all learnings of any status, oldest first."""
        return sorted(self._store.learnings(), key=lambda learning: learning.timestamp)

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        """Archive, restore or supersede a learning; every other byte of the file stays."""
        from grove_backend_markdown.format import change_status
        from grove_backend_markdown.store import read_whole

        located = self._store.find(learning_id)
        if located is not None:
            read_whole(located.path)  # one that is not is not written again
            edit_text(
                located.path,
                lambda text: change_status(text, learning_id, status, note),
                inside=self._inside,
            )
            self._store.forget(located.path)
        learning = self.get(learning_id)
        if learning is None:
            raise LearningNotFoundError(f"there is no learning {learning_id} in {self._store.path}")
        return learning

    def files(self) -> Sequence[Path]:
        """Name the file and, for a project, the folder that learnings are read from."""
        return (self._file,) if self._folder is None else (self._file, self._folder)

    def changes(self, mark: str) -> Changes:
        """Return what has changed since an earlier answer."""
        from grove_backend_markdown.changes import changes_since

        return changes_since(self._store.contents(), mark)


def _joint(text: str, header: str) -> str:
    """What stands between the text that is there and a new entry."""
    if not text:
        return header
    return "" if text.endswith(("\n\n", "\n\r\n")) else "\n"
