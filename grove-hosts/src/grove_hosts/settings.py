"""JSON files of clients that hold hooks: what is grove's in them, and putting that in and out.

The shape is shared: ``{"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", …}]}]}}``.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from grove_core import CodecError, HostFile, Registration, StorageError, read_bytes

Group = Mapping[str, Any]
Groups = Mapping[str, Sequence[Group]]
Own = Callable[[object], Sequence[str]]
"""From a hook to the words that it runs, nothing where it is not grove's."""

_MARK: Final = "\N{ZERO WIDTH NO-BREAK SPACE}"
_COMMENT: Final = re.compile(rb"(?m)^[ \t]*//.*$")
_INDENT: Final = re.compile(r"^\s*\{\s*?\n([ \t]+)")


def own_words(hook: object, host: str) -> Sequence[str]:
    """Return the words of a command hook that runs grove for a host; nothing for any other."""
    if not isinstance(hook, Mapping) or not isinstance(hook.get("command"), str):
        return ()
    try:
        words = shlex.split(hook["command"])
    except ValueError:
        return ()
    for place, word in enumerate(words):
        if word.rpartition("/")[2] == "grove" and words[place + 1 : place + 3] == ["hook", host]:
            return words[place : place + 3]
    return ()


def parse(content: str) -> dict[str, Any]:
    """Read settings strictly, and check the part that grove changes."""
    content = content.removeprefix(_MARK)
    try:
        document = json.loads(content, parse_constant=_refuse) if content.strip() else {}
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        if content[error.pos : error.pos + 2] in ("//", "/*"):
            raise CodecError(f"{where}: a comment, which would be lost: move it away") from error
        raise CodecError(f"{where}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise CodecError(str(error)) from error
    require(document, dict, "the settings")
    require(document.get("hooks", {}), dict, "hooks")
    for event, groups in document.get("hooks", {}).items():
        require(groups, list, f"hooks.{event}")
    return dict(document)


def require(value: object, kind: type, name: str) -> None:
    """Refuse a value of another type."""
    if not isinstance(value, kind):
        raise CodecError(f"{name} must be {'an object' if kind is dict else 'a list'}")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def written_like(content: str, before: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Write settings with the indentation and the line ends of a text; unchanged ones stay."""
    if before == document:
        return content
    mark = _MARK if content.startswith(_MARK) else ""
    indent = _INDENT.match(content.removeprefix(_MARK))
    written = json.dumps(document, indent=indent[1] if indent else "  ", ensure_ascii=False)
    end = "" if content.strip() and not content.endswith("\n") else "\n"
    return mark + (written + end).replace("\n", "\r\n" if "\r\n" in content else "\n")


def hooks_file(file: Path, host: str, groups: Groups) -> HostFile:
    """Describe a file that a host's hooks are put into, beside what else stands there."""
    return HostFile(
        path=file,
        put=lambda content: put(content, host, groups),
        take=lambda content, _: take(content, host),
        said=said,
    )


def command_groups(command: str, matchers: Mapping[str, str]) -> dict[str, Sequence[Group]]:
    """Make hooks that run a command, from events and what narrows them; empty for nothing."""
    hooks = {"hooks": [{"type": "command", "command": command}]}
    return {
        event: [{"matcher": matcher, **hooks} if matcher else hooks]
        for event, matcher in matchers.items()
    }


def put(content: str, host: str, groups: Groups) -> str:
    """Put a host's hooks into settings, behind all others; those of an older grove are replaced."""
    before, document = parse(content), parse(content)
    events, own = document.setdefault("hooks", {}), partial(own_words, host=host)
    for event in {**events, **groups}:
        wanted = groups.get(event, ())
        put_event(events, event, own, [_widened(one, events.get(event, ()), own) for one in wanted])
    return written_like(content, before, document)


def _widened(wanted: Group, found: Sequence[object], own: Own) -> Group:
    """Keep tools that hooks were registered for in another project: a file may serve several."""
    if "matcher" not in wanted:
        return wanted
    known = [one for one in map(as_table, found) if any(own(hook) for hook in hooks_of(one))]
    matchers = [wanted["matcher"], *filter(None, (as_text(one.get("matcher")) for one in known))]
    plain = [one.removeprefix("^(").removesuffix(")$") for one in matchers]
    names = "|".join(dict.fromkeys(name for one in plain for name in one.split("|")))
    return {**wanted, "matcher": names if plain[0] == matchers[0] else f"^({names})$"}


def take(content: str, host: str) -> str:
    """Take a host's hooks out of settings; a file that holds nothing else is empty then."""
    before, document = parse(content), parse(content)
    for event in before.get("hooks", {}):
        put_event(document["hooks"], event, partial(own_words, host=host), ())
    if before.get("hooks") and not document["hooks"]:
        del document["hooks"]
    return written_like(content, before, document) if document else ""


def put_event(events: dict[str, list[Any]], event: str, own: Own, wanted: Sequence[Group]) -> None:
    """Put groups in the place of those that hold a hook of grove's; its other hooks stay."""

    def has_own(group: object) -> bool:
        return any(own(hook) for hook in hooks_of(group))

    groups = events.get(event, [])
    if [one for one in groups if has_own(one)] == list(wanted):
        return
    events[event] = []
    for group in groups:
        if not has_own(group):
            events[event].append(group)
        elif others := [hook for hook in hooks_of(group) if not own(hook)]:
            events[event].append({**group, "hooks": others})
    events[event] += wanted
    if not events[event]:
        del events[event]


def hooks_of(group: object) -> Sequence[Any]:
    """Return the hooks of a group; one of Cursor's is the hook itself."""
    table = as_table(group)
    return as_list(table["hooks"]) if "hooks" in table else [table]


def said(content: str) -> Any:  # noqa: ANN401 - JSON
    """Return what settings say, without hooks that are none."""
    document = parse(content)
    hooks = {event: groups for event, groups in document.get("hooks", {}).items() if groups}
    document["hooks"] = hooks
    return {name: one for name, one in document.items() if one != {}}


def registered_in(file: Path, kind: str, host: str) -> Iterator[Registration]:
    """Find a host's hooks in a file; one that cannot be read has none."""
    return registered_by(file, kind, partial(own_words, host=host))


def registered_among(files: Mapping[str, Path], host: str) -> Sequence[Registration]:
    """Find a host's hooks in files, each under whose it is."""
    return [one for kind, file in files.items() for one in registered_in(file, kind, host)]


def registered_by(file: Path, kind: str, own: Own) -> Iterator[Registration]:
    """Find in a file the hooks of which something says the words that are run."""
    for event, groups in as_table(read(file).get("hooks")).items():
        for group in map(as_table, as_list(groups)):
            for hook in map(as_table, hooks_of(group)):
                if words := own(hook):
                    yield Registration(
                        source=file,
                        kind=kind,
                        event=event,
                        program=words[0],
                        matcher=as_text(group.get("matcher")),
                        condition=as_text(hook.get("if")),
                        arguments=tuple(words[1:]),
                    )


def read(file: Path) -> Mapping[str, Any]:
    """Read a client's file, which may have lines of comment, for looking only."""
    try:
        content = _COMMENT.sub(b"", read_bytes(file) or b"{}")
        return as_table(json.loads(content.decode("utf-8-sig")))
    except (StorageError, ValueError, RecursionError):
        return {}


def as_table(value: object) -> Mapping[str, Any]:
    """Return a JSON object; anything else counts as an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> Sequence[Any]:
    """Return a JSON list; anything else counts as an empty one."""
    return value if isinstance(value, list) else ()


def as_text(value: object) -> str | None:
    """Return a JSON string; anything else counts as none."""
    return value if isinstance(value, str) else None
