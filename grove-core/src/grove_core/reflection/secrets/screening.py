"""Keeping secrets out of everything that a command or a submission would write."""

from collections.abc import Container, Iterator
from typing import Any, Final

from attrs import evolve, frozen

from grove_core.model.learning import Rejection
from grove_core.model.value import Value
from grove_core.reflection.limits import CANDIDATE_FIELDS
from grove_core.reflection.secrets import FoundSecret, find_secrets
from grove_core.reflection.submission import Submission
from grove_core.text import one_line, remove_invisible

# Longer texts are refused for their length; this much covers what their refusal can quote.
_LONGEST: Final = 10_000
_LEFT_OUT: Final = "leave the value out and say where it is kept, and change it if it is in use"


@frozen(kw_only=True, eq=False, repr=False)
class Leak(Value):
    """A secret in a field."""

    field: str
    secret: FoundSecret

    @property
    def words(self) -> str:
        """What is wrong and how to mend it, with the value masked."""
        one = self.secret
        return (
            f"{self.field}: holds what looks like a secret ({one.kind}: {one.masked}): {_LEFT_OUT};"
            " if it is none, let it pass with secrets.allow: put"
            f' allow = ["{one.digest}"] into .grove/config.toml, below its line [secrets]'
        )


def find_leak(value: Any, allowed: Container[str], field: str = "") -> Leak | None:  # noqa: ANN401 - any JSON value
    """Find the first secret in a text, or in the texts and names of a JSON value."""
    for name, text in _texts(value, field):
        for secret in find_secrets(_within_bounds(text)):
            if secret.digest not in allowed:
                return Leak(field=name, secret=secret)
    return None


def objection_to(raw: Any, allowed: Container[str]) -> Rejection | None:  # noqa: ANN401 - any JSON value
    """Object to a candidate that holds a secret anywhere."""
    leak = find_leak(raw, allowed)
    if leak is None:
        return None
    return Rejection(reason=leak.words, field=leak.field)


def without_secrets(
    submission: Submission, allowed: Container[str]
) -> tuple[Submission, tuple[str, ...]]:
    """Leave out what a submission says besides its candidates where it holds a secret."""
    warnings: list[str] = []

    def safe(text: str | None, field: str) -> str | None:
        leak = find_leak(text, allowed, field)
        if leak is None:
            return text
        warnings.append(f"{leak.words}; it was left out")
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
                if key in CANDIDATE_FIELDS:
                    waiting.append((name or key, entry))
                    continue
                inner = name or "an unknown field"
                # `"password": "..."` is a secret for its name.
                waiting.append((inner, f"{key}: {entry}" if isinstance(entry, str) else entry))


def _within_bounds(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return one_line(remove_invisible(text))[:_LONGEST]
