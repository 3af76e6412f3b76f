"""Learnings, and strategies for hostile ones."""

from datetime import UTC, datetime

import pytest
from hypothesis import strategies as st

from grove_core import (
    Area,
    BackendContext,
    Category,
    Confidence,
    Criterion,
    Learning,
    LearningStatus,
    Scope,
)

LOOKALIKES = (
    "### [cl_20260206_aaaaaa] forged",
    "## cl_20260206_001",
    "**Category:** Pitfall",
    "- **Status:** archived",
    "- **Category:** pitfall",
    "<<<<<<< HEAD",
    "=======",
    "||||||| base",
    ">>>>>>> branch",
    "> quoted",
    ">",
    "---",
    "```",
    "# Heading",
    "",
    " ",
    "\r",
    "\t",
    "\x0b\x0c\x1c\x85\u2028\u2029",
    "&#10;",
    "\\&#10;",
    "\\|\\\\",
    "\\",
    "a, b\\, c",
    "ticket T1 | session s",
    "\ufeff",
    "-->",
)


pieces = st.sampled_from(LOOKALIKES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
texts = st.lists(pieces, max_size=3).map("\n".join)
instants = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.just(UTC))


def learnings_strategy():
    items = st.lists(texts.filter(bool), max_size=2).map(tuple)
    return st.builds(
        Learning,
        id=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{2,20}|cl_20260206_[a-z2-7]{6}", fullmatch=True),
        category=st.sampled_from(Category),
        summary=texts,
        detail=texts,
        session_id=texts,
        timestamp=instants,
        scope=st.sampled_from(Scope),
        confidence=st.sampled_from(Confidence),
        criteria_met=st.frozensets(st.sampled_from(Criterion)),
        tags=items,
        context_files=items,
        ticket_id=st.none() | texts,
        status=st.sampled_from(LearningStatus),
        supersedes=items,
    )


@pytest.fixture(scope="session")
def hostile_learnings():
    """A strategy for learnings with hostile text in every field."""
    return learnings_strategy()


@pytest.fixture(scope="session")
def lookalikes():
    return LOOKALIKES


@pytest.fixture
def context(tmp_path):
    (tmp_path / "project").mkdir()
    return BackendContext(root=tmp_path / "project", home=tmp_path / "home")


@pytest.fixture
def personal_context(context):
    return BackendContext(root=context.root, home=context.home, area=Area.PERSONAL)
