"""Secrets in what is shared: those that came in by hand, or before grove looked for them."""

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from grove_core.event_log import event_files
from grove_core.health.check import Check, broken, ok, warning
from grove_core.text import remove_invisible
from grove_core.workspace import Workspace

SECONDS: Final = 20.0
_MOST_NAMED: Final = 20
_QUOTE: Final = re.compile(r"^>+ ?")
# Events without a free text, and no longer than grove writes them.
_WITHOUT_TEXT: Final = re.compile(rb'"event": ?"(surfaced|dismissed|gate)"')
_SHORT: Final = 500
# What grove itself puts there: ids, times and words of its own.
_NO_TEXT: Final = frozenset(
    {
        *("ts", "event", "grove", "learning_id", "session_id", "ticket_id", "superseded_by"),
        *("via", "stage", "decider", "outcome", "backend", "categories", "criteria"),
    }
)
_SAID: Final = frozenset(("summary", "detail", "tags", "note"))
_FREE_TEXT: Final = frozenset(("reason", "how", "summary", "tags"))
_LINES_AT_ONCE: Final = 400
_LINES_OF_A_KEY: Final = 10


@frozen(kw_only=True)
class SecretPlace:
    """A secret that lies where it should not."""

    path: Path
    line: int
    kind: str
    masked: str
    digest: str


@frozen(kw_only=True)
class SecretFacts:
    """What was found."""

    places: tuple[SecretPlace, ...]
    files: int = 0
    unfinished: str = ""
    unreadable: tuple[Path, ...] = ()


class _OutOfTimeError(Exception):
    """There is no time for the rest."""


def gather_secrets(workspace: Workspace, seconds: float = SECONDS) -> SecretFacts:
    """Look through learnings and event logs, the project's and the user's own."""
    project, paths = workspace.project, workspace.paths
    further = sorted((project.grove_directory / "learnings").glob("*.md"))
    known = [project.learnings_file, *further, paths.personal_learnings]
    texts = list(dict.fromkeys([*known, *_read_by_backends(workspace, ".md")]))
    records = _read_by_backends(workspace, ".jsonl")
    logs = [*event_files(project), paths.personal_events]
    files: list[tuple[Path, Callable[[Path], Iterator[tuple[int, str]]]]] = [
        *((path, _parts_of_text) for path in texts),
        *((path, _texts_of_log) for path in logs),
        *((path, _texts_of_record) for path in records),
    ]
    search = _Search(frozenset(workspace.config.secrets.allow), time.monotonic() + seconds)
    there = [one for one in files if os.path.isfile(one[0])]  # noqa: PTH113 - never raises
    unreadable, unfinished = [], ""
    for path, parts in there:
        try:
            search.look(path, parts)
        except OSError:
            unreadable.append(path)
        except _OutOfTimeError as error:
            unfinished = str(error)
            break
    return SecretFacts(
        places=tuple(search.found),
        files=len(there),
        unfinished=unfinished,
        unreadable=tuple(unreadable),
    )


def _read_by_backends(workspace: Workspace, suffix: str) -> Iterator[Path]:
    """Name the files of a kind that backends read learnings from, wherever those lie."""
    for source in workspace.library.sources() or ():
        if source.is_dir():
            yield from sorted(source.glob(f"*{suffix}"))
        elif source.suffix == suffix:
            yield source


class _Search:
    """Collects what is found, until time runs out."""

    def __init__(self, allowed: frozenset[str], until: float) -> None:
        self._allowed = allowed
        self._until = until
        self.found: list[SecretPlace] = []

    def look(self, path: Path, parts: Callable[[Path], Iterator[tuple[int, str]]]) -> None:
        from grove_core.reflection.secrets import find_secrets

        known: set[tuple[int, str]] = set()
        for first, text in parts(path):
            if time.monotonic() > self._until:
                raise _OutOfTimeError(f"{path}:{first}")
            for one in find_secrets(text):
                line = first + text.count("\n", 0, one.start)
                if one.digest in self._allowed or (line, one.digest) in known:
                    continue
                known.add((line, one.digest))
                self.found.append(
                    SecretPlace(
                        path=path,
                        line=line,
                        kind=one.kind,
                        masked=one.masked,
                        digest=one.digest,
                    )
                )


