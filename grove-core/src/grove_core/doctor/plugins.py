"""Plugins and what they bring: ticket systems, backends, checks of their own; the configuration."""

from collections.abc import Iterator
from typing import Final

from attrs import evolve

from grove_core.doctor.check import Examination
from grove_core.model.check import CheckResult, Status, broken, ok, warning
from grove_core.model.memory import Health
from grove_core.plugins.discovery import BACKEND_GROUP, PluginState
from grove_core.plugins.manager import LOADING
from grove_core.services.packages import describe_blocked, install_command_for
from grove_core.services.settings import examine_settings
from grove_core.services.trust import TrustStatus, examine_trust

_IN_USE: Final = (PluginState.LOADED, PluginState.NOT_LOADED)
_UNBLOCK: Final = "Change what blocks it"


def family(group: str, examination: Examination) -> Iterator[CheckResult]:
    """Check that a plugin of a group can be used."""
    plugins = examination.project.plugins
    plugins.load_all()
    found = [one for one in plugins.found if one.group == group]
    used = [one for one in found if one.state in _IN_USE]
    blocked = describe_blocked(examination.project, group)
    if used:
        packages = dict.fromkeys(f"{one.distribution} {one.version}" for one in used)
        names = f"{', '.join(one.name for one in used)} ({', '.join(packages)})"
        yield ok("; ".join(filter(None, [names, blocked])))
    elif blocked:
        yield broken(f"none can be used: {blocked}", _UNBLOCK)
    else:
        yield broken("none can be used", install_command_for(group))


def faults(examination: Examination) -> Iterator[CheckResult]:
    """Name the plugins that do not load, or do something wrong."""
    plugins = examination.project.plugins
    for entry in plugins.found:
        name = f"plugin {entry.name}"
        detail = f"{entry} is {entry.state.value}: {entry.detail}"
        if entry.state in (PluginState.FAILED, PluginState.REFUSED):
            yield broken(detail, f"Try to upgrade {entry.distribution}, or remove it", name=name)
    for problem in plugins.problems:
        if problem.what != LOADING:
            fix = f"Upgrade {problem.source.distribution}, or report this to its authors"
            yield warning(str(problem), fix, name=f"plugin {problem.source.name}")


def backends(examination: Examination) -> Iterator[CheckResult]:
    """Check that learnings of the project and the user's own can be kept, and found."""
    library = examination.project.library
    health = library.healths()
    active = [one for one in library.states if one.is_active]
    for state in active:
        role = "primary" if state.is_primary else "further"
        yield _backend(role, state.spec.name, health[state.spec.name])
    if not any(one.is_primary for one in active):
        blocked = describe_blocked(examination.project, BACKEND_GROUP)
        why = [f"{one.spec.name}: {one.why}" for one in library.states]
        why += [blocked] if blocked else []
        detail = f"none is used here, so nothing can be kept ({'; '.join(why) or 'none is there'})"
        fix = _UNBLOCK if blocked else install_command_for(BACKEND_GROUP)
        yield broken(detail, fix, name="primary backend")
    if library.personal is not None:
        own = library.personal
        yield _backend("personal", own.spec.name, library.health(own))
    elif active:
        named = examination.project.config.backends.personal
        detail = f"{named} keeps no personal learnings here; they are refused"
        fix = f"Name another one in backends.personal, or: {install_command_for(BACKEND_GROUP)}"
        yield warning(detail, fix, name="personal backend")


def _backend(role: str, name: str, health: Health) -> CheckResult:
    found = _of_health(health, name=f"{role} backend")
    found = evolve(found, detail=f"{name}: {found.detail}")
    if found.status is not Status.BROKEN:
        return found
    if role == "further":
        return evolve(found, status=Status.WARNING)
    return evolve(found, fix=f"{found.fix}; until then learnings for it wait in the outbox")


def _of_health(health: Health, *, name: str) -> CheckResult:
    detail = f"{health.detail} ({health.location})" if health.location else health.detail
    if not health.ok:
        return broken(detail, health.fix or "Correct what it names", name=name)
    return warning(detail, health.fix, name=name) if health.fix else ok(detail, name=name)


def checks(examination: Examination) -> Iterator[CheckResult]:
    """Tell what the checks of plugins themselves have found."""
    project = examination.project
    for name, health in project.plugins.healths(project.context(), project.gate_settings()):
        yield _of_health(health, name=name)


def trust(examination: Examination) -> Iterator[CheckResult]:
    """Name what the project's files ask for and the user has not agreed to."""
    state = examine_trust(examination.project)
    if state.fault:
        yield warning(state.fault, "Look at it and delete it")
    for one in state.untrusted:
        changed = " any more: it has changed" if one.status is TrustStatus.CHANGED else ""
        asks = f"{one.request.source} asks for {one.request.subject}"
        detail = f"{asks}, which is not trusted{changed}"
        yield warning(detail, "Read and agree, if you do: grove trust")
    if state.asked:
        yield ok("you have agreed to all that the project's files ask for")


def configuration(examination: Examination) -> Iterator[CheckResult]:
    """Name what in the configuration has no effect."""
    found = examine_settings(examination.project)
    for one in found.mistakes:
        if not one.key and one.origin.file is not None:
            yield broken(
                str(one), f"Correct {one.origin.file}; grove config shows what is in force"
            )
        else:
            fix = f"Correct or delete it in {one.origin}; until then it alone has no effect"
            yield warning(str(one), fix)
    for line in dict.fromkeys(found.unused):
        yield warning(line, "Correct or delete it, or make available what it names")
    yield ok("every key is understood")
