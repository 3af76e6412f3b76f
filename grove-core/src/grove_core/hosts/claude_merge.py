"""grove's entries in the text of Claude Code's settings: put in, and taken out again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from grove_core.errors import CodecError
from grove_core.hosts import json_edits
from grove_core.hosts.claude_hooks import Group, own_hook

_MARK: Final = "\N{ZERO WIDTH NO-BREAK SPACE}"
_NEW: Final = "{}\n"


def with_hooks(text: str, groups: Mapping[str, Sequence[Group]]) -> str:
    """Put grove's hooks into settings; those of an older grove are replaced where they stand."""
    mark, text = _split(text)
    for event in _events(text):
        if event not in groups:
            text = _without_hooks_of(text, event)
    for event, wanted in groups.items():
        text = _with_groups(text, event, wanted)
    return mark + text


def without_hooks(text: str) -> str:
    """Take grove's hooks out of settings, with what is empty then."""
    mark, text = _split(text)
    for event in _events(text):
        text = _without_hooks_of(text, event)
    return mark + text


def with_rule(text: str, rule: str) -> str:
    """Put a permission rule among what is allowed without a question."""
    mark, text = _split(text)
    if rule in _rules(text):
        return mark + text
    document = json_edits.parse(text)
    if "permissions" not in document:
        return mark + json_edits.add(text, (), {"allow": [rule]}, "permissions")
    if "allow" not in document["permissions"]:
        return mark + json_edits.add(text, ("permissions",), [rule], "allow")
    return mark + json_edits.add(text, ("permissions", "allow"), rule)


def without_rule(text: str, rule: str) -> str:
    """Take a permission rule out of settings, with what is empty then."""
    mark, text = _split(text)
    if rule in _rules(text):
        place = ("permissions", "allow", _rules(text).index(rule))
        text = _remove_with_empty_parents(text, place)
    return mark + text


def is_empty(text: str) -> bool:
    """Return whether settings hold nothing."""
    return not _document(_split(text)[1])


def _split(text: str) -> tuple[str, str]:
    """Part the byte order mark from the settings; make settings of nothing."""
    mark = _MARK if text.startswith(_MARK) else ""
    text = text.removeprefix(_MARK)
    return mark, text if text.strip() else _NEW


def _events(text: str) -> Mapping[str, Any]:
    """Return the hooks by event, once they are known to be of the right shape."""
    events = _object(_document(text).get("hooks", {}), "hooks")
    for event, groups in events.items():
        _array(groups, f"hooks.{event}")
    return events


def _rules(text: str) -> Sequence[Any]:
    permissions = _object(_document(text).get("permissions", {}), "permissions")
    return _array(permissions.get("allow", []), "permissions.allow")


def _document(text: str) -> Mapping[str, Any]:
    document = json_edits.parse(text)
    if not isinstance(document, dict):
        raise CodecError("the settings must be one JSON object")
    return document


def _object(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise CodecError(f"{name} must be an object")
    return value


def _array(value: object, name: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise CodecError(f"{name} must be a list")
    return value


def _with_groups(text: str, event: str, wanted: Sequence[Group]) -> str:
    groups = _events(text).get(event, [])
    own = [index for index, group in enumerate(groups) if _is_own(group)]
    for index in reversed(own[len(wanted) :]):
        text = json_edits.remove(text, ("hooks", event, index))
    for index, group in zip(own, wanted, strict=False):
        if groups[index] != group:
            text = json_edits.replace(text, ("hooks", event, index), group)
    text = _without_mixed_hooks_of(text, event)
    for group in wanted[len(own) :]:
        text = _with_group(text, event, group)
    return text


def _with_group(text: str, event: str, group: Group) -> str:
    if "hooks" not in _document(text):
        return json_edits.add(text, (), {event: [group]}, "hooks")
    if event not in _events(text):
        return json_edits.add(text, ("hooks",), [group], event)
    return json_edits.add(text, ("hooks", event), group)


def _is_own(group: object) -> bool:
    hooks = _hooks(group)
    return bool(hooks) and all(own_hook(hook) for hook in hooks)


def _hooks(group: object) -> Sequence[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else ()


def _without_mixed_hooks_of(text: str, event: str) -> str:
    """Take grove's hooks out of the groups that hold others, too."""
    for index, group in enumerate(_events(text).get(event, ())):
        if not _is_own(group):
            for number in reversed(list(_own_numbers(group))):
                text = json_edits.remove(text, ("hooks", event, index, "hooks", number))
    return text


def _without_hooks_of(text: str, event: str) -> str:
    text = _without_mixed_hooks_of(text, event)
    own = [index for index, group in enumerate(_events(text)[event]) if _is_own(group)]
    for index in reversed(own):
        text = _remove_with_empty_parents(text, ("hooks", event, index))
    return text


def _own_numbers(group: object) -> Iterator[int]:
    return (number for number, hook in enumerate(_hooks(group)) if own_hook(hook))


def _remove_with_empty_parents(text: str, path: json_edits.ValuePath) -> str:
    while path:
        text = json_edits.remove(text, path)
        *path, _ = path
        value: Any = json_edits.parse(text)
        for step in path:
            value = value[step]
        if value:
            break
    return text
