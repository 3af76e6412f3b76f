"""Learnings, the candidates they come from, and what became of a candidate."""

from datetime import datetime
from enum import Enum
from typing import Final

import attrs

from grove_core.model.value import TEXT, TEXT_OR_NONE, Value, frozen

LEARNING_SCHEMA_VERSION: Final = 1


class Category(Enum):
    """What kind of knowledge a learning holds."""

    PATTERN = "pattern"
    PITFALL = "pitfall"
    CONVENTION = "convention"
    DEPENDENCY = "dependency"
    PROCESS = "process"
    DOMAIN = "domain"
    DEBUGGING = "debugging"


class Scope(Enum):
    """Who a learning is for, which decides where it is stored."""

    PROJECT = "project"
    TEAM = "team"
    PERSONAL = "personal"
    EPHEMERAL = "ephemeral"


class Confidence(Enum):
    """How sure the author of a learning was."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Criterion(Enum):
    """Why a learning is worth keeping (the write gate's criteria)."""

    BEHAVIOR_CHANGING = "behavior_changing"
    DECISION_RATIONALE = "decision_rationale"
    STABLE_FACT = "stable_fact"
    EXPLICIT_REQUEST = "explicit_request"


class LearningStatus(Enum):
    """Where a learning stands in its life."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    SUPERSEDED = "superseded"


class Stage(Enum):
    """The stage of the pipeline that refused a candidate."""

    SCHEMA = "schema"
    SECRET = "secret"  # noqa: S105 - the name of a stage
    WRITE_GATE = "write_gate"
    DUPLICATE = "duplicate"
    PLUGIN = "plugin"
    ROUTING = "routing"


@frozen(kw_only=True, eq=False, repr=False)
class Candidate(Value):
    """A learning as an agent proposes it, after its fields were read and cleaned.

    Attributes:
        category: What kind of knowledge it is.
        summary: One line of 10 to 200 code points.
        detail: Markdown of 20 to 2,000 code points.
        scope: Who it is for.
        confidence: How sure the author is.
        criteria_met: At least one reason to keep it.
        tags: One to ten lower-case tags of letters, digits and hyphens.
        context_files: POSIX paths relative to the project root.
        supersedes: Ids of learnings that this one corrects.
    """

    category: Category
    summary: str
    detail: str
    scope: Scope = Scope.PROJECT
    confidence: Confidence = Confidence.MEDIUM
    criteria_met: frozenset[Criterion] = frozenset()
    tags: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class Learning(Value):
    """One stored piece of knowledge.

    Attributes:
        id: ``cl_YYYYMMDD_`` and six random base-32 characters; other shapes are read and kept.
        category: What kind of knowledge it is.
        summary: One line of 10 to 200 code points.
        detail: Markdown of 20 to 2,000 code points.
        session_id: The session that wrote it.
        timestamp: When it was written, UTC.
        scope: Who it is for.
        confidence: How sure the author was.
        criteria_met: Why it was kept.
        tags: One to ten lower-case tags of letters, digits and hyphens.
        context_files: POSIX paths relative to the project root.
        ticket_id: The ticket whose work taught it, if there was one.
        status: Where it stands in its life.
        supersedes: Ids of learnings that this one corrects.
        schema_version: Version of this shape; never shown in markdown.
    """

    id: str
    category: Category
    summary: str
    detail: str
    session_id: str
    timestamp: datetime
    scope: Scope = Scope.PROJECT
    confidence: Confidence = Confidence.MEDIUM
    criteria_met: frozenset[Criterion] = frozenset()
    tags: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()
    ticket_id: str | None = None
    status: LearningStatus = LearningStatus.ACTIVE
    supersedes: tuple[str, ...] = ()
    schema_version: int = LEARNING_SCHEMA_VERSION


@frozen(kw_only=True, eq=False, repr=False)
class Rejection(Value):
    """An objection to a candidate, as a check or a plugin raises it.

    Attributes:
        reason: What is wrong and what helps, for the agent to read.
        field: The field that is at fault, if it is one.
        existing_id: The stored learning that the candidate repeats, if that is the reason.
    """

    reason: str = attrs.field(validator=TEXT)
    field: str | None = attrs.field(default=None, validator=TEXT_OR_NONE)
    existing_id: str | None = attrs.field(default=None, validator=TEXT_OR_NONE)


@frozen(kw_only=True, eq=False, repr=False)
class RejectedCandidate(Value):
    """A candidate that was refused, as it is reported and logged."""

    position: int
    summary: str
    tags: tuple[str, ...]
    stage: Stage
    rejection: Rejection
