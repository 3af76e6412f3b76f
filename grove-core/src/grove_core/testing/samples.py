"""Learnings as core hands them to backends, written down: ordinary ones and hostile ones."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import tomli

from grove_core.model.learning import (
    Category,
    Confidence,
    Criterion,
    Learning,
    LearningStatus,
)

FIRST_INSTANT: Final = datetime(2026, 2, 6, 10, tzinfo=UTC)
UNKNOWN_ID: Final = "cl_20260206_zzzzzz"
NONSENSE: Final = "zqxjvkwpfy"

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
