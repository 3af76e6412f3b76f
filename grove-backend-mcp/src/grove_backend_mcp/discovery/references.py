"""From a server as it is written down to what it is reached by: references are expanded here."""

import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from grove_backend_mcp.servers import Endpoint, FaultKind, Origin, ServerEntry, ServerFaultError
from grove_backend_mcp.settings import REFERENCE, option_values, referred_to, says_secret
from grove_core import BackendContext

_HANDED_ON: Final = frozenset(
    "CLAUDE_PROJECT_DIR HOME LANG LOGNAME PATH TMPDIR USER"
    " XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME"
    " HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy"
    " NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE"
    " NPM_CONFIG_CACHE NPM_CONFIG_REGISTRY NPM_CONFIG_USERCONFIG npm_config_cache"
    " npm_config_registry npm_config_userconfig UV_CACHE_DIR UV_DEFAULT_INDEX UV_INDEX_URL".split()
)
_IN_TEXTS: Final = re.compile(
    r"(?i)\b(?:basic|bearer|token)\s+(\S+)|://[^/\s:@]*:([^/\s@]+)@"
    r"|[?&][^=&\s]*(?:auth|key|password|secret|token)[^=&\s]*=([^&\s]+)"
)
_OF_THE_PROJECT: Final = frozenset((Origin.LOCAL, Origin.PROJECT))
_LOOPBACK: Final = re.compile(r"localhost|127(\.[0-9]{1,3}){3}|::1")
_PLAIN: Final = re.compile(r"[\x21-\x7e]+")


def expand(text: str, environment: Mapping[str, str]) -> str:
    """Put the environment's values in the place of references to them."""

    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if name in environment:
            return environment[name]
        if default is None:
            raise ServerFaultError(
                FaultKind.NOT_STARTED,
                f"the variable {name} is not set: set it in the environment, or write"
                f" ${{{name}:-…}} with a default",
            )
        return str(default)

    return re.sub(REFERENCE, value, text)


def resolve(entry: ServerEntry, context: BackendContext) -> Endpoint:
    """Work out how a server is reached; nothing is started."""
    known = {**context.environment, "CLAUDE_PROJECT_DIR": os.fspath(context.root)}
    if entry.url:
        return _resolve_address(entry, known)
    return _resolve_program(entry, known, context.root)


def _resolve_address(entry: ServerEntry, known: Mapping[str, str]) -> Endpoint:
    url = expand(entry.url, known)
    headers = {name: expand(value, known) for name, value in entry.headers.items()}
    _check_address(url)
    named = [value for name, value in headers.items() if says_secret(name)]
    secrets = _secrets(named, (entry.url, *entry.headers.values()), known, (url, *headers.values()))
    return Endpoint(name=entry.name, url=url, headers=headers, secrets=secrets)


def _check_address(url: str) -> None:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    is_private = parts.scheme == "https" or _LOOPBACK.fullmatch(host) if host else False
    why = ""
    if not is_private or parts.scheme not in {"http", "https"} or not _PLAIN.fullmatch(url):
        why = "its address must be https, or http to this machine"
    elif "@" in parts.netloc:
        why = (
            "its address holds a user or password: write them as a header by reference, such as"
            ' headers = { Authorization = "Bearer ${TOKEN}" }'
        )
    if why:
        raise ServerFaultError(FaultKind.REFUSED, why)


def _resolve_program(entry: ServerEntry, known: Mapping[str, str], root: Path) -> Endpoint:
    env = {name: expand(value, known) for name, value in entry.env.items()}
    child = {
        name: value for name, value in known.items() if name in _HANDED_ON or name.startswith("LC_")
    } | env
    cwd, command, *args = (
        os.fspath(root),
        *(expand(one, known) for one in (entry.command, *entry.args)),
    )
    if entry.origin not in _OF_THE_PROJECT:
        # What would be found in the project is left out, such as ``.`` and ``node_modules/.bin``.
        places = child.get("PATH", os.defpath).split(os.pathsep)
        outside = (one for one in places if one.startswith("/") and not _is_inside(one, root))
        child["PATH"] = os.pathsep.join(outside)
        home = child.get("HOME", "")
        cwd = home if os.path.isdir(home) and not _is_inside(home, root) else "/"  # noqa: PTH112
    named = [value for name, value in env.items() if says_secret(name)] + [*option_values(args)]
    written = (entry.command, *entry.args, *entry.env.values())
    return Endpoint(
        name=entry.name,
        words=(_find_program(entry, command, child.get("PATH", ""), root), *args),
        environment=child,
        cwd=cwd,
        secrets=_secrets(named, written, known, (*args, *child.values())),
    )


def _find_program(entry: ServerEntry, command: str, path: str, root: Path) -> str:
    is_of_project = entry.origin in _OF_THE_PROJECT
    if "/" in command and not command.startswith("/") and not is_of_project:
        raise ServerFaultError(
            FaultKind.NOT_STARTED,
            f"its program {command!r} would be the project's: write its absolute path",
        )
    place = os.path.join(root, command) if "/" in command else command  # noqa: PTH118
    found = shutil.which(place, path=path)
    is_ours = is_of_project or command.startswith("/")
    if found is None or (not is_ours and _is_inside(found, root)):
        raise ServerFaultError(
            FaultKind.NOT_STARTED,
            f"its program {entry.command!r} is not there: install it, or write its absolute path",
        )
    return os.path.abspath(found)  # noqa: PTH100 - links stay


def _is_inside(path: str, root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _secrets(
    named: Sequence[str], written: Iterable[str], known: Mapping[str, str], texts: Iterable[str]
) -> tuple[str, ...]:
    """Collect what must not be shown: what its name or its place says is secret."""
    from urllib.parse import unquote

    names = (name for text in written for name in referred_to(text) if says_secret(name))
    found = [*named, *(known[name] for name in names if name in known)]
    found += [
        match[match.lastindex or 0]
        for text in (*named, *texts)
        for match in _IN_TEXTS.finditer(text)
    ]
    return tuple(dict.fromkeys((*found, *map(unquote, found))))
