"""Trust: what a project's files ask for, and what the user has agreed to."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import Final

from attrs import evolve

from grove_core.errors import CodecError, PluginError, StorageError
from grove_core.model.value import frozen
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec
from grove_core.plugins.manager import Contribution
from grove_core.storage.trust import Agreement, TrustRequest, TrustStore
from grove_core.workspace import Workspace

REQUESTS_SECONDS: Final = 5.0


class TrustStatus(Enum):
    """Whether the user has agreed to a request."""

    TRUSTED = "trusted"
    CHANGED = "changed"
    """The user has agreed to the same thing with another content."""
    NEW = "new"


@frozen(kw_only=True)
class Asked:
    """Something that a project's files ask for."""

    request: TrustRequest
    status: TrustStatus


@frozen(kw_only=True)
class TrustState:
    """What a project's files ask for, all of it."""

    asked: Sequence[Asked]
    silent: Sequence[str] = ()
    fault: str = ""

    @property
    def untrusted(self) -> Sequence[Asked]:
        """What the user has not agreed to."""
        return [one for one in self.asked if one.status is not TrustStatus.TRUSTED]


def examine_trust(workspace: Workspace) -> TrustState:
    """Collect what the project's files ask for, and whether it is trusted."""
    agreements: Mapping[str, Agreement] = {}
    fault = ""
    try:
        agreements = TrustStore(workspace.paths.trust_file).agreements(workspace.root)
    except (CodecError, StorageError) as error:
        fault = str(error)
    requests, silent = _requests(workspace)
    places = {one.place for one in agreements.values()}
    # Two that are the same in every word are one.
    asked = {
        one.digest: Asked(request=one, status=_status(one, agreements, places)) for one in requests
    }
    return TrustState(asked=tuple(asked.values()), silent=tuple(silent), fault=fault)


def agree(workspace: Workspace, state: TrustState) -> TrustState:
    """Record that the user agrees to everything that was found, and to nothing else."""
    requests = [one.request for one in state.asked]
    aside = TrustStore(workspace.paths.trust_file).agree(workspace.root, requests, workspace.now)
    fault = f"{workspace.paths.trust_file} could not be understood; it is now {aside}"
    trusted = [evolve(one, status=TrustStatus.TRUSTED) for one in state.asked]
    return evolve(state, asked=tuple(trusted), fault=fault if aside else "")


def revoke(workspace: Workspace) -> Sequence[Agreement]:
    """Forget everything that the user has agreed to in the project."""
    return TrustStore(workspace.paths.trust_file).revoke(workspace.root)


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


def _status(
    request: TrustRequest, agreements: Collection[str], places: Collection[tuple[str, str]]
) -> TrustStatus:
    if request.digest in agreements:
        return TrustStatus.TRUSTED
    return TrustStatus.CHANGED if (request.subject, request.source) in places else TrustStatus.NEW


def _requests_of_configuration(workspace: Workspace) -> Iterator[TrustRequest]:
    backends, probes = workspace.plugins.memory_backends(), workspace.plugins.ticket_probes()
    classes = {f"backends.{one.value.name}": one.value.settings for one in backends}
    classes |= {f"tickets.{one.value.name}": one.value.settings for one in probes}
    for section, settings_class in classes.items():
        if settings_class is not None:
            yield from workspace.requests_of_section(section, settings_class).values()


def _requests_of(
    workspace: Workspace, backend: Contribution[BackendSpec]
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
