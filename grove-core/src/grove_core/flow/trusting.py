"""``grove trust``: what a project's files ask for, and what the user has agreed to."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import Final

from attrs import evolve

from grove_core.errors import CodecError, PluginError, StorageError
from grove_core.model.trust import TrustRequest
from grove_core.model.value import frozen
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec
from grove_core.plugins.facade import Provided
from grove_core.storage.trust import Agreement, TrustStore
from grove_core.workspace import Workspace

REQUESTS_SECONDS: Final = 5.0


class Standing(Enum):
    """How a request stands with the user."""

    TRUSTED = "trusted"
    CHANGED = "changed"
    """The user has agreed to the same thing with another content."""
    NEW = "new"


@frozen(kw_only=True)
class Asked:
    """Something that a project's files ask for."""

    request: TrustRequest
    standing: Standing

    @property
    def is_trusted(self) -> bool:
        """Whether the user has agreed to exactly this."""
        return self.standing is Standing.TRUSTED


@frozen(kw_only=True)
class TrustState:
    """What a project's files ask for, all of it."""

    asked: Sequence[Asked]
    silent: Sequence[str] = ()
    fault: str = ""

    @property
    def untrusted(self) -> Sequence[Asked]:
        """What the user has not agreed to."""
        return [one for one in self.asked if not one.is_trusted]


def look_at_trust(workspace: Workspace) -> TrustState:
    """Find out what the project's files ask for."""
    agreements: Mapping[str, Agreement] = {}
    fault = ""
    try:
        agreements = _store(workspace).agreements(workspace.root)
    except (CodecError, StorageError) as error:
        fault = str(error)
    requests, silent = _requests(workspace)
    places = {one.place for one in agreements.values()}
    # Two that are the same in every word are one.
    asked = {
        one.digest: Asked(request=one, standing=_standing(one, agreements, places))
        for one in requests
    }
    return TrustState(asked=tuple(asked.values()), silent=tuple(silent), fault=fault)


def agree(workspace: Workspace, state: TrustState) -> TrustState:
    """Record that the user agrees to everything that was found, and to nothing else."""
    requests = [one.request for one in state.asked]
    aside = _store(workspace).agree(workspace.root, requests, workspace.now)
    fault = f"{workspace.paths.trust_file} could not be understood; it is now {aside}"
    trusted = [evolve(one, standing=Standing.TRUSTED) for one in state.asked]
    return evolve(state, asked=tuple(trusted), fault=fault if aside else "")


def revoke(workspace: Workspace) -> Sequence[Agreement]:
    """Forget everything that the user has agreed to in the project."""
    return _store(workspace).revoke(workspace.root)


def _store(workspace: Workspace) -> TrustStore:
    return TrustStore(workspace.paths.trust_file)


def _requests(workspace: Workspace) -> tuple[list[TrustRequest], list[str]]:
    """Collect the requests; and name the backends that could not be asked."""
    silent: list[str] = []
    requests = list(_requests_of_configuration(workspace))
    for backend in workspace.plugins.memory_backends():
        answer = _requests_of(workspace, backend)
        if answer is None:
            silent.append(backend.value.name)
        else:
            requests += answer
    return requests, silent


def _standing(
    request: TrustRequest, agreements: Collection[str], places: Collection[tuple[str, str]]
) -> Standing:
    if request.digest in agreements:
        return Standing.TRUSTED
    return Standing.CHANGED if (request.subject, request.source) in places else Standing.NEW


def _requests_of_configuration(workspace: Workspace) -> Iterator[TrustRequest]:
    backends, probes = workspace.plugins.memory_backends(), workspace.plugins.ticket_probes()
    classes = {f"backends.{one.value.name}": one.value.settings for one in backends}
    classes |= {f"tickets.{one.value.name}": one.value.settings for one in probes}
    for section, settings_class in classes.items():
        if settings_class is not None:
            yield from workspace.requests_of_section(section, settings_class).values()


def _requests_of(
    workspace: Workspace, backend: Provided[BackendSpec]
) -> Sequence[TrustRequest] | None:
    """Ask a backend; ``None`` when it has failed, which has then been reported."""
    spec = backend.value
    if spec.trust is None:
        return ()
    return workspace.plugins.call(
        backend,
        _checked,
        spec.trust,
        workspace.library.context_for(spec.name, Area.PROJECT),
        seconds=REQUESTS_SECONDS,
        default=None,
        what=f"trust of {spec.name}",
    )


def _checked(
    ask: Callable[[BackendContext], Sequence[TrustRequest]], context: BackendContext
) -> Sequence[TrustRequest]:
    """Ask a backend; what it says may be anything."""
    answer: object = ask(context)
    if not isinstance(answer, list | tuple) or not all(map(_is_request, answer)):
        raise PluginError("returned no list of TrustRequest")
    return answer


def _is_request(value: object) -> bool:
    return isinstance(value, TrustRequest) and all(
        isinstance(text, str) for text in (value.subject, value.source, value.content)
    )
