"""A plugin's own section, checked the way grove's own keys are."""

from collections.abc import Mapping
from typing import Any, Final

from attrs import NOTHING, fields, has, resolve_types

from grove_core.config.schema import setting_of
from grove_core.config.values import ValueProblem, check_value, printable, unknown_key
from grove_core.model.value import USER_ONLY

_NOT_HERE: Final = "counts only in your own configuration, and not in a project's"


def validate_plugin_section(
    section: Mapping[str, Any], settings_class: type, own: Mapping[str, Any] | None = None
) -> tuple[object | None, list[str]]:
    """Build a plugin's settings from its section.

    A mistake costs one key, which then has its default.

    Args:
        section: The table as it was read; empty when there is none.
        settings_class: The plugin's attrs class, whose annotations say what is allowed.
        own: The same without what the project says; ``None`` when it says nothing.

    Returns:
        The settings, or ``None`` when they cannot be built; and what is wrong, one message a key.
    """
    kind: Any = settings_class
    if not has(kind):
        return None, [f"the plugin's settings class {kind.__name__} is no attrs class"]
    try:
        attributes = {each.alias: each for each in fields(resolve_types(kind)) if each.init}
    except Exception as error:  # noqa: BLE001 - a plugin's annotations may do anything
        return None, [f"the plugin's settings class {kind.__name__} cannot be read: {error}"]
    arguments: dict[str, Any] = {}
    problems: list[str] = []
    if own is not None:
        section, problems = _without_strangers(section, own, attributes)
    for key, value in section.items():
        try:
            if key not in attributes:
                raise ValueProblem(unknown_key(key, list(attributes)))  # noqa: TRY301 - said below
            attribute = attributes[key]
            arguments[key] = check_value(value, attribute.type, setting_of(attribute))
        except ValueProblem as problem:
            problems.append(f"{printable(key)} {problem}")
    missing = [
        key for key, each in attributes.items() if each.default is NOTHING and key not in arguments
    ]
    problems += [f"{key} is missing" for key in missing if key not in section]
    if missing:
        return None, problems
    try:
        return kind(**arguments), problems
    except Exception as error:  # noqa: BLE001 - a plugin's validators may raise anything
        return None, [*problems, printable(str(error))]


def _without_strangers(
    section: Mapping[str, Any], own: Mapping[str, Any], attributes: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Put the user's own values in the place of those that a project must not set."""
    guarded = {key for key, each in attributes.items() if USER_ONLY.keys() <= each.metadata.keys()}
    found = {key: value for key, value in section.items() if key not in guarded}
    found |= {key: own[key] for key in guarded if key in own}
    refused = sorted(key for key in guarded & section.keys() if section[key] != own.get(key))
    return found, [f"{key} {_NOT_HERE}" for key in refused]
