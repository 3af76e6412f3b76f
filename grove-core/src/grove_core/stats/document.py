"""The document of ``grove stats --json``: plain objects of JSON, stable and documented."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from grove_core.clock import format_instant
from grove_core.model.statistics import (
    GroupStats,
    Insight,
    LearningRecord,
    LogStats,
    Share,
    Statistics,
    WeekStats,
)

DOCUMENT_VERSION: Final = 1
_MOST_LISTED: Final = 50


def statistics_document(statistics: Statistics, insights: Sequence[Insight]) -> dict[str, Any]:
    """Describe the numbers."""
    return {
        "version": DOCUMENT_VERSION,
        "generated_at": _instant(statistics.now),
        "since": _instant(statistics.since),
        "learnings": _learnings(statistics),
        "usage": _usage(statistics),
        "categories": [_group(one) for one in statistics.categories],
        "scopes": [_group(one) for one in statistics.scopes],
        "most_valuable": [_valued(one) for one in statistics.top],
        "cross_pollination": {
            "count": statistics.edges.total,
            "last_30_days": statistics.edges.recent,
            "30_days_before": statistics.edges.before,
            "learnings": [one._asdict() for one in statistics.cross_pollination],
        },
        "going_stale": {
            "count": statistics.going_stale_count,
            "learnings": [
                {
                    "learning_id": one.learning_id,
                    "summary": one.summary,
                    "last_verified": _instant(one.last_verified),
                    "days_left": round(one.days_left, 1),
                }
                for one in statistics.going_stale
            ],
        },
        "reflections": statistics.reflections._asdict(),
        "write_gate": _write_gate(statistics),
        "skips": _skips(statistics),
        "gate": {
            "cycles": sum(statistics.gate.by_outcome.values()),
            "by_outcome": statistics.gate.by_outcome,
            "precision": share_document(statistics.gate.precision),
        },
        "weeks": [_week(one) for one in statistics.weeks],
        "insights": [one._asdict() for one in insights],
        "log": _log(statistics.log),
    }


def share_document(share: Share) -> dict[str, Any]:
    """Describe a share with its rate and its interval."""
    low, high = share.interval or (None, None)
    return {
        "count": share.count,
        "total": share.total,
        "rate": _rounded(share.rate),
        "low": _rounded(low),
        "high": _rounded(high),
    }


def _learnings(statistics: Statistics) -> dict[str, Any]:
    by_status = {"active": 0, "archived": 0, "superseded": 0, **statistics.by_status}
    return {"total": statistics.learnings, **by_status, "bytes": statistics.learnings_bytes}


def _usage(statistics: Statistics) -> dict[str, Any]:
    usage = statistics.usage
    return {**usage._asdict(), "hits": share_document(usage.hits)}


def _group(group: GroupStats) -> dict[str, Any]:
    return {
        "name": group.name,
        "learnings": group.learnings,
        "active": group.active,
        "hits": share_document(group.hits),
        "last_30_days": share_document(group.recent),
        "30_days_before": share_document(group.before),
        "trend": _rounded(group.trend),
        "weeks": [one._asdict() for one in group.weeks],
    }


def _valued(record: LearningRecord) -> dict[str, Any]:
    return {
        "learning_id": record.learning_id,
        "summary": record.summary,
        "category": record.category,
        "referenced": record.stats.referenced,
        "hits": share_document(record.stats.hits),
        "tickets": record.stats.referencing_tickets,
        "last_referenced": _instant(record.stats.last_referenced),
    }


def _write_gate(statistics: Statistics) -> dict[str, Any]:
    gate = statistics.write_gate
    return {
        "evaluated": gate.passed.total,
        "accepted": gate.passed.count,
        "pass_rate": share_document(gate.passed),
        "rejected_by_stage": gate.rejected_by_stage,
        "retrospective_misses": {
            "count": len(gate.misses),
            "candidates": [
                {
                    "summary": one.summary,
                    "rejected_at": _instant(one.rejected_at),
                    "learning_id": one.learning_id,
                    "accepted_at": _instant(one.accepted_at),
                }
                for one in gate.misses[:_MOST_LISTED]
            ],
        },
    }


def _skips(statistics: Statistics) -> dict[str, Any]:
    skips = statistics.skips
    return {
        "total": skips.total,
        "by_decider": skips.by_decider,
        "misses": {
            **share_document(skips.tickets),
            "tickets": [
                {
                    "ticket_id": one.ticket_id,
                    "skipped_at": _instant(one.skipped_at),
                    "accepted_at": _instant(one.accepted_at),
                }
                for one in skips.misses
            ],
        },
    }


def _week(week: WeekStats) -> dict[str, Any]:
    return {
        **week._asdict(),
        "start": week.start.isoformat(),
        "hits": share_document(week.hits),
    }


def _log(log: LogStats) -> dict[str, Any]:
    return {**log._asdict(), "faults": [one._asdict() for one in log.faults]}


def _instant(moment: datetime | None) -> str | None:
    return None if moment is None else format_instant(moment)


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
