"""Which learnings were written or used on this machine: a digest of each, in grove's own home.

A repository can bring learnings of any id, and change those that are known, but not write here.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grove_core.errors import StorageError
from grove_core.storage import files

if TYPE_CHECKING:
    from grove_core.model.learning import Learning


def digest_of(learning_id: str, summary: str, detail: str) -> str:
    """Digest what a learning says, and under which id."""
    from _blake2 import blake2b  # as hashlib has it, without OpenSSL, which costs a hook much

    text = f"{learning_id}\0{summary}\0{detail}"
    found: Any = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
    return str(found.hexdigest())


def known_digests(path: Path) -> frozenset[str]:
    """Read the digests; none where they cannot be read."""
    with suppress(StorageError):
        return frozenset((files.read_text(path) or "").split())
    return frozenset()


def note(path: Path, learnings: "Iterable[Learning]") -> None:
    """Note learnings as written or used here, each once."""
    digests = dict.fromkeys(digest_of(one.id, one.summary, one.detail) for one in learnings)

    def missing(text: str) -> str:
        known = {*text.split()}
        return "".join(f"{one}\n" for one in digests if one not in known)

    if digests:
        files.append_text(path, missing)
