"""Plugins and what they bring: ticket systems, backends, checks of their own; the configuration."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from attrs import evolve

from grove_core.doctor.check import (
    Check,
    CheckResult,
    Examination,
    Status,
    broken,
    ok,
    warning,
)
from grove_core.doctor.packages import describe_blocked, fixes_of, install_command_for
from grove_core.flow.trusting import Standing, look_at_trust
from grove_core.memory.backends import BackendState, OpenBackend
from grove_core.model.memory import Health
from grove_core.plugins.descriptors import HealthCheck
from grove_core.plugins.discovery import BACKEND_GROUP, FoundPlugin
from grove_core.plugins.facade import Provided
from grove_core.plugins.manager import LOADING
from grove_core.plugins.report import PluginSource, PluginState
from grove_core.text import clean_line

_CALL_SECONDS: Final = 2.0
_CHECK_SECONDS: Final = 5.0
"""Longer than the plugin's own limit, so that the report names the plugin."""
_IN_USE: Final = (PluginState.ACTIVE, PluginState.NOT_LOADED)
_NO_HEALTH: Final = Health(ok=False, detail="does not open")
_LONGEST_NAME: Final = 80


def family(group: str, examination: Examination) -> Iterator[CheckResult]:
    """Check that a plugin of a group can be used."""
    plugins = examination.workspace.plugins
    plugins.load_all()
    found = [one for one in plugins.report().plugins if one.found.group == group]
    used = [one.found for one in found if one.state in _IN_USE]
    blocked = [one for one in examination.blocked if one.group == group]
    why = [describe_blocked(blocked)] if blocked else []
    if used:
        yield ok("; ".join([*_loaded(used), *why]))
        return
    others = [one for one in found if one.state is not PluginState.BLOCKED]
    why += [f"{one.found.name} is {one.state.value}: {one.detail}" for one in others]
    detail = f"none can be used: {'; '.join(why)}" if found else "none is installed"
    yield broken(detail, fixes_of(blocked) or install_command_for(group))


def _loaded(found: Iterable[FoundPlugin]) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for one in found:
        names.setdefault(f"{one.distribution} {one.version}", []).append(one.name)
    return (f"{', '.join(each)} ({distribution})" for distribution, each in names.items())


def faults(examination: Examination) -> Iterator[CheckResult]:
    """Name the plugins that do not load, or do something wrong."""
    report = examination.workspace.plugins.report()
    for entry in report.plugins:
        found, name = entry.found, f"plugin {entry.found.name}"
        detail = f"{PluginSource.of(found)} is {entry.state.value}: {entry.detail}"
        if entry.state in (PluginState.FAILED, PluginState.REFUSED):
            yield broken(detail, f"Try to upgrade {found.distribution}, or remove it", name=name)
        elif entry.state is PluginState.SHADOWED:
            fix = f"Remove one of the two, or name `{found.name}@DISTRIBUTION` in the configuration"
            yield warning(detail, fix, name=name)
    for problem in report.problems:
        if problem.what != LOADING:
            fix = f"Upgrade {problem.source.distribution}, or report this to its authors"
            yield warning(str(problem), fix, name=f"plugin {problem.source.name}")


def primary_backend(examination: Examination) -> Iterator[CheckResult]:
    """Check the backends of the project: that one is used, and that each works."""
    library = examination.workspace.library
    opened = {one.state.spec.name: one for one in library.project_backends}
    for state in library.states:
        if state.is_active:
            yield _backend(examination, state, opened.get(state.spec.name))
    if not any(one.is_primary for one in library.states):
        blocked = [one for one in examination.blocked if one.group == BACKEND_GROUP]
        why = [f"{one.spec.name}: {one.why}" for one in library.states]
        why += [describe_blocked(blocked)] if blocked else []
        detail = f"none is used here, so nothing can be kept ({'; '.join(why) or 'none is there'})"
        yield broken(detail, fixes_of(blocked) or install_command_for(BACKEND_GROUP))


def personal_backend(examination: Examination) -> Iterator[CheckResult]:
    """Check the backend of personal learnings."""
    personal = examination.workspace.library.personal
    if personal is not None:
        yield _backend(examination, personal.state, personal)
        return
    name = examination.workspace.config.backends.personal
    fix = f"Name another backend in backends.personal, or: {install_command_for(BACKEND_GROUP)}"
    yield warning(f"{name} keeps none here, so personal learnings are refused", fix)


def _backend(
    examination: Examination, state: BackendState, opened: OpenBackend | None
) -> CheckResult:
    library = examination.workspace.library
    found = _of_health(library.health(opened) if opened else _NO_HEALTH)
    found = evolve(found, detail=f"{state.spec.name}: {found.detail}")
    is_searched = not state.is_primary and opened is not library.personal
    name = "further backend" if is_searched else ""
    if found.status is not Status.BROKEN:
        return evolve(found, name=name)
    if is_searched:
        fix = f"{found.fix}; until then its learnings are not found"
        return warning(found.detail, fix, name=name)
    return evolve(found, fix=f"{found.fix}; until then learnings for it wait in the outbox")


def _of_health(health: Health) -> CheckResult:
    detail = f"{health.detail} ({health.location})" if health.location else health.detail
    if not health.ok:
        return broken(detail, health.mend or "Correct what it names")
    return warning(detail, health.mend) if health.mend else ok(detail)


def of_plugins(examination: Examination) -> Iterator[Check]:
    """List the checks that plugins offer."""
    for offered in examination.workspace.plugins.health_checks():
        yield Check(offered.value.name, partial(_of_plugin, offered), _CHECK_SECONDS)


def _of_plugin(offered: Provided[HealthCheck], examination: Examination) -> Iterator[CheckResult]:
    workspace = examination.workspace
    before = len(workspace.plugins.report().problems)
    health: object = workspace.plugins.call(
        offered, offered.value.run, workspace.context(), seconds=_CALL_SECONDS, default=None
    )
    if isinstance(health, Health):
        yield _of_health(health)
        return
    problems = workspace.plugins.report().problems[before:]
    why = "; ".join(one.detail for one in problems) or "it gave no health"
    fix = f"Upgrade {offered.source.distribution}, or report this to its authors"
    yield broken(f"{offered.source} could not look: {why}", fix)


def trust(examination: Examination) -> Iterator[CheckResult]:
    """Name what the project's files ask for and the user has not agreed to."""
    state = look_at_trust(examination.workspace)
    if state.fault:
        yield warning(state.fault, "Look at it and delete it")
    for one in state.untrusted:
        subject = clean_line(one.request.subject, _LONGEST_NAME)
        source = clean_line(one.request.source, _LONGEST_NAME)
        changed = " any more: it has changed" if one.standing is Standing.CHANGED else ""
        detail = f"{source} asks for {subject}, which is not trusted{changed}"
        yield warning(detail, "Read and agree, if you do: grove trust")
    if state.asked:
        yield ok("you have agreed to all that the project's files ask for")


def configuration(examination: Examination) -> Iterator[CheckResult]:
    """Name what in the configuration has no effect."""
    problems, idle = examination.find_mistakes()
    for one in problems:
        if not one.key and one.origin.file is not None:
            yield broken(str(one), f"Correct {one.origin.file}: none of it is in force")
        else:
            fix = f"Correct or delete it in {one.origin}; until then it alone has no effect"
            yield warning(str(one), fix)
    for line in dict.fromkeys(idle):
        yield warning(line, "Correct or delete it, or make available what it names")
    yield ok("every key is understood")
