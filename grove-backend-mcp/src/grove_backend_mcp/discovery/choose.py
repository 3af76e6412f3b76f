"""Which server is used, and why the others are not."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from attrs import evolve, frozen

from grove_backend_mcp.discovery.assessments import Assessment, load_assessment
from grove_backend_mcp.discovery.references import SLOW_RUNNERS, resolve
from grove_backend_mcp.discovery.registrations import Registered, read_registrations
from grove_backend_mcp.faults import ServerFaultError
from grove_backend_mcp.secrecy import exposed_options, exposed_variables
from grove_backend_mcp.servers import Endpoint, Origin, ServerEntry, Transport
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, Discovered, TrustRequest

_SCOPED: Final = re.compile(r"(@[^@/]+/[^@/]+)(@.*)?")
_PLAIN: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(\[[^\]]*\])?(([@=<>~!]).*)?")
_INSTALLED: Final = re.compile(r".*/node_modules/((?:@[^/]+/)?[^/]+)(/.*)?", re.DOTALL)
_LONGEST_WORD: Final = 1024


def known_package(entry: ServerEntry) -> tuple[str, str] | None:
    """Return whether a server is one of those that a profile is made for."""
    if entry.transport is not Transport.STDIO:
        return None
    from grove_backend_mcp.mappings.profiles import normalised_package, profile_of_package

    for name in _names_in(entry):
        if (profile := profile_of_package(normalised_package(name))) is not None:
            return name, profile
    return None


def _names_in(entry: ServerEntry) -> Iterator[str]:
    yield entry.command.rpartition("/")[2]
    for word in (entry.command, *entry.args):
        if len(word) > _LONGEST_WORD:
            continue
        if (installed := _INSTALLED.fullmatch(word)) is not None:
            yield installed[1]
        elif (scoped := _SCOPED.fullmatch(word)) is not None:
            yield scoped[1]
        elif (plain := _PLAIN.fullmatch(word)) is not None:
            yield plain[1]


CONFIGURED_NAME: Final = "backends.mcp"
"""What the server is called that the configuration itself describes."""

_BROKEN: Final = "the section [backends.mcp] cannot be used: `grove config validate` says why"
_SOURCE: Final = "[backends.mcp]"
_PROJECT_DIRECTORY: Final = re.compile(r"\$\{CLAUDE_PROJECT_DIR(?::-[^}]*)?\}")
_CODE_SUFFIXES: Final = frozenset(".cjs .js .jar .lua .mjs .php .pl .py .pyz .rb .sh .ts".split())


@frozen(kw_only=True)
class Assessed:
    """A server, and whether it can be used."""

    entry: ServerEntry
    usable: bool
    why: str
    is_used: bool = False
    profile: str | None = None
    may_be_probed: bool = False
    is_meant: bool = False


@frozen(kw_only=True)
class Choice:
    """What there is, and what is used of it."""

    entry: ServerEntry | None
    candidates: tuple[Assessed, ...]
    problems: tuple[str, ...] = ()
    is_configured: bool = False

    @property
    def is_awaited(self) -> bool:
        """Whether a server is configured that cannot be reached as things stand."""
        return (
            self.entry is None
            and self.is_configured
            and any(one.is_meant and one.may_be_probed for one in self.candidates)
        )

    @property
    def profile(self) -> str | None:
        """Name of the built-in profile that is expected to fit the server that is used."""
        return next((one.profile for one in self.candidates if one.is_used), None)

    @property
    def meant(self) -> ServerEntry | None:
        """The server that is used, or would be if it could be reached just now."""
        meant = (one.entry for one in self.candidates if one.is_meant and one.may_be_probed)
        return self.entry or next(meant, None)

    @property
    def why_none(self) -> str:
        """Why no server is used, and what helps; of little meaning where one is."""
        if self.problems:
            return self.problems[0]
        if self.candidates:
            meant = (one for one in self.candidates if one.is_meant)
            one = next(meant, self.candidates[0])
            return f"the server {one.entry.name} ({one.entry.source}) cannot be used: {one.why}"
        return "no memory server is written down: `grove backends discover` says where one can be"


class _Known(NamedTuple):
    """What speaks for a server without asking it."""

    reason: str
    profile: str | None


def choose(context: BackendContext) -> Choice:
    """Decide which server is used; nothing is started or asked."""
    settings = context.settings
    # With a section that cannot be used, another server than the one in it may be meant least.
    if not isinstance(settings, McpSettings):
        return Choice(entry=None, candidates=(), problems=(_BROKEN,))
    if settings.command or settings.url:
        return evolve(_chosen([_assess_configured(context, settings)], ()), is_configured=True)
    found = read_registrations(context)
    assessed = _assess_all(context, settings, found.servers)
    problems = list(found.problems)
    if settings.server and not any(one.entry.name == settings.server for one in assessed):
        problems.append(
            f"[backends.mcp] server: no server {settings.server!r} is registered with the client:"
            " `grove backends discover` lists those that are"
        )
    return evolve(_chosen(assessed, problems), is_configured=bool(settings.server))


def endpoint_of(context: BackendContext, entry: ServerEntry) -> Endpoint:
    """Work out how a server is reached from here."""
    settings = context.settings
    passed = settings.pass_environment if isinstance(settings, McpSettings) else ()
    return resolve(entry, context.environment, context.root, passed)


def trust_request(entry: ServerEntry, root: Path) -> TrustRequest:
    """Return what a project asks to be started or reached."""
    said = (
        {"url": entry.url, "headers": dict(entry.headers)}
        if entry.transport is Transport.HTTP
        else {"command": entry.command, "args": list(entry.args), "env": dict(entry.env)}
    )
    said = {key: value for key, value in said.items() if value}
    if files := _files_of_project(entry, root):
        said["files"] = files
    content = json.dumps(said, ensure_ascii=False, sort_keys=True)
    return TrustRequest(subject=f"MCP server {entry.name}", source=entry.source, content=content)


def _files_of_project(entry: ServerEntry, root: Path) -> dict[str, str]:
    """Return digests of the programs in the project that a server's words name."""
    import hashlib  # it loads OpenSSL, and few projects have such a file

    found: dict[str, str] = {}
    for place, word in enumerate((entry.command, *entry.args)):
        # An option may name one as well: --require=./hook.js
        name = _PROJECT_DIRECTORY.sub(lambda _: str(root), word.rpartition("=")[2])
        path = root / name
        try:
            is_here = path.is_file() and path.resolve().is_relative_to(root.resolve())
            is_code = is_here and (
                place == 0 or os.access(path, os.X_OK) or path.suffix in _CODE_SUFFIXES
            )
            if is_code:
                with path.open("rb") as file:
                    found[word] = f"sha256 {hashlib.file_digest(file, 'sha256').hexdigest()}"
        except (OSError, ValueError):
            continue
    return found


