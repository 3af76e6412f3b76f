"""A project's past, made up: learnings and events in the formats that grove keeps them in.

The texts are the same in every run. They vary as real ones do: every learning has other words, tags
and files, and the events follow sessions that were shown learnings and used some of them.
"""

import json
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from attrs import frozen

_SEED: Final = 20300102
_BASE32: Final = "abcdefghijklmnopqrstuvwxyz234567"
_DAYS: Final = 400
_SHOWN_PER_SESSION: Final = 5
_USED: Final = 0.2

_AREAS: Final = (
    "orders export billing login search ledger parser router cache upload report invoice scheduler"
    " webhook importer mailer session payment catalog inventory shipping refund audit metrics"
    " dashboard profile gateway indexer archive backup queue worker migration schema template"
    " locale currency discount tax checkout"
).split()
_PARTS: Final = (
    "store service client handler view model loader writer reader factory registry adapter"
    " controller resolver buffer pool lock timer filter mapper"
).split()
_ACTIONS: Final = (
    "load save merge flush retry resolve parse render validate open close refresh collect split"
    " encode decode rotate expire prefetch subscribe"
).split()
_FAULTS: Final = (
    "runs one query per row unless the rows are prefetched",
    "returns naive datetimes although the column is in UTC",
    "swallows a timeout and returns an empty list",
    "must be called before the transaction commits",
    "keeps its file handle open when the first line is blank",
    "rounds half up where the ledger rounds half even",
    "needs the tenant header or falls back to the shared database",
    "is cached per process and never invalidated by the worker",
    "rejects ids with a leading zero since they are read as numbers",
    "deadlocks when two workers take the locks in another order",
    "sends the mail twice when the broker redelivers a message",
    "reads the locale of the machine and not that of the customer",
)
_CAUSES: Final = (
    "the generator is consumed by the logger first",
    "the fixture replaced the clock for the whole module",
    "the index on the foreign key was dropped by a migration",
    "the proxy strips the header from retried requests",
    "the default of the argument is evaluated at import",
    "the column is nullable in production and not in the tests",
    "the retry policy counts the first attempt as a retry",
    "the serializer sorts keys and the signature does not",
    "the container has no time zone database",
    "the lock file lies on a network share",
)
# grove reads so many of a file, and leaves room for what is added.
_ENTRIES_A_FILE: Final = 15_000
_CATEGORIES: Final = "pattern pitfall convention dependency process domain debugging".split()
_CRITERIA: Final = "behavior_changing decision_rationale stable_fact explicit_request".split()
_LEVELS: Final = "high medium low".split()

_ENTRY: Final = """\
### [{id}] {summary}
- **Category:** {category}
- **Scope:** project
- **Confidence:** {confidence}
- **Status:** active
- **Criteria:** {criterion}
- **Tags:** {tags}
- **Files:** {file}
- **Origin:** ticket app-{ticket} | session {session}
- **Created:** {created}

> {detail}
> Seen in `{file}`; the test is `tests/test_{area}_{part}.py`.

"""


@frozen(kw_only=True)
class History:
    """How much a project has behind it.

    Attributes:
        learnings: How many learnings it has.
        events: How many events its log holds.
    """

    learnings: int
    events: int


def write_history(project: Path, history: History) -> None:
    """Write a past into a project that was set up for grove.

    Args:
        project: The project's root.
        history: How much of a past.
    """
    chance = random.Random(_SEED)
    ids = [_learning_id(chance, number, history.learnings) for number in range(history.learnings)]
    for start in range(0, len(ids), _ENTRIES_A_FILE):
        path = project / ".grove" / "learnings.md"
        if start:
            path = project / ".grove" / "learnings" / f"part-{start}.md"
            path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            for number in range(start, min(start + _ENTRIES_A_FILE, len(ids))):
                file.write(_entry(chance, ids[number], _moment(number, history.learnings)))
    with (project / ".grove" / "stats.log").open("a", encoding="utf-8") as file:
        for line in _lines(chance, ids, history.events):
            file.write(line)


def _moment(number: int, of: int) -> datetime:
    """Spread moments evenly over the days up to yesterday."""
    yesterday = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)
    return yesterday - timedelta(days=_DAYS) * (1 - number / max(of, 1))


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _learning_id(chance: random.Random, number: int, of: int) -> str:
    random_part = "".join(chance.choices(_BASE32, k=6))
    return f"cl_{_moment(number, of):%Y%m%d}_{random_part}"


def _entry(chance: random.Random, learning_id: str, moment: datetime) -> str:
    area, other = chance.sample(_AREAS, 2)
    part, action = chance.choice(_PARTS), chance.choice(_ACTIONS)
    name = f"{area.capitalize()}{part.capitalize()}.{action}()"
    fault, cause = chance.choice(_FAULTS), chance.choice(_CAUSES)
    number = chance.randrange(10, 9000)
    return _ENTRY.format(
        id=learning_id,
        summary=f"{name} {fault} (seen with {other} {number})",
        category=chance.choice(_CATEGORIES),
        confidence=chance.choice(_LEVELS),
        criterion=chance.choice(_CRITERIA),
        tags=", ".join((area, f"{area}-{part}", other)),
        file=f"app/{area}/{part}_{action}.py",
        ticket=chance.randrange(1, 5000),
        session=f"{chance.getrandbits(64):016x}",
        created=_stamp(moment),
        detail=f"`{name}` {fault}, because {cause}. With {number} {other} rows it took"
        f" {chance.randrange(2, 90)} s; call `{chance.choice(_ACTIONS)}()` of the {other}"
        f" {chance.choice(_PARTS)} first.",
        area=area,
        part=part,
    )


def _lines(chance: random.Random, ids: Sequence[str], most: int) -> Iterator[str]:
    """Give the events of session after session until there are enough."""
    written = 0
    while written < most:
        session = f"{chance.getrandbits(64):016x}"
        moment = _moment(written, most)
        for event in _session_events(chance, ids, session)[: most - written]:
            yield _line(event, moment + timedelta(seconds=written % 3600))
            written += 1


def _session_events(
    chance: random.Random, ids: Sequence[str], session: str
) -> list[dict[str, object]]:
    shown = chance.choices(ids, k=_SHOWN_PER_SESSION)
    common = {"session_id": session}
    surfaced: list[dict[str, object]] = [
        {"event": "surfaced", "learning_id": one, "score": round(chance.random(), 4), **common}
        for one in shown
    ]
    outcomes: list[dict[str, object]] = [
        {"event": "referenced", "learning_id": one, "how": "kept the rows prefetched", **common}
        if chance.random() < _USED
        else {"event": "dismissed", "learning_id": one, **common}
        for one in shown
    ]
    reflection: dict[str, object] = {
        "event": "reflection",
        "candidates": 2,
        "accepted": 1,
        **common,
    }
    return [*surfaced, *outcomes, reflection]


def _line(event: dict[str, object], moment: datetime) -> str:
    document = {"v": 1, "ts": _stamp(moment), "grove": "0.1.0", **event}
    return json.dumps(document, separators=(",", ":")) + "\n"
