"""A plugin's own section, checked the way grove's own keys are."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from attrs import NOTHING, define, field, fields, resolve_types

from grove_core.config.load import (
    DEFAULT,
    ConfigProblem,
    LoadedConfig,
    Origin,
    Source,
    variable_of,
)
from grove_core.config.schema import (
    ValueProblem,
    check_value,
    parse_variable,
    unknown_key,
)
from grove_core.model.value import PROJECT_ADDS, TRUSTED_ALONE, TRUSTED_ONLY, USER_ONLY
from grove_core.text import escape_invisible

if TYPE_CHECKING:
    from grove_core.storage.trust import TrustRequest

_NOT_HERE: Final = "counts only in your own configuration, and not in a project's"
NOT_AGREED: Final = "needs `grove trust`: a project's value counts only once you have agreed"
"""What is said of a key that is no mistake: it waits for the user."""
_NOT_BESIDE: Final = "of your own configuration does not count beside what the project sets there"
_PROJECT_FILE: Final = ".grove/config.toml"

Trusted = Callable[[], Collection[str]]


@define(slots=False, eq=False, repr=False)
class PluginSection:
    """What is said in a plugin's section, by all and by the user alone, and what may count of it.

    A project's files may be a stranger's: ``trusted`` gives the digests of what the user has agreed
    to.
    """

    kind: Any
    said: Mapping[str, Any]
    own: Mapping[str, Any]
    name: str = ""
    trusted: Trusted = frozenset
    origins: Mapping[str, Origin] = field(factory=dict)
    fault: str = field(default="", init=False)

    @cached_property
    def attributes(self) -> Mapping[str, Any]:
        """What the plugin declares, by key; nothing where its class cannot be read."""
        try:
            declared = fields(resolve_types(self.kind))
        except Exception as error:  # noqa: BLE001 - a plugin's annotations may do anything
            self.fault = f"the plugin's settings class {self.kind.__name__} cannot be read: {error}"
            return {}
        return {each.alias: each for each in declared if each.init}

    @cached_property
    def asked(self) -> Collection[str]:
        """The keys of which a project's file says something else than the user's own."""
        own, said = self.own, self.said
        return [
            key
            for key in self.attributes
            if key in said and (key not in own or said[key] != own[key])
        ]

    @cached_property
    def requests(self) -> "Mapping[str, TrustRequest]":
        """What the project's file asks for, by key."""
        asked = [key for key in self.asked if key in self._marked(TRUSTED_ONLY)]
        if not asked:
            return {}
        import json

        from grove_core.storage.trust import TrustRequest

        return {
            key: TrustRequest(
                subject=f"{self.name}.{key}",
                source=_PROJECT_FILE,
                # In one form, whatever the file's: what does not change is not asked about again.
                content=json.dumps(self.said[key], ensure_ascii=False, sort_keys=True, default=str),
            )
            for key in asked
        }

    @property
    def refused(self) -> Mapping[str, str]:
        """The keys that the project's file does not decide, and why."""
        untrusted = {key for key, one in self.requests.items() if one.digest not in self.trusted()}
        if not self._unit.isdisjoint(untrusted):
            # What belongs together counts together or not at all.
            untrusted |= self._unit.intersection(self.asked)
        not_here = set(self._marked(USER_ONLY)).intersection(self.asked)
        return dict.fromkeys(not_here, _NOT_HERE) | dict.fromkeys(untrusted, NOT_AGREED)

    def read(self) -> tuple[object | None, list[ConfigProblem]]:
        """Build the plugin's settings, and say what is wrong; a mistake costs one key."""
        if not self.said:
            with suppress(Exception):
                return self.kind(), []
        attributes = self.attributes
        if self.fault:
            return None, [self._problem("", self.fault)]
        section, problems = self._of_whom_it_may_be()
        arguments: dict[str, Any] = {}
        for key, value in section.items():
            try:
                if key not in attributes:
                    raise ValueProblem(unknown_key(key, list(attributes)))  # noqa: TRY301 - said below
                attribute = attributes[key]
                arguments[key] = check_value(value, attribute.type)
            except ValueProblem as problem:
                problems.append(self._problem(key, str(problem)))
        required = [key for key, each in attributes.items() if each.default is NOTHING]
        problems += [self._problem(key, "is missing") for key in required if key not in section]
        if not arguments.keys() >= set(required):
            return None, problems
        try:
            return self.kind(**arguments), problems
        except Exception as error:  # noqa: BLE001 - a plugin's validators may raise anything
            # What a project gets wrong costs the user nothing of the own configuration.
            is_own = self.said == self.own
            user = None if is_own else PluginSection(self.kind, self.own, self.own).read()[0]
            return user, [*problems, self._problem("", str(error))]

    def _problem(self, key: str, message: str) -> ConfigProblem:
        # What is missing stands nowhere.
        origin = self.origins.get(key) or next(iter(self.origins.values()), DEFAULT)
        name = escape_invisible(f"{self.name}.{key}".strip("."))
        return ConfigProblem(key=name, origin=origin, message=escape_invisible(message))

    def origin_of(self, key: str) -> Origin:
        """Return where the value that counts comes from."""
        if key in self.refused:
            return Origin(source=Source.USER) if key in self.own else DEFAULT
        return self.origins.get(key, DEFAULT)

    def _of_whom_it_may_be(self) -> tuple[Mapping[str, Any], list[ConfigProblem]]:
        """Take what may count; the others are named."""
        wrong, own = dict(self.refused), self.own
        # The user's own values take the place of those that a project must not set.
        found = {key: value for key, value in self.said.items() if key not in wrong}
        found |= {key: own[key] for key in wrong if key in own}
        if self._unit.intersection(self.asked) - wrong.keys():
            # The user's secrets do not go to the project's program, nor the project's words to the
            # user's.
            apart = self._unit.intersection(own).difference(self.asked)
            wrong |= dict.fromkeys(apart, _NOT_BESIDE)
            found = {key: value for key, value in found.items() if key not in apart}
        added = [key for key in self._marked(PROJECT_ADDS) if key in found and own]
        found |= {key: self._added(key, found[key]) for key in added}
        return found, [self._problem(key, message) for key, message in sorted(wrong.items())]

    def _added(self, key: str, said: Any) -> Any:  # noqa: ANN401 - values of any file
        """Put together what the user says, or leaves at its default, and what the project adds."""
        own = self.own.get(key)
        if isinstance(own, list) and isinstance(said, list):
            return own + [one for one in said if one not in own]
        if key in self.own:
            return own or (said if isinstance(own, bool) else own)
        default = self.attributes[key].default
        if not isinstance(default, Enum):
            return said
        order = [one.value for one in type(default)]
        return said if said not in order[: order.index(default.value)] else default.value

    @cached_property
    def _unit(self) -> set[str]:
        """The keys that make sense together only, and must not come from two people."""
        alone = TRUSTED_ALONE.items()
        marked = self._marked(TRUSTED_ONLY)
        return {key for key in marked if not alone <= self.attributes[key].metadata.items()}

    def _marked(self, mark: Mapping[str, object]) -> list[str]:
        """Name the keys whose fields carry a mark."""
        return [key for key, each in self.attributes.items() if mark.keys() <= each.metadata.keys()]


def default_settings(kind: type) -> tuple[object | None, list[ConfigProblem]]:
    """Build a plugin's settings where nothing is said of them."""
    return PluginSection(kind, {}, {}).read()


def section_of(
    loaded: LoadedConfig, name: str, kind: type, trusted: Trusted = frozenset
) -> PluginSection:
    """Put together what files and the environment say in a plugin's section."""
    said = dict(loaded.plugin_sections.get(name, {}))
    own = dict(loaded.own_sections.get(name, {}))
    origins = {key: loaded.origins[f"{name}.{key}"] for key in said}
    section = PluginSection(kind, said, own, name, trusted, origins)
    for key, each in section.attributes.items() if loaded.plugin_variables else ():
        variable = variable_of(f"{name}.{key}")
        if variable in loaded.plugin_variables:
            said[key] = own[key] = parse_variable(loaded.plugin_variables[variable], each.type)
            origins[key] = Origin(source=Source.ENVIRONMENT, variable=variable)
    return section
