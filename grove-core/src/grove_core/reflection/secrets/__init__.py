"""Secrets in texts that grove is about to write: found, named, and shown masked only."""

from hashlib import sha256
from typing import Final

from attrs import frozen

from grove_core.errors import ReflectionError
from grove_core.model.value import Value
from grove_core.text import remove_invisible

_DIGEST_LENGTH: Final = 16
_SHOWN: Final = 4
# Of a value shorter than this the first characters would tell too much.
_SHOWN_FROM: Final = 20


@frozen(kw_only=True, eq=False, repr=False)
class FoundSecret(Value):
    """A secret in a text."""

    kind: str
    start: int
    end: int
    digest: str
    masked: str


def find_secrets(text: str) -> tuple[FoundSecret, ...]:
    """Find keys, tokens, private keys and passwords in a text."""
    if len(text) < _SHOWN:
        return ()
    try:
        from grove_core.reflection.secrets.detector import detect
    except ImportError as error:
        raise ReflectionError(
            f"texts cannot be checked for secrets, so none is stored: {error}; install grove-core"
            " again with its dependencies"
        ) from error
    visible = remove_invisible(text)
    found: list[FoundSecret] = []
    covered = 0
    for kind, start, end in sorted(detect(visible), key=lambda hit: (hit[1], -hit[2])):
        if start < covered:
            continue
        covered = end
        found.append(_found(kind, start, end, visible[start:end]))
    return tuple(found)


def digest_of(value: str) -> str:
    """Digest a value as ``secrets.allow`` names it."""
    return sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


def _found(kind: str, start: int, end: int, value: str) -> FoundSecret:
    shown = value[:_SHOWN] if len(value) >= _SHOWN_FROM else ""
    return FoundSecret(
        kind=kind,
        start=start,
        end=end,
        digest=digest_of(value),
        masked=f"{shown}*** ({len(value)} characters)",
    )
