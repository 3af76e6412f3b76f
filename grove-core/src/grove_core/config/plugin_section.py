"""A plugin's own section, checked the way grove's own keys are."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from attrs import NOTHING, fields, has, resolve_types

from grove_core.config.load import LoadedConfig, variable_of
from grove_core.config.schema import setting_of
from grove_core.config.values import (
    ValueProblem,
    check_value,
    parse_variable,
    printable,
    unknown_key,
)
from grove_core.model.value import TRUSTED_ALONE, TRUSTED_ONLY, USER_ONLY

if TYPE_CHECKING:
    from grove_core.storage.trust import TrustRequest

_NOT_HERE: Final = "counts only in your own configuration, and not in a project's"
NOT_AGREED: Final = "needs `grove trust`: a project's value counts only once you have agreed"
"""What is said of a key that is no mistake: it waits for the user."""
_NOT_BESIDE: Final = "of your own configuration does not count beside what the project sets there"
_PROJECT_FILE: Final = ".grove/config.toml"


def validate_plugin_section(
    section: Mapping[str, Any],
    settings_class: type,
    own: Mapping[str, Any] | None = None,
    *,
    untrusted: Collection[str] = (),
) -> tuple[object | None, list[str]]:
    """Build a plugin's settings from its section."""
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
        section, problems = _of_whom_it_may_be(section, own, attributes, untrusted)
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


def section_of(
    loaded: LoadedConfig, section: str, settings_class: type
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Put together what files and the environment say in a plugin's section."""
    kind: Any = settings_class
    said: dict[str, Any] = {}
    if loaded.plugin_variables and has(settings_class):
        with suppress(Exception):  # its annotations may do anything: validating it says so
            for each in fields(resolve_types(kind)):
                text = loaded.plugin_variables.get(variable_of(f"{section}.{each.alias}"))
                if text is not None:
                    said[each.alias] = parse_variable(text, each.type)
    written, own = loaded.plugin_sections, loaded.own_sections
    return {**written.get(section, {}), **said}, {**own.get(section, {}), **said}


def requests_of_section(
    name: str, section: Mapping[str, Any], settings_class: type, own: Mapping[str, Any]
) -> "dict[str, TrustRequest]":
    """Return what a project's configuration asks for in a plugin's section."""
    asked = [key for key in section if _is_asked(key, section, own)]
    if not asked:
        return {}
    kind: Any = settings_class
    if not has(kind):
        return {}
    guarded = _marked({each.alias: each for each in fields(kind)}, TRUSTED_ONLY)
    return {key: _request(f"{name}.{key}", section[key]) for key in asked if key in guarded}


def _request(key: str, value: object) -> "TrustRequest":
    import json

    from grove_core.storage.trust import TrustRequest

    # In one form, whatever the file's: what does not change must not be asked about again.
    content = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return TrustRequest(subject=key, source=_PROJECT_FILE, content=content)


def _marked(attributes: Mapping[str, Any], mark: Mapping[str, object]) -> list[str]:
    """Name the keys whose fields carry a mark."""
    return [key for key, each in attributes.items() if mark.keys() <= each.metadata.keys()]


def _is_asked(key: str, section: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    """Return whether a project's file says something else of a key than the user's own does."""
    return key in section and (key not in own or section[key] != own[key])


def _of_whom_it_may_be(
    section: Mapping[str, Any],
    own: Mapping[str, Any],
    attributes: Mapping[str, Any],
    untrusted: Collection[str],
) -> tuple[Mapping[str, Any], list[str]]:
    """Take of a project's values those that may count; the others are named."""
    guarded = [
        key
        for key in _marked(attributes, TRUSTED_ONLY)
        if not TRUSTED_ALONE.items() <= attributes[key].metadata.items()
    ]
    asked = [key for key in guarded if _is_asked(key, section, own)]
    disagreed = not set(asked).isdisjoint(untrusted)
    refused = dict.fromkeys(_marked(attributes, USER_ONLY), _NOT_HERE)
    refused |= dict.fromkeys((*(asked if disagreed else ()), *untrusted), NOT_AGREED)
    found = {key: value for key, value in section.items() if key not in refused}
    # The user's own values take the place of those that a project must not set.
    found |= {key: own[key] for key in refused if key in own}
    wrong = sorted(key for key in refused.keys() & section.keys() if section[key] != own.get(key))
    problems = [f"{key} {refused[key]}" for key in wrong]
    if not asked or disagreed:
        return found, problems
    # The user's secrets do not go to the project's program, nor the project's words to the user's.
    apart = {key for key in guarded if key not in asked and key in own}
    problems += [f"{key} {_NOT_BESIDE}" for key in sorted(apart)]
    return {key: value for key, value in found.items() if key not in apart}, problems