def trust_requests(context: BackendContext) -> Sequence[TrustRequest]:
    """List the servers of the project's own files that would be used if the user agreed."""
    settings = context.settings
    if not isinstance(settings, McpSettings) or settings.command or settings.url:
        return []
    return [
        trust_request(one.entry, context.root)
        for one in read_registrations(context).servers
        if one.entry.origin is Origin.PROJECT
        and not one.refused
        and _known(context, settings, one.entry) is not None
    ]


def warnings_about(entry: ServerEntry) -> tuple[str, ...]:
    """Return what is not as it should be about a server that can be used all the same."""
    if entry.transport is not Transport.STDIO:
        return ()
    found = [
        f"{name} would stand in the process list: hand it on in env"
        for name in (*exposed_variables(entry.args), *exposed_options(entry.args))
    ]
    runner = entry.command.rpartition("/")[2]
    if runner in SLOW_RUNNERS:
        found.append(f"{runner} is slow to start and may fetch the package anew: install it")
    return tuple(found)


def _chosen(assessed: Sequence[Assessed], problems: Sequence[str]) -> Choice:
    place = next((place for place, one in enumerate(assessed) if one.usable), None)
    if place is None:
        return Choice(entry=None, candidates=tuple(assessed), problems=tuple(problems))
    candidates = [evolve(one, is_used=at == place) for at, one in enumerate(assessed)]
    return Choice(
        entry=assessed[place].entry, candidates=tuple(candidates), problems=tuple(problems)
    )


def _assess_configured(context: BackendContext, settings: McpSettings) -> Assessed:
    entry = ServerEntry(
        name=CONFIGURED_NAME,
        origin=Origin.CONFIGURED,
        source=_SOURCE,
        transport=Transport.HTTP if settings.url else Transport.STDIO,
        command=settings.command,
        args=settings.args,
        env=settings.env,
        url=settings.url,
        headers=settings.headers,
    )
    if settings.command and settings.url:
        return Assessed(
            entry=entry, usable=False, why="it has a command and a url: keep one of them"
        )
    known = _known(context, settings, entry)
    return _assess_reachable(context, entry, known or _Known("configured", None))


