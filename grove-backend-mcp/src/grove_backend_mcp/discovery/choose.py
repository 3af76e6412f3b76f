"""Which server is used, and why the others are not."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from grove_backend_mcp.discovery.references import SLOW_RUNNERS, resolve
from grove_backend_mcp.discovery.registrations import Registered, read_registrations
from grove_backend_mcp.mappings.assessment import load_assessment
from grove_backend_mcp.servers import Endpoint, Origin, ServerEntry, ServerFaultError
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, Discovered, TrustRequest

CONFIGURED_NAME: Final = "backends.mcp"
"""What the server is called that the configuration itself describes."""

_BROKEN: Final = "the section [backends.mcp] cannot be used: `grove config validate` says why"
_NOBODY: Final = (
    "[backends.mcp] server: no server {!r} is registered with the client: `grove backends discover`"
    " lists those that are"
)
_PACKAGES: Final = (
    re.compile(r".*/node_modules/((?:@[^/]+/)?[^/]+)(/.*)?", re.DOTALL),
    re.compile(r"(@[^@/]+/[^@/]+)(@.*)?"),
    re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(\[[^\]]*\])?(([@=<>~!]).*)?"),
)
_LONGEST_WORD: Final = 1024
_PROJECT_DIRECTORY: Final = re.compile(r"\$\{CLAUDE_PROJECT_DIR(?::-[^}]*)?\}")
_CODE_SUFFIXES: Final = frozenset(".cjs .js .jar .lua .mjs .php .pl .py .pyz .rb .sh .ts".split())


@frozen(kw_only=True)
class Candidate:
    """A server, and whether it can be used.

    ``is_meant``: it is known, and nothing names another one; so it is used where it can be reached.
    """

    entry: ServerEntry
    why: str
    usable: bool = False
    is_used: bool = False
    profile: str | None = None
    may_be_probed: bool = False
    is_meant: bool = False


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
    def meant(self) -> Candidate | None:
        """The server that is used, or would be if it could be reached just now."""
        meant = (one for one in self.candidates if one.is_meant and one.may_be_probed)
        return self.used or next(meant, None)

    @property
    def why_none(self) -> str:
        """Why no server is used, and what helps; of little meaning where one is."""
        if self.problems:
            return self.problems[0]
        for one in sorted(self.candidates, key=lambda one: not one.is_meant):
            return f"the server {one.entry.name} ({one.entry.source}) cannot be used: {one.why}"
        return "no memory server is written down: `grove backends discover` says where one can be"


def choose(context: BackendContext) -> Choice:
    """Decide which server is used; nothing is started or asked."""
    settings = context.settings
    # With a section that cannot be used, another server than the one in it may be meant least.
    if not isinstance(settings, McpSettings):
        return Choice(problems=(_BROKEN,))
    problems: Sequence[str] = ()
    if settings.command or settings.url:
        found = [_configured(context, settings)]
    else:
        registered = read_registrations(context)
        found = _registered(context, settings, registered.servers)
        problems = registered.problems
        if settings.server and not any(one.entry.name == settings.server for one in found):
            problems = (*problems, _NOBODY.format(settings.server))
    first = next((one for one in found if one.usable), None)
    return Choice(
        candidates=[evolve(one, is_used=one is first) for one in found],
        problems=problems,
        is_configured=bool(settings.command or settings.url or settings.server),
    )


def endpoint_of(context: BackendContext, entry: ServerEntry) -> Endpoint:
    """Work out how a server is reached from here."""
    settings = context.settings
    passed = settings.pass_environment if isinstance(settings, McpSettings) else ()
    return resolve(entry, context.environment, context.root, passed)


def _configured(context: BackendContext, settings: McpSettings) -> Candidate:
    entry = ServerEntry(
        name=CONFIGURED_NAME,
        origin=Origin.CONFIGURED,
        source="[backends.mcp]",
        command=settings.command,
        args=settings.args,
        env=settings.env,
        url=settings.url,
        headers=settings.headers,
    )
    if settings.command and settings.url:
        return Candidate(entry=entry, why="it has a command and a url: keep one of them")
    reason, profile = _known(context, settings, entry) or ("configured", None)
    return _reachable(context, entry, reason, profile)


def _registered(
    context: BackendContext, settings: McpSettings, servers: Sequence[Registered]
) -> list[Candidate]:
    candidates: list[Candidate] = []
    taken: dict[str, str] = {}
    for entry, why in servers:
        refused = why
        is_agreed = entry.origin is not Origin.PROJECT or _is_trusted(context, entry)
        if entry.name in taken:
            refused = f"hidden by the one of the same name in {taken[entry.name]}"
        elif is_agreed and not refused:
            taken[entry.name] = entry.source
        if refused:
            candidates.append(Candidate(entry=entry, why=refused))
        else:
            candidates.append(_candidate(context, settings, entry, is_agreed=is_agreed))
    return candidates


def _candidate(
    context: BackendContext, settings: McpSettings, entry: ServerEntry, *, is_agreed: bool
) -> Candidate:
    known = _known(context, settings, entry)
    reason, profile = known or ("", None)
    is_named = settings.server in {"", entry.name}
    if not is_named:
        why = f"[backends.mcp] names another server, {settings.server}"
    elif known is None:
        why = _why_unknown(context, entry)
    elif not is_agreed:
        why = f"{reason}; the project asks for it: `grove trust` shows it and lets you agree"
    else:
        return _reachable(context, entry, reason, profile)
    is_meant = known is not None and is_named
    return Candidate(
        entry=entry, why=why, profile=profile, may_be_probed=is_agreed, is_meant=is_meant
    )


def _reachable(
    context: BackendContext, entry: ServerEntry, reason: str, profile: str | None
) -> Candidate:
    runner, usable = entry.command.rpartition("/")[2], True
    if runner in SLOW_RUNNERS:
        reason += f"; {runner} is slow to start and may fetch the package anew: install it"
    try:
        endpoint_of(context, entry)
    except ServerFaultError as error:
        usable, reason = False, error.detail
    return Candidate(
        entry=entry, usable=usable, why=reason, profile=profile, may_be_probed=True, is_meant=True
    )


def _known(
    context: BackendContext, settings: McpSettings, entry: ServerEntry
) -> tuple[str, str | None] | None:
    """Find what speaks for a server without asking it, and its profile."""
    assessment = load_assessment(context.home, entry.digest)
    if assessment is not None and assessment.has_write:
        does = "stores and finds" if assessment.abilities.searches else "stores"
        day = f"{assessment.checked_at:%Y-%m-%d}"
        return f"{does} learnings, as was found on {day}", assessment.profile
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


def _why_unknown(context: BackendContext, entry: ServerEntry) -> str:
    assessment = load_assessment(context.home, entry.digest)
    if assessment is not None:
        day = f"{assessment.checked_at:%Y-%m-%d}"
        return (
            f"no tool that stores learnings was known on {day}: `grove backends mcp map"
            f" {entry.name}` writes a mapping, and `grove backends mcp probe` tries it"
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
    rows = [
        (one.entry.name, one.entry.described, one.usable, one.is_used, one.why)
        for one in choice.candidates
    ]
    rows += [("-", "-", False, False, problem) for problem in choice.problems]
    return [
        Discovered(name=name, source=source, usable=usable, used=used, why=why)
        for name, source, usable, used, why in rows
    ]


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


def _is_trusted(context: BackendContext, entry: ServerEntry) -> bool:
    return bool(context.trusted) and trust_request(entry, context.root).digest in context.trusted


def trust_request(entry: ServerEntry, root: Path) -> TrustRequest:
    """Return what a project asks to be started or reached."""
    said = {
        "url": entry.url,
        "headers": dict(entry.headers),
        "command": entry.command,
        "args": list(entry.args),
        "env": dict(entry.env),
        "files": _files_of_project(entry, root),
    }
    said = {key: value for key, value in said.items() if value}
    content = json.dumps(said, ensure_ascii=False, sort_keys=True)
    return TrustRequest(subject=f"MCP server {entry.name}", source=entry.source, content=content)


def _files_of_project(entry: ServerEntry, root: Path) -> dict[str, str]:
    """Return digests of the programs in the project that a server's words name."""
    import hashlib  # it loads OpenSSL, and few projects have such a file

    found: dict[str, str] = {}
    for place, word in enumerate((entry.command, *entry.args)):
        # An option may name one as well: --require=./hook.js
        path = root / _PROJECT_DIRECTORY.sub(lambda _: str(root), word.rpartition("=")[2])
        try:
            if not path.is_file() or not path.resolve().is_relative_to(root.resolve()):
                continue
            if place == 0 or os.access(path, os.X_OK) or path.suffix in _CODE_SUFFIXES:
                with path.open("rb") as file:
                    found[word] = f"sha256 {hashlib.file_digest(file, 'sha256').hexdigest()}"
        except (OSError, ValueError):
            continue
    return found
