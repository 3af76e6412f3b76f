"""Learnings, the candidates they come from, what became of a candidate, and how learnings fare."""

from datetime import datetime
from enum import Enum
from typing import Final, NamedTuple

import attrs

from grove_core.model.value import TEXT, TEXT_OR_NONE, Value, frozen

LEARNING_SCHEMA_VERSION: Final = 1
SUMMARY_LENGTH_MAX: Final = 200
DETAIL_LENGTH_MAX: Final = 2000
# Without these bounds one learning could flood every later session.
TAGS_MAX: Final = 10
TAG_LENGTH_MAX: Final = 50
CONTEXT_FILES_MAX: Final = 50
PATH_LENGTH_MAX: Final = 500

# The two-sided 95 % quantile of the normal distribution.
_QUANTILE: Final = 1.959964


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


class About(NamedTuple):
    """What is to be known of a field besides its type: schema, reader and cleaners follow it."""

    meaning: str
    title: str
    least: int = 0
    """Characters of a text, items of a list."""
    most: int = 0
    longest: int = 0
    """Characters of an item of a list."""


def _about(meaning: str, title: str, **limits: int) -> dict[str, About]:
    return {"about": About(meaning, title, **limits)}


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

    category: Category = attrs.field(
        metadata=_about("What kind of knowledge it is.", "Category"),
    )
    summary: str = attrs.field(
        metadata=_about("One line.", "Summary", least=10, most=SUMMARY_LENGTH_MAX),
    )
    detail: str = attrs.field(
        metadata=_about(
            "Markdown that says more than the summary.", "Detail", least=20, most=DETAIL_LENGTH_MAX
        ),
    )
    scope: Scope = attrs.field(
        default=Scope.PROJECT,
        metadata=_about("Who it is for.", "Scope"),
    )
    confidence: Confidence = attrs.field(
        default=Confidence.MEDIUM,
        metadata=_about("How sure you are.", "Confidence"),
    )
    criteria_met: frozenset[Criterion] = attrs.field(
        default=frozenset(),
        metadata=_about("Why it is worth keeping.", "Criteria", least=1, most=len(Criterion)),
    )
    tags: tuple[str, ...] = attrs.field(
        default=(),
        metadata=_about(
            "Lower-case letters, digits and hyphens.",
            "Tags",
            least=1,
            most=TAGS_MAX,
            longest=TAG_LENGTH_MAX,
        ),
    )
    context_files: tuple[str, ...] = attrs.field(
        default=(),
        metadata=_about(
            "Paths relative to the project's root.",
            "Files",
            most=CONTEXT_FILES_MAX,
            longest=PATH_LENGTH_MAX,
        ),
    )
    supersedes: tuple[str, ...] = attrs.field(
        default=(),
        metadata=_about("The ids of learnings that it corrects.", "Supersedes", most=50),
    )


@frozen(kw_only=True, eq=False, repr=False)
class Learning(Candidate):
    """One stored piece of knowledge: what a candidate has, and where it comes from.

    Attributes:
        id: ``cl_YYYYMMDD_`` and six random base-32 characters; other shapes are read and kept.
        session_id: The session that wrote it.
        timestamp: When it was written, UTC.
        ticket_id: The ticket whose work taught it, if there was one.
        status: Where it stands in its life.
        schema_version: Version of this shape; never shown in markdown.
    """

    id: str
    session_id: str
    timestamp: datetime
    ticket_id: str | None = None
    status: LearningStatus = LearningStatus.ACTIVE
    schema_version: int = LEARNING_SCHEMA_VERSION


def about(name: str) -> About:
    """Return what is to be known of one of a candidate's fields."""
    found: About = attrs.fields_dict(Candidate)[name].metadata["about"]
    return found


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


@frozen(eq=False, repr=False)
class RejectedCandidate(Value):
    """A candidate that was refused, as it is reported and logged."""

    position: int
    summary: str
    tags: tuple[str, ...]
    stage: Stage
    rejection: Rejection


class Share(NamedTuple):
    """How many of how many.

    Attributes:
        count: How many, at most ``total``.
        total: Of how many.
    """

    count: int = 0  # type: ignore[assignment]  # a tuple's own count is of no use here
    total: int = 0

    @property
    def rate(self) -> float | None:
        """The share, 0 to 1; ``None`` of nothing."""
        return self.count / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the underlying rate, 0 to 1; ``None`` of nothing.

        The score interval of E. B. Wilson (1927), Journal of the American Statistical Association
        22, 209-212, which holds for few observations and for shares near 0 and 1 as well.
        """
        if not self.total:
            return None
        share, square = self.count / self.total, _QUANTILE * _QUANTILE
        spread = share * (1 - share) / self.total + square / (4 * self.total * self.total)
        divisor = 1 + square / self.total
        middle = (share + square / (2 * self.total)) / divisor
        half = _QUANTILE * spread**0.5 / divisor
        return max(0.0, middle - half), min(1.0, middle + half)


class LearningStats(NamedTuple):
    """How one learning has fared."""

    learning_id: str
    surfaced: int = 0
    referenced: int = 0
    dismissed: int = 0
    corrected: int = 0
    last_surfaced: datetime | None = None
    last_referenced: datetime | None = None
    last_restored: datetime | None = None
    referencing_tickets: int = 0
    useful_ratings: int = 0
    useless_ratings: int = 0
    own: "LearningStats | None" = None
    """What was logged on this machine, where that is not all."""

    @property
    def hit_rate(self) -> float | None:
        """Used over shown, 0 to 1; ``None`` when it was never shown."""
        return self.hits.rate

    @property
    def hits(self) -> Share:
        """Used of shown; it may be used without being shown, after a search."""
        return Share(min(self.referenced, self.surfaced), self.surfaced)

    @property
    def rated_useful(self) -> Share:
        """Ratings that call it useful, of all its ratings."""
        return Share(self.useful_ratings, self.useful_ratings + self.useless_ratings)
