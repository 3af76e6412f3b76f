"""Which learnings were written or used on this machine: a digest of each, in grove's own home.

A repository can bring learnings of any id, and change those that are known, but not write here. The
digests are made with a key that never leaves this machine, so that nobody else can make one.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grove_core.errors import StorageError
from grove_core.storage import files

if TYPE_CHECKING:
    from grove_core.model.learning import Learning

_KEY_BYTES: Final = 64


class Origins:
    """The digests that are known of one project, and the key that they are made with."""

    def __init__(self, path: Path, key_file: Path) -> None:
        """Read them; nothing is known where they cannot be read."""
        self._path, self._key_file = path, key_file
        self._known: frozenset[str] = frozenset()
        self._key = b""
        with suppress(StorageError):
            self._known = frozenset((files.read_text(path) or "").split())
            # Where nothing is known no key is needed.
            self._key = (files.read_bytes(key_file, _KEY_BYTES) or b"") if self._known else b""

    def knows(self, learning_id: str, summary: str, detail: str) -> bool:
        """Return whether a learning of this text was written or used here."""
        return bool(self._key) and self._digest(learning_id, summary, detail) in self._known

    def note(self, learnings: "Iterable[Learning]") -> None:
        """Note learnings as written or used here, each once."""
        self._key = _key(self._key_file)
        digests = dict.fromkeys(self._digest(one.id, one.summary, one.detail) for one in learnings)

        def missing(text: str) -> str:
            known = {*text.split()}
            return "".join(f"{one}\n" for one in digests if one not in known)

        if digests:
            files.append_text(self._path, missing)

    def _digest(self, learning_id: str, summary: str, detail: str) -> str:
        from _blake2 import blake2b  # as hashlib has it, without OpenSSL, which costs a hook much

        text = f"{learning_id}\0{summary}\0{detail}".encode("utf-8", "surrogatepass")
        found: Any = blake2b(text, digest_size=16, key=self._key)
        return str(found.hexdigest())


def _key(path: Path) -> bytes:
    """Read the key, which is made by the first one who needs it."""
    files.make_directory(path.parent)
    with files.locked(path, mode=0o600) as descriptor:
        key = os.pread(descriptor, _KEY_BYTES, 0)
        if len(key) < _KEY_BYTES:  # new, or cut off by a crash
            os.ftruncate(descriptor, 0)
            key = os.urandom(_KEY_BYTES // 2).hex().encode()
            os.write(descriptor, key)
    return key
