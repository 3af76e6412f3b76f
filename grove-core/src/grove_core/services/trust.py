"""Trust: what a project's files ask for, and what the user has agreed to."""

from collections.abc import Sequence
from enum import Enum
from typing import Final

from attrs import evolve

from grove_core.errors import CodecError, StorageError
from grove_core.model.value import frozen
from grove_core.plugins.descriptors import Area
from grove_core.project import Project
from grove_core.services.settings import plugin_sections
from grove_core.storage.trust import Agreements, TrustRequest, TrustStore

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


def examine_trust(project: Project) -> TrustState:
    """Collect what the project's files ask for, and whether it is trusted."""
    agreements: Agreements = {}
    fault = ""
    try:
        agreements = TrustStore(project.paths.trust_file).agreements(project.root)
    except (CodecError, StorageError) as error:
        fault = str(error)
    silent: list[str] = []
    sections = plugin_sections(project).values()
    requests = [request for one in sections for request in one.requests.values()]
    for backend in project.plugins.memory_backends():
        if (ask := backend.value.trust) is None:
            continue
        context = project.library.context_for(backend.name, Area.PROJECT)
        answer = project.plugins.call_for_list(
            backend, "trust", TrustRequest, ask, context, seconds=REQUESTS_SECONDS
        )
        requests += answer or ()
        silent += [backend.name] if answer is None else []
    places = {one.place for one in agreements.values()}
    asked: dict[str, Asked] = {}  # two that are the same in every word are one
    for one in requests:
        status = TrustStatus.CHANGED if (one.subject, one.source) in places else TrustStatus.NEW
        status = TrustStatus.TRUSTED if one.digest in agreements else status
        asked[one.digest] = Asked(request=one, status=status)
    return TrustState(asked=tuple(asked.values()), silent=tuple(silent), fault=fault)


def agree(project: Project, state: TrustState) -> TrustState:
    """Record that the user agrees to everything that was found, and to nothing else."""
    requests = [one.request for one in state.asked]
    aside = TrustStore(project.paths.trust_file).agree(project.root, requests, project.now)
    fault = f"{project.paths.trust_file} could not be understood; it is now {aside}"
    trusted = [evolve(one, status=TrustStatus.TRUSTED) for one in state.asked]
    return evolve(state, asked=tuple(trusted), fault=fault if aside else "")


def revoke(project: Project) -> Agreements:
    """Forget everything that the user has agreed to in the project."""
    return TrustStore(project.paths.trust_file).revoke(project.root)
