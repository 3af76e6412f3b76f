"""What plugins answer when they are asked for insights: checked, and made plain."""

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from grove_core.errors import PluginError
from grove_core.model.statistics import Insight
from grove_core.text import clean_line

_MOST_INSIGHTS: Final = 100  # more are no help, and a generator may have no end
_MOST_EVIDENCE: Final = 10_000
_LONGEST: Final = 500
_PRIORITIES: Final = (1, 2, 3)


def read_insights(answer: object) -> tuple[tuple[Insight, ...], tuple[str, ...]]:
    """Read what a plugin has returned; it runs within the plugin's time limit."""
    if not isinstance(answer, Iterable) or isinstance(answer, str | bytes | Mapping | Insight):
        raise PluginError(f"returned {type(answer).__name__} instead of a list of Insight")
    insights: list[Insight] = []
    complaints: list[str] = []
    for one in islice(answer, _MOST_INSIGHTS):
        if not isinstance(one, Insight):
            complaints.append(f"returned {type(one).__name__} instead of Insight")
        elif complaint := _complaint_about(one):
            complaints.append(f"returned an Insight whose {complaint}")
        else:
            insights.append(_plain(one))
    return tuple(insights), tuple(complaints)


def _complaint_about(insight: Insight) -> str:
    for name in ("kind", "message", "suggestion"):
        value: object = getattr(insight, name)
        if not isinstance(value, str) or not clean_line(value, _LONGEST):
            return f"{name} is not a string that says something"
    subject: object = insight.subject
    priority: object = insight.priority
    if not isinstance(subject, str):
        return "subject is not a string"
    if type(priority) is not int or priority not in _PRIORITIES:
        return "priority is not 1, 2 or 3"
    if _evidence_of(insight) is None:
        return "evidence is not a mapping of names to values that JSON has"
    return ""


def _plain(insight: Insight) -> Insight:
    return Insight(
        kind=clean_line(insight.kind, _LONGEST),
        message=clean_line(insight.message, _LONGEST),
        suggestion=clean_line(insight.suggestion, _LONGEST),
        evidence=_evidence_of(insight) or {},
        subject=clean_line(insight.subject, _LONGEST),
        priority=insight.priority,
    )


def _evidence_of(insight: Insight) -> dict[str, object] | None:
    """Copy the evidence, as JSON would bring it; ``None`` when it cannot."""
    given: object = insight.evidence
    if not isinstance(given, Mapping):
        return None
    try:
        text = json.dumps(dict(given), allow_nan=False)
        evidence = json.loads(text) if len(text) <= _MOST_EVIDENCE else None
    except (TypeError, ValueError, RecursionError):
        return None
    return evidence if isinstance(evidence, dict) else None
