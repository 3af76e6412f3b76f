"""grove's hooks in Codex's files, and whether Codex trusts them.

Codex keeps a hash of each hook that the person has agreed to. A hook whose words or place have
changed since is left out in silence, so grove's command never changes.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grove_core import (
    CheckResult,
    HostContext,
    HostSetup,
    Registration,
    Status,
    StorageError,
    read_bytes,
)
from grove_hosts.codex import NAME, REGISTERED
from grove_hosts.payloads import SET_VARIABLE
from grove_hosts.settings import as_list, as_table, hooks_file, own_words, read, registered_among
from grove_hosts.skills import shared_skill

# A program that is broken may end as a denial does, with 2, and Codex would obey it for ever.
_COMMAND: Final = "grove hook codex || true"
_SECONDS: Final = {**dict.fromkeys(REGISTERED, 25), "SessionEnd": 3}
_DEFAULTS: Final = {"async": False, "timeout": 600}
_TRUST: Final = "Start codex and trust it there: when it asks, or with /hooks"
_NOTES: Final = (
    "Codex runs only hooks that you have agreed to: start codex and trust grove's, or open /hooks",
    "Codex looks for `grove` on the PATH that it was started with",
)


def setup(context: HostContext) -> HostSetup:
    """Say what is written: the person's hooks for all projects, or the project's own."""
    files = [*shared_skill(context)]
    if context.hooks:
        folder = context.root / ".codex" if context.shared else _home(context)
        files.append(hooks_file(folder / "hooks.json", NAME, _groups(context)))
    return HostSetup(files=tuple(files), notes=_NOTES if context.hooks else ())


def _home(context: HostContext) -> Path:
    environment = context.environment
    return Path(environment.get("CODEX_HOME") or Path(environment.get("HOME", "/"), ".codex"))


def _groups(context: HostContext) -> dict[str, list[Mapping[str, Any]]]:
    """Make the hooks, without a word on this project: the person's file serves all of them."""
    command = f"{SET_VARIABLE}=project {_COMMAND}" if context.shared else _COMMAND
    return {
        event: [{"hooks": [{"type": "command", "command": command, "timeout": seconds}]}]
        for event, seconds in _SECONDS.items()
    }


def registered(context: HostContext) -> Sequence[Registration]:
    """Find grove's hooks in the person's file and in the project's."""
    own, projects = _home(context) / "hooks.json", context.root / ".codex" / "hooks.json"
    return registered_among({"user": own, "project": projects}, NAME)


def check(context: HostContext) -> Iterator[CheckResult]:
    """Look for what keeps Codex from running grove's hooks."""
    files = {one.source: one.kind for one in registered(context)}
    config = _home(context) / "config.toml"
    try:
        settings = tomllib.loads((read_bytes(config) or b"").decode())
    except (StorageError, ValueError) as error:
        yield _broken(f"{config} cannot be read: {error}", f"Correct {config}")
        return
    if files and as_table(settings.get("features")).get("hooks") is False:
        yield _broken(f"{config} switches hooks off", f"Take features.hooks out of {config}")
    for file, kind in files.items():
        if kind == "project" and not _is_trusted(context.root, as_table(settings.get("projects"))):
            yield _broken(f"Codex does not trust the project {context.root}", _TRUST)
        yield _trust_of(file, as_table(as_table(settings.get("hooks")).get("state")))


def _is_trusted(root: Path, projects: Mapping[str, Any]) -> bool:
    known = (as_table(projects.get(str(one))) for one in (root, root.resolve()))
    return any(one.get("trust_level") == "trusted" for one in known)


def _trust_of(file: Path, state: Mapping[str, Any]) -> CheckResult:
    """Compare what the person has agreed to with what stands in a file."""
    faults: dict[str, list[str]] = {}
    for event, key, value in _hashes(file):
        agreed = as_table(state.get(f"{file}:{key}") or state.get(f"{file.resolve()}:{key}"))
        if agreed.get("enabled") is False:
            faults.setdefault("switched off", []).append(event)
        elif agreed.get("trusted_hash") != value:
            why = "changed since" if "trusted_hash" in agreed else "not trusted"
            faults.setdefault(why, []).append(event)
    if not faults:
        return CheckResult(status=Status.OK, detail=f"Codex trusts grove's hooks in {file}")
    why = "; ".join(f"{', '.join(events)}: {fault}" for fault, events in faults.items())
    return _broken(f"Codex does not run all of grove's hooks in {file} ({why})", _TRUST)


def _hashes(file: Path) -> Iterator[tuple[str, str, str]]:
    """Give event, key and hash of each hook of grove's, as Codex works them out."""
    for event, groups in as_table(read(file).get("hooks")).items():
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        for place, group in enumerate(map(as_table, as_list(groups))):
            for number, hook in enumerate(as_list(group.get("hooks"))):
                if own_words(hook, NAME):
                    yield event, f"{name}:{place}:{number}", _hash(name, group, hook)


def _hash(name: str, group: Mapping[str, Any], hook: Mapping[str, Any]) -> str:
    matcher = {"matcher": group["matcher"]} if "matcher" in group else {}
    document = {"event_name": name, "hooks": [{**_DEFAULTS, **hook}], **matcher}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _broken(detail: str, fix: str) -> CheckResult:
    return CheckResult(status=Status.BROKEN, detail=detail, fix=fix)
