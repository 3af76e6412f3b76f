"""Which server is used, and why the others are not."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from attrs import evolve, frozen

from grove_backend_mcp.discovery.references import resolve
from grove_backend_mcp.discovery.registrations import read_registrations
from grove_backend_mcp.mappings.assessment import load_assessment
from grove_backend_mcp.servers import Origin, ServerEntry, ServerFaultError
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, Discovered, TrustRequest

_BROKEN: Final = "the section [backends.mcp] cannot be used: `grove config validate` says why"
_PACKAGES: Final = (
    re.compile(r".*/node_modules/((?:@[^/]+/)?[^/]+)(/.*)?", re.DOTALL),
    re.compile(r"(@[^@/]+/[^@/]+)(@.*)?"),
    re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(\[[^\]]*\])?(([@=<>~!]).*)?"),
)
_LONGEST_WORD: Final = 1024
_DEFINITION: Final = ("url", "headers", "command", "args", "env")


@frozen(kw_only=True)
class Candidate:
    """A server, and whether it is used; one that is may be out of reach just now."""

    entry: ServerEntry
    why: str
    profile: str | None = None
    may_be_probed: bool = False
    is_used: bool = False
    is_usable: bool = False


@frozen(kw_only=True)
class Choice:
    """What there is, and what is used of it."""

    candidates: Sequence[Candidate] = ()
    problems: Sequence[str] = ()
    is_configured: bool = False

    @property
    def used(self) -> Candidate | None:
        """The server that is used."""
        return next((one for one in self.candidates if one.is_used), None)

    @property
    def why_none(self) -> str:
        """Why no server is used, and what helps; of little meaning where one is."""
        if self.problems:
            return self.problems[0]
        for one in sorted(self.candidates, key=lambda one: not one.is_used):
            return f"the server {one.entry.name} ({one.entry.source}) cannot be used: {one.why}"
        return "no memory server is written down: `grove backends discover` says where one can be"


def choose(context: BackendContext) -> Choice:
    """Decide which server is used; nothing is started or asked."""
    settings = context.settings
    # With a section that cannot be used, another server than the one in it may be meant least.
    if not isinstance(settings, McpSettings):
        return Choice(problems=(_BROKEN,))
    found: Sequence[Candidate]
    problems: Sequence[str] = ()
    if settings.command or settings.url:
        found = [_configured(context, settings)]
    else:
        found, problems = _registered(context, settings)
    first = next((one for one in found if one.is_used), None)
    return Choice(
        candidates=[evolve(one, is_used=one is first) for one in found],
        problems=problems,
        is_configured=bool(settings.command or settings.url or settings.server),
    )


def _configured(context: BackendContext, settings: McpSettings) -> Candidate:
    entry = ServerEntry(
        name="backends.mcp",
        origin=Origin.CONFIGURED,
        source="[backends.mcp]",
        **{name: getattr(settings, name) for name in _DEFINITION},
    )
    if settings.command and settings.url:
        return Candidate(entry=entry, why="it has a command and a url: keep one of them")
    return _meant(context, entry, *(_known(context, settings, entry) or ("configured", None)))


def _registered(
    context: BackendContext, settings: McpSettings
) -> tuple[Sequence[Candidate], Sequence[str]]:
    servers, problems = read_registrations(context)
    found, taken = list[Candidate](), dict[str, str]()
    for entry in servers:
        is_agreed = entry.origin is not Origin.PROJECT or _is_trusted(context, entry)
        if entry.refused:
            found.append(Candidate(entry=entry, why=entry.refused))
        elif entry.name in taken:
            why = f"hidden by the one of the same name in {taken[entry.name]}"
            found.append(Candidate(entry=entry, why=why))
        else:
            taken |= {entry.name: entry.source} if is_agreed else {}
            found.append(_candidate(context, settings, entry, is_agreed=is_agreed))
    if settings.server and not any(one.entry.name == settings.server for one in found):
        nobody = (
            f"[backends.mcp] server: no server {settings.server!r} is registered with the client:"
            " `grove backends discover` lists those that are"
        )
        problems = (*problems, nobody)
    return found, problems


def _candidate(
    context: BackendContext, settings: McpSettings, entry: ServerEntry, *, is_agreed: bool
) -> Candidate:
    known = _known(context, settings, entry)
    if settings.server not in ("", entry.name):
        why = f"[backends.mcp] names another server, {settings.server}"
    elif known is None:
        why = _why_unknown(entry)
    elif not is_agreed:
        why = f"{known[0]}; the project asks for it: `grove trust` shows it and lets you agree"
    else:
        return _meant(context, entry, *known)
    return Candidate(entry=entry, why=why, may_be_probed=is_agreed)


def _meant(context: BackendContext, entry: ServerEntry, why: str, profile: str | None) -> Candidate:
    is_usable = True
    try:
        resolve(entry, context)
    except ServerFaultError as fault:
        is_usable, why = False, fault.detail
    return Candidate(
        entry=entry,
        why=why,
        profile=profile,
        may_be_probed=True,
        is_used=True,
        is_usable=is_usable,
    )


def _known(
    context: BackendContext, settings: McpSettings, entry: ServerEntry
) -> tuple[str, str | None] | None:
    """Find what speaks for a server without asking it, and its profile."""
    assessment = load_assessment(context.home, entry.digest)
    if assessment is not None and assessment.has_write:
        return "its tools are known", assessment.profile
    # A server that had no tools for once is still the one that its package says.
    for name in () if entry.url else _names_in(entry):
        from grove_backend_mcp.mappings.choice import profile_of_package

        profile = profile_of_package(name)
        if profile is not None:
            return f"known by its package {name}", profile
    # Only a project's own server is known by its name alone, and needs trust: a project's file must
    # not have any of the user's servers started.
    if settings.server == entry.name and entry.origin is Origin.PROJECT and assessment is None:
        return "named by [backends.mcp]", None
    return None


def _names_in(entry: ServerEntry) -> Iterator[str]:
    """Name the packages that a command line may mean."""
    yield entry.command.rpartition("/")[2]
    for word in (entry.command, *entry.args):
        if len(word) <= _LONGEST_WORD:
            found = next(filter(None, (form.fullmatch(word) for form in _PACKAGES)), None)
            yield from [found[1]] if found else []


def _why_unknown(entry: ServerEntry) -> str:
    if entry.origin is Origin.PROJECT:
        return f"not known: set backends.mcp.server to {entry.name!r}, and agree with `grove trust`"
    return (
        f"not known to store learnings: `grove backends mcp probe {entry.name}` asks it, and `grove"
        f" backends mcp map {entry.name}` writes a mapping to complete"
    )


def discovered(context: BackendContext) -> Sequence[Discovered]:
    """List the servers that were found; nothing is started."""
    choice = choose(context)
    found = [
        Discovered(
            name=one.entry.name,
            source=one.entry.described,
            usable=one.is_usable,
            used=one.is_used,
            why=one.why,
        )
        for one in choice.candidates
    ]
    return [*found, *(_problem(one) for one in choice.problems)]


def _problem(why: str) -> Discovered:
    return Discovered(name="-", source="-", usable=False, used=False, why=why)


def trust_requests(context: BackendContext) -> Sequence[TrustRequest]:
    """List the servers of the project's own files that would be used if the user agreed."""
    settings = context.settings
    if not isinstance(settings, McpSettings) or settings.command or settings.url:
        return []
    return [
        trust_request(one)
        for one in read_registrations(context)[0]
        if one.origin is Origin.PROJECT and not one.refused and _known(context, settings, one)
    ]


def _is_trusted(context: BackendContext, entry: ServerEntry) -> bool:
    return bool(context.trusted) and trust_request(entry).digest in context.trusted


def trust_request(entry: ServerEntry) -> TrustRequest:
    """Return what a project asks to be started or reached."""
    said = {name: value for name in _DEFINITION if (value := getattr(entry, name))}
    content = json.dumps(said, ensure_ascii=False, sort_keys=True)
    return TrustRequest(subject=f"MCP server {entry.name}", source=entry.source, content=content)