def _assess_all(
    context: BackendContext, settings: McpSettings, servers: Sequence[Registered]
) -> list[Assessed]:
    assessed: list[Assessed] = []
    taken: dict[str, str] = {}
    for one in servers:
        entry = one.entry
        if entry.name in taken:
            why = f"hidden by the one of the same name in {taken[entry.name]}"
            assessed.append(Assessed(entry=entry, usable=False, why=why))
            continue
        is_agreed = entry.origin is not Origin.PROJECT or _is_trusted(context, entry)
        if is_agreed and not one.refused:
            taken[entry.name] = entry.source
        assessed.append(_assess(context, settings, one, is_agreed=is_agreed))
    return assessed


def _assess(
    context: BackendContext, settings: McpSettings, one: Registered, *, is_agreed: bool
) -> Assessed:
    entry = one.entry
    if one.refused:
        return Assessed(entry=entry, usable=False, why=one.refused)
    known = _known(context, settings, entry)
    if settings.server and settings.server != entry.name:
        why = f"[backends.mcp] names another server, {settings.server}"
    elif known is None:
        why = _why_unknown(context, entry)
    elif not is_agreed:
        why = f"{known.reason}; the project asks for it: `grove trust` shows it and lets you agree"
    else:
        return _assess_reachable(context, entry, known)
    return Assessed(
        entry=entry,
        usable=False,
        why=why,
        profile=known.profile if known is not None else None,
        may_be_probed=is_agreed,
        is_meant=known is not None and settings.server in {"", entry.name},
    )


def _assess_reachable(context: BackendContext, entry: ServerEntry, known: _Known) -> Assessed:
    try:
        endpoint_of(context, entry)
    except ServerFaultError as error:
        usable, why = False, error.detail
    else:
        usable, why = True, "; ".join((known.reason, *warnings_about(entry)))
    return Assessed(
        entry=entry,
        usable=usable,
        why=why,
        profile=known.profile,
        may_be_probed=True,
        is_meant=True,
    )


def _is_trusted(context: BackendContext, entry: ServerEntry) -> bool:
    return bool(context.trusted) and trust_request(entry, context.root).digest in context.trusted


def _known(context: BackendContext, settings: McpSettings, entry: ServerEntry) -> _Known | None:
    """Find what speaks for a server: the configuration, its package, or what a probe has shown."""
    assessment = load_assessment(context.home, entry.digest)
    if assessment is not None and assessment.has_write:
        return _Known(_reason(assessment), assessment.profile)
    # A server that had no tools for once is still the one that its package says.
    package = known_package(entry)
    if package is not None:
        return _Known(f"known by its package {package[0]}", package[1])
    # Only a project's own server is known by its name alone, and needs trust: a project's file must
    # not have any of the user's servers started.
    if settings.server == entry.name and entry.origin is Origin.PROJECT and assessment is None:
        return _Known("named by [backends.mcp]", None)
    return None


def _reason(assessment: Assessment) -> str:
    found = "stores and finds learnings" if assessment.has_search else "stores learnings"
    return f"{found}, as was found on {assessment.checked_at:%Y-%m-%d}"


def _why_unknown(context: BackendContext, entry: ServerEntry) -> str:
    assessment = load_assessment(context.home, entry.digest)
    if assessment is not None:
        day = f"{assessment.checked_at:%Y-%m-%d}"
        return (
            f"had no tool that stores learnings on {day}: `grove backends mcp probe {entry.name}`"
            " asks it anew"
        )
    if entry.origin is Origin.PROJECT:
        return (
            f"not known: set backends.mcp.server to {entry.name!r} and agree with `grove trust` to"
            " have it used"
        )
    return f"not known: `grove backends mcp probe {entry.name}` asks it"


def discovered(context: BackendContext) -> Sequence[Discovered]:
    """List the servers that were found; nothing is started."""
    choice = choose(context)
    rows = [_row(one) for one in choice.candidates]
    rows += [
        Discovered(name="-", source="-", usable=False, used=False, why=problem)
        for problem in choice.problems
    ]
    return rows


def _row(one: Assessed) -> Discovered:
    entry = one.entry
    kind = "http" if entry.transport is Transport.HTTP else "stdio"
    return Discovered(
        name=entry.name,
        source=f"{entry.source} ({entry.origin.value}, {kind})",
        usable=one.usable,
        used=one.is_used,
        why=one.why,
    )
