"""What hypothesis makes of learnings; it is imported only when a strategy is asked for."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from attrs import fields

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
from grove_core.testing.samples import SUMMARIES, TEXTS, learning_id
from grove_core.text import clean_line

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_WORDS: Final = "The orders report is slow"
_LONGEST_TICKET: Final = 200


def learnings(*scopes: Scope) -> "SearchStrategy[Learning]":
    """Make learnings such as come through the pipeline, whatever agents send.

    Args:
        scopes: The scopes they may have; project and team by default.

    Returns:
        A strategy. Ids are such as core makes; two learnings may have the same.
    """
    from hypothesis import strategies as st

    def values(kind: Any) -> "SearchStrategy[str]":  # noqa: ANN401 - any enum
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
    return Learning(**{each.name: getattr(read, each.name) for each in fields(Candidate)} | own)


def _texts(samples: tuple[str, ...], joint: str, longest: int) -> "SearchStrategy[str]":
    from hypothesis import strategies as st

    line = st.sampled_from([line for sample in samples for line in sample.split("\n")])
    piece = line | st.text(max_size=30) | st.just(_WORDS)
    around = st.lists(piece, max_size=4).map(joint.join)
    return st.tuples(around, st.just(_WORDS), around).map(
        lambda parts: joint.join(filter(None, parts))[:longest]
    )
