"""Memory backends: which are used here, and how they do."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from grove_core.health.blocked_plugins import (
    BlockedPlugin,
    gather_blocked,
    mends_of,
    named_by_cause,
    of_group,
)
from grove_core.health.check import Check, broken, ok, warning
from grove_core.health.installer import Installer, gather_installer
from grove_core.memory.backends import OpenBackend
from grove_core.memory.library import SLOW_READ_SECONDS
from grove_core.model.memory import Capability, Health
from grove_core.plugins.discovery import BACKEND_GROUP
from grove_core.workspace import Workspace

PING_SECONDS: Final = 2.0
_USUAL: Final = "grove-backend-markdown"
_SILENT: Final = Health(ok=False, detail="did not answer, or not with its health")


@frozen(kw_only=True)
class BackendFact:
    """A backend that is used here."""

    name: str
    role: str
    health: Health


@frozen(kw_only=True)
class BackendFacts:
    """The backends of a project."""

    used: tuple[BackendFact, ...]
    unused: tuple[tuple[str, str], ...]
    personal: str
    blocked: tuple[BlockedPlugin, ...]
    installer: Installer = Installer()


def gather_backends(workspace: Workspace) -> BackendFacts:
    """Open the backends and ask each how it does."""
    library = workspace.library
    used = []
    opened = {one.state.spec.name: one for one in library.project_backends}
    for state in library.states:
        if not state.is_active:
            continue
        role = "primary" if state.is_primary else "searched"
        used.append(_asked(workspace, state.spec.name, role, opened.get(state.spec.name)))
    personal = library.personal
    if personal is not None:
        used.append(_asked(workspace, personal.state.spec.name, "personal", personal))
    return BackendFacts(
        used=tuple(used),
        unused=tuple((one.spec.name, one.why) for one in library.states if not one.is_active),
        personal=workspace.config.backends.personal,
        blocked=tuple(of_group(gather_blocked(workspace), BACKEND_GROUP)),
        installer=gather_installer(),
    )


def _asked(workspace: Workspace, name: str, role: str, opened: OpenBackend | None) -> BackendFact:
    if opened is None:
        return BackendFact(name=name, role=role, health=Health(ok=False, detail="does not open"))
    slow = Capability.SLOW in opened.backend.capabilities
    health: object = workspace.plugins.call(
        opened.state.provided,
        opened.backend.ping,
        seconds=SLOW_READ_SECONDS if slow else PING_SECONDS,
        default=None,
        what=f"ping of {name}",
    )
    return BackendFact(
        name=name, role=role, health=health if isinstance(health, Health) else _SILENT
    )


def judge_backends(facts: BackendFacts) -> Sequence[Check]:
    """Return whether learnings can be written and found."""
    roles = {one.role for one in facts.used}
    missing = [] if "primary" in roles else [_no_primary(facts)]
    if "personal" not in roles and facts.used:
        missing.append(_no_personal(facts))
    return [*missing, *(_backend(one) for one in facts.used)]


def _no_primary(facts: BackendFacts) -> Check:
    why = [f"{name}: {reason}" for name, reason in facts.unused]
    why += [named_by_cause(facts.blocked)] if facts.blocked else []
    detail = "none is used here, so nothing can be kept"
    mend = mends_of(facts.blocked) or facts.installer.command(_USUAL)
    return broken("primary backend", f"{detail} ({'; '.join(why)})" if why else detail, mend)


def _no_personal(facts: BackendFacts) -> Check:
    name = "personal backend"
    blocked = [one for one in facts.blocked if one.name == facts.personal]
    if blocked:
        detail = f"{named_by_cause(blocked)}, so personal learnings are refused"
        return warning(name, detail, mends_of(blocked))
    detail = f"{facts.personal} keeps no personal learnings here; they are refused"
    mend = f"Name another backend in backends.personal, or: {facts.installer.command(_USUAL)}"
    return warning(name, detail, mend)


def _backend(fact: BackendFact) -> Check:
    name = f"{fact.role} backend" if fact.role != "searched" else "further backend"
    where = f" ({fact.health.location})" if fact.health.location else ""
    detail = f"{fact.name}: {fact.health.detail}{where}"
    if fact.health.ok:
        return warning(name, detail, fact.health.mend) if fact.health.mend else ok(name, detail)
    mend = fact.health.mend or "Mend what it names"
    if fact.role == "searched":
        return warning(name, detail, f"{mend}; until then its learnings are not found")
    return broken(name, detail, f"{mend}; until then learnings for it wait in the outbox")
