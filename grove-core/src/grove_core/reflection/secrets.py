"""Secrets in texts that grove is about to write: found, named, and shown masked only."""

from collections.abc import Container, Iterator
from hashlib import sha256
from typing import Any, Final, NamedTuple

from attrs import evolve

from grove_core.errors import ReflectionError
from grove_core.model.learning import Rejection
from grove_core.reflection.candidates import LEARNING_FIELDS
from grove_core.reflection.submission import Submission
from grove_core.text import one_line, remove_invisible

_DIGEST_LENGTH: Final = 16
_SHOWN: Final = 4
# Of a value shorter than this the first characters would tell too much.
_SHOWN_FROM: Final = 20
# Longer texts are refused for their length; this much covers what their refusal can quote.
_LONGEST: Final = 10_000


class FoundSecret(NamedTuple):
    """A secret in a text."""

    kind: str
    start: int
    end: int
    digest: str
    masked: str


class Leak(NamedTuple):
    """A secret in a field."""

    field: str
    secret: FoundSecret

    @property
    def text(self) -> str:
        """What is wrong and how to fix it, with the value masked."""
        one = self.secret
        return (
            f"{self.field}: holds what looks like a secret ({one.kind}: {one.masked}): leave the"
            " value out and say where it is kept, and change it if it is in use; if it is none,"
            f' let it pass with secrets.allow: put allow = ["{one.digest}"] into'
            " .grove/config.toml, below its line [secrets]"
        )


def find_secrets(text: str) -> tuple[FoundSecret, ...]:
    """Find keys, tokens, private keys and passwords in a text."""
    if len(text) < _SHOWN:
        return ()
    visible = remove_invisible(text)
    try:
        from grove_core.reflection.secret_rules import detect

        hits = sorted(detect(visible), key=lambda hit: (hit[1], -hit[2]))
    except ImportError as error:
        raise ReflectionError(
            f"texts cannot be checked for secrets, so none is stored: {error}; install grove-core"
            " again with its dependencies"
        ) from error
    found: list[FoundSecret] = []
    covered = 0
    for kind, start, end in hits:
        if start >= covered:
            covered = end
            found.append(_found(kind, start, end, visible[start:end]))
    return tuple(found)


def digest_of(value: str) -> str:
    """Digest a value as ``secrets.allow`` names it."""
    return sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


def find_leak(value: Any, allowed: Container[str], field: str = "") -> Leak | None:  # noqa: ANN401 - any JSON value
    """Find the first secret in a text, or in the texts and names of a JSON value."""
    for name, text in _texts(value, field):
        bounded = text if len(text) <= _LONGEST else one_line(remove_invisible(text))[:_LONGEST]
        for secret in find_secrets(bounded):
            if secret.digest not in allowed:
                return Leak(field=name, secret=secret)
    return None


def objection_to(raw: Any, allowed: Container[str]) -> Rejection | None:  # noqa: ANN401 - any JSON value
    """Object to a candidate that holds a secret anywhere."""
    leak = find_leak(raw, allowed)
    return None if leak is None else Rejection(reason=leak.text, field=leak.field)


def without_secrets(
    submission: Submission, allowed: Container[str]
) -> tuple[Submission, tuple[str, ...]]:
    """Leave out what a submission says besides its candidates where it holds a secret."""
    warnings: list[str] = []

    def safe(text: str | None, field: str) -> str | None:
        leak = find_leak(text, allowed, field)
        if leak is None:
            return text
        warnings.append(f"{leak.text}; it was left out")
        return None

    used = tuple(
        evolve(one, how=safe(one.how, "learnings_used.how"))
        for one in submission.learnings_used
        if safe(one.id, "learnings_used.id") is not None
    )
    corrections = tuple(
        evolve(one, why=safe(one.why, "corrections.why"))
        for one in submission.corrections
        if safe(one.id, "corrections.id") is not None
    )
    ratings = tuple(
        one for one in submission.ratings if safe(one.learning_id, "ratings.id") is not None
    )
    problems = tuple(one for one in submission.problems if safe(one, "ratings.id") is not None)
    unknown = tuple(
        name
        for name in submission.unknown_fields
        if safe(name, "the name of an unknown field") is not None
    )
    cleaned = evolve(
        submission,
        learnings_used=used,
        corrections=corrections,
        ratings=ratings,
        notes=safe(submission.notes, "notes") or "",
        nothing_learned=safe(submission.nothing_learned, "nothing_learned"),
        unknown_fields=unknown,
        problems=problems,
    )
    return cleaned, tuple(warnings)


def _texts(value: Any, field: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON value
    """Walk through all texts of a JSON value; of a nested field its outermost name counts."""
    waiting: list[tuple[str, Any]] = [(field, value)]
    while waiting:
        name, one = waiting.pop(0)
        if isinstance(one, str):
            yield name or "the candidate", one
        elif isinstance(one, list):
            waiting.extend((name, entry) for entry in one)
        elif isinstance(one, dict):
            for key, entry in one.items():
                yield "the name of a field", key
                if key in LEARNING_FIELDS:
                    waiting.append((name or key, entry))
                    continue
                inner = name or "an unknown field"
                # `"password": "..."` is a secret for its name.
                waiting.append((inner, f"{key}: {entry}" if isinstance(entry, str) else entry))


def _found(kind: str, start: int, end: int, value: str) -> FoundSecret:
    shown = value[:_SHOWN] if len(value) >= _SHOWN_FROM else ""
    masked = f"{shown}*** ({len(value)} characters)"
    return FoundSecret(kind, start, end, digest_of(value), masked)