def _parts_of_text(path: Path) -> Iterator[tuple[int, str]]:
    """Return a markdown file in parts that overlap, each with the number of its first line."""
    with path.open("rb") as file:
        lines = [_plain(line) for line in file]
    for start in range(0, len(lines), _LINES_AT_ONCE):
        part = lines[start : start + _LINES_AT_ONCE + _LINES_OF_A_KEY]
        yield start + 1, "\n".join(part)


def _plain(line: bytes) -> str:
    """Make a line what a reader sees of it, without the mark of a quotation."""
    text = remove_invisible(line.rstrip(b"\r\n").decode("utf-8", "replace"))
    return _QUOTE.sub("", text.replace("\n", " "))


def _texts_of_record(path: Path) -> Iterator[tuple[int, str]]:
    """Return what people and agents have written in a file of learnings, one a line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                document = json.loads(line)
            except (ValueError, RecursionError):
                yield number, line.decode("utf-8", "replace")
                continue
            yield number, " ".join(_said_in(document)).replace("\n", " ")


def _said_in(document: object) -> Iterator[str]:
    """Return the texts of a learning or a status; ids and times are no texts."""
    if not isinstance(document, dict):
        return
    for name, value in document.items():
        if isinstance(value, dict):
            yield from _said_in(value)
        elif name in _SAID:
            yield from map(str, value if isinstance(value, list) else [value])


def _texts_of_log(path: Path) -> Iterator[tuple[int, str]]:
    """Return what free text stands in the lines, each text once; escapes of JSON undone."""
    known: set[int] = set()
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if len(line) <= _SHORT and _WITHOUT_TEXT.search(line):
                continue
            text = _text_of(line)
            if text and hash(text) not in known:
                known.add(hash(text))
                yield number, text


def _text_of(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = text
    values = _strings_of_event(document) if isinstance(document, dict) else _strings(document)
    return " ".join(remove_invisible(value).replace("\n", " ") for value in values)


def _strings_of_event(event: dict[str, Any]) -> Iterator[str]:
    for name, value in event.items():
        if name in _FREE_TEXT:
            yield from _strings(value)
        elif name not in _NO_TEXT or len(str(value)) > _SHORT:
            yield from _strings({name: value})


def _strings(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            # A name may say what the value is: `"password": "…"`.
            yield from (f"{name}: {text}" for text in _strings(one))
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def judge_secrets(facts: SecretFacts) -> Sequence[Check]:
    """Return whether a secret lies where everybody reads."""
    name = "secrets"
    checks = [_secret(one) for one in facts.places[:_MOST_NAMED]]
    more = len(facts.places) - _MOST_NAMED
    if more > 0:
        checks.append(broken(name, f"and {more} more", "Mend those above, then look again"))
    if facts.unfinished:
        detail = f"there was no time to look at everything: {facts.unfinished} and what follows"
        checks.append(warning(name, detail, "Look there with a scanner such as detect-secrets"))
    checks += [
        warning(name, f"{path} cannot be read", f"Mend its permissions: chmod u+r {path}")
        for path in facts.unreadable
    ]
    return checks or [ok(name, f"none in learnings and logs, files: {facts.files}")]


def _secret(place: SecretPlace) -> Check:
    detail = f"{place.path}:{place.line}: {place.kind} {place.masked}"
    mend = (
        "Replace the secret where it is used, for it counts as known; then delete it in that line."
        f' A false alarm: add "{place.digest}" to secrets.allow'
    )
    return broken("secrets", detail, mend)
