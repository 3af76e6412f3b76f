"""The document of ``grove stats --json``: plain objects of JSON, stable and documented."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

from grove_core.clock import format_instant
from grove_core.model.learning import Share
from grove_core.model.statistics import (
    GroupStats,
    Insight,
    LearningRecord,
    Statistics,
    WriteGateStats,
)

DOCUMENT_VERSION: Final = 1
_MOST_LISTED: Final = 50


def statistics_document(statistics: Statistics, insights: Sequence[Insight]) -> dict[str, Any]:
    """Describe the numbers."""
    document = {
        "version": DOCUMENT_VERSION,
        "generated_at": statistics.now,
        "since": statistics.since,
        "learnings": {
            "total": statistics.learnings,
            "active": 0,
            "archived": 0,
            "superseded": 0,
            **statistics.by_status,
            "bytes": statistics.learnings_bytes,
        },
        "usage": statistics.usage,
        "categories": [_group(one) for one in statistics.categories],
        "scopes": [_group(one) for one in statistics.scopes],
        "most_valuable": [_valued(one) for one in statistics.top],
        "cross_pollination": {
            "count": statistics.edges.total,
            "last_30_days": statistics.edges.recent,
            "30_days_before": statistics.edges.before,
            "learnings": statistics.cross_pollination,
        },
        "going_stale": {
            "count": statistics.going_stale_count,
            "learnings": [
                one._replace(days_left=round(one.days_left, 1)) for one in statistics.going_stale
            ],
        },
        "reflections": statistics.reflections,
        "write_gate": _write_gate(statistics.write_gate),
        "skips": {
            "total": statistics.skips.total,
            "by_decider": statistics.skips.by_decider,
            "misses": {
                **share_document(statistics.skips.tickets),
                "tickets": statistics.skips.misses,
            },
        },
        "gate": {
            "cycles": sum(statistics.gate.by_outcome.values()),
            **statistics.gate._asdict(),
        },
        "weeks": statistics.weeks,
        "insights": insights,
        "log": statistics.log,
    }
    return {name: _plain(value) for name, value in document.items()}


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


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Write records as objects, shares with their rates, and times as texts."""
    if isinstance(value, Share):
        return share_document(value)
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _group(group: GroupStats) -> dict[str, Any]:
    return {
        "name": group.name,
        "learnings": group.learnings,
        "active": group.active,
        "hits": group.hits,
        "last_30_days": group.recent,
        "30_days_before": group.before,
        "trend": _rounded(group.trend),
        "weeks": [one._asdict() for one in group.weeks],
    }


def _valued(record: LearningRecord) -> dict[str, Any]:
    return {
        "learning_id": record.learning_id,
        "summary": record.summary,
        "category": record.category,
        "referenced": record.stats.referenced,
        "hits": record.stats.hits,
        "tickets": record.stats.referencing_tickets,
        "last_referenced": record.stats.last_referenced,
    }


def _write_gate(gate: WriteGateStats) -> dict[str, Any]:
    return {
        "evaluated": gate.passed.total,
        "accepted": gate.passed.count,
        "pass_rate": gate.passed,
        "rejected_by_stage": gate.rejected_by_stage,
        "retrospective_misses": {
            "count": len(gate.misses),
            "candidates": gate.misses[:_MOST_LISTED],
        },
    }


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
