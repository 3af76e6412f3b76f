"""Learnings as core hands them to backends: ordinary ones, hostile ones, and any for hypothesis."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import tomli
from attrs import fields as fields_of
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from grove_core.model.learning import (
    DETAIL_LENGTH_MAX,
    SUMMARY_LENGTH_MAX,
    Candidate,
    Category,
    Confidence,
    Criterion,
    Learning,
    LearningStatus,
    Scope,
)
from grove_core.reflection.candidates import ReadCandidate, read_candidate
from grove_core.text import clean_line

FIRST_INSTANT: Final = datetime(2026, 2, 6, 10, tzinfo=UTC)
UNKNOWN_ID: Final = "cl_20260206_zzzzzz"
NONSENSE: Final = "zqxjvkwpfy"
_WORDS: Final = "The orders report is slow"
_LONGEST_TICKET: Final = 200

_USUAL: Final[Mapping[str, Any]] = {
    "category": Category.PITFALL,
    "detail": "Read them once and keep them.\n\nSee `Shelf.read()` for the way it is done.",
    "session_id": "session-abc123",
    "criteria_met": frozenset({Criterion.BEHAVIOR_CHANGING}),
    "tags": ("shelf", "reading"),
    "context_files": ("src/library/shelf.py",),
    "ticket_id": "LIB-7",
}


def example_learning(number: int = 1, **fields: Any) -> Learning:  # noqa: ANN401 - any field
    """Make an ordinary learning."""
    values = {
        **_USUAL,
        "id": learning_id(number),
        "summary": f"The shelf reads its books again each time, number {number}",
        "timestamp": FIRST_INSTANT + timedelta(minutes=number),
        **fields,
    }
    return Learning(**values)


def learning_id(number: int) -> str:
    """Make an id as core makes them."""
    digits = "abcdefghijklmnopqrstuvwxyz234567"
    return "cl_20260206_" + "".join(digits[number >> 5 * place & 31] for place in range(5, -1, -1))


SUBJECTS: Final = {
    "text": example_learning(
        1,
        category=Category.DEPENDENCY,
        summary="Kerosene migrations lock the invoice table",
        detail="Build the index concurrently, before the deployment.",
        tags=("postgres",),
        context_files=("db/upgrade.sql",),
        ticket_id="SHOP-11",
    ),
    "tags": example_learning(
        2,
        category=Category.CONVENTION,
        summary="Names of branches begin with the quarter",
        detail="The release script sorts them alphabetically, and breaks otherwise.",
        tags=("telescope", "releasing"),
        context_files=("scripts/release.sh",),
        ticket_id="SHOP-12",
    ),
    "files": example_learning(
        3,
        category=Category.DEBUGGING,
        summary="Workers hang whenever the broker restarts",
        detail="Set a heartbeat of ten seconds, and reconnect by hand.",
        tags=("queue",),
        context_files=("workers/heartbeat.py", "workers/main.py"),
        ticket_id="SHOP-13",
    ),
    "ticket_id": example_learning(
        4,
        category=Category.DOMAIN,
        summary="Vouchers expire at midnight of the customer",
        detail="Store the time zone beside each voucher; servers know theirs only.",
        tags=("calendar",),
        context_files=("shop/voucher.rb",),
        ticket_id="SHOP-42",
    ),
}
"""Learnings that have no word, tag, file or ticket in common, by what finds them."""

VARIANTS: Final = {
    **{f"category {each.value}": example_learning(category=each) for each in Category},
    **{f"confidence {each.value}": example_learning(confidence=each) for each in Confidence},
    **{f"status {each.value}": example_learning(status=each) for each in LearningStatus},
    "every criterion": example_learning(criteria_met=frozenset(Criterion)),
    "no ticket": example_learning(ticket_id=None),
    "a ticket with blanks and marks": example_learning(ticket_id="#12 | draft: (a, b) *c*"),
    "no file": example_learning(context_files=()),
    "several files": example_learning(
        context_files=("src/a.py", "docs/größe, neu.md", "a b/c|d.txt", "notes `y`.md", "[z](q).md")
    ),
    "ten tags": example_learning(tags=tuple(f"tag-{number}" for number in range(10))),
    "tags of other scripts": example_learning(tags=("größe", "日本語", "русский", "3d")),
    "supersedes": example_learning(supersedes=(learning_id(77), "cl_20260206_001")),
    "another kind of id": example_learning(id="cl_20260206_001"),
    "an id without date": example_learning(id="A-b_9"),
    "a session of digits": example_learning(session_id="0001"),
    "another year": example_learning(timestamp=datetime(2019, 12, 31, 23, 59, 59, tzinfo=UTC)),
    "the longest texts": example_learning(
        summary="long " * 39 + "words", detail="Much to say.\n" * 153 + "Enough"
    ),
    "one long line": example_learning(detail="x" * 2000),
}
"""Learnings that differ from an ordinary one in one thing each, by that thing."""

_LOOK_ALIKES: Final = tomli.loads(
    (Path(__file__).parent / "texts.toml").read_text(encoding="utf-8")
)
TEXTS: Final[Mapping[str, str]] = _LOOK_ALIKES["details"]
"""Details that look like what stands around them in one format or another."""
SUMMARIES: Final[Mapping[str, str]] = _LOOK_ALIKES["summaries"]
"""Summaries of the same kind."""


def learnings(*scopes: Scope) -> SearchStrategy[Learning]:
    """Make learnings such as come through the pipeline, whatever agents send.

    Args:
        scopes: The scopes they may have; project and team by default.

    Returns:
        A strategy. Ids are such as core makes; two learnings may have the same.
    """

    def values(kind: Any) -> SearchStrategy[str]:  # noqa: ANN401 - any enum
        return st.sampled_from([one.value for one in kind])

    raw = st.fixed_dictionaries(
        {
            "category": values(Category),
            "summary": _texts(tuple(SUMMARIES.values()), " ", SUMMARY_LENGTH_MAX),
            "detail": _texts(tuple(TEXTS.values()), "\n", DETAIL_LENGTH_MAX),
            "confidence": values(Confidence),
            "criteria_met": st.lists(values(Criterion), min_size=1, max_size=4, unique=True),
            "tags": st.lists(st.text(max_size=12), max_size=9).map(lambda some: ["orders", *some]),
            "context_files": st.lists(st.text(max_size=20), max_size=4),
            "supersedes": st.lists(st.integers(0, 99).map(learning_id), max_size=3),
        }
    )
    return st.builds(
        _learning,
        candidate=raw.map(read_candidate).filter(lambda read: isinstance(read, ReadCandidate)),
        id=st.integers(0, 32**6 - 1).map(learning_id),
        session_id=st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True),
        timestamp=st.datetimes(
            datetime(2000, 1, 1),  # noqa: DTZ001 - the time zone is added below
            datetime(2099, 12, 31),  # noqa: DTZ001
            timezones=st.just(UTC),
        ).map(lambda instant: instant.replace(microsecond=0)),
        scope=st.sampled_from(scopes or (Scope.PROJECT, Scope.TEAM)),
        ticket_id=st.none()
        | st.from_regex(r"[A-Z]{2,5}-[0-9]{1,4}|#[0-9]{1,4}", fullmatch=True)
        | st.text(max_size=20).map(lambda text: clean_line(text, _LONGEST_TICKET)).filter(bool),
        status=st.just(LearningStatus.ACTIVE),
    )


def _learning(candidate: ReadCandidate, **own: Any) -> Learning:  # noqa: ANN401 - any field
    read = candidate.candidate
    return Learning(**{each.name: getattr(read, each.name) for each in fields_of(Candidate)} | own)


def _texts(samples: tuple[str, ...], joint: str, longest: int) -> SearchStrategy[str]:
    line = st.sampled_from([line for sample in samples for line in sample.split("\n")])
    piece = line | st.text(max_size=30) | st.just(_WORDS)
    around = st.lists(piece, max_size=4).map(joint.join)
    return st.tuples(around, st.just(_WORDS), around).map(
        lambda parts: joint.join(filter(None, parts))[:longest]
    )
