"""From a server as it is written down to what it is reached by: references are expanded here."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.secrecy import REFERENCE, option_values, referred_to, says_secret
from grove_backend_mcp.servers import Endpoint, Origin, ServerEntry, Transport

SLOW_RUNNERS: Final = frozenset("bunx npx pipx pnpx uvx".split())
"""Programs that look a package up, and may fetch it, each time they start a server."""

_HANDED_ON: Final = frozenset(
    "HOME LANG LOGNAME PATH TMPDIR USER"
    " XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME"
    " HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy"
    " NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE"
    " NPM_CONFIG_CACHE NPM_CONFIG_REGISTRY NPM_CONFIG_USERCONFIG npm_config_cache"
    " npm_config_registry npm_config_userconfig UV_CACHE_DIR UV_DEFAULT_INDEX UV_INDEX_URL".split()
)
_HANDED_ON_PREFIX: Final = "LC_"
# What everybody knows of a machine: masking it would only make messages unreadable.
_KNOWN: Final = frozenset("HOME LANG LOGNAME PATH PWD SHELL TMPDIR USER".split())
_SHORTEST_SECRET: Final = 4
_CREDENTIALS: Final = re.compile(r"(?i)\b(?:basic|bearer|token)\s+(\S+)")
_PASSWORD: Final = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
_OF_THE_PROJECT: Final = frozenset((Origin.LOCAL, Origin.PROJECT))
_PROJECT_VARIABLE: Final = "CLAUDE_PROJECT_DIR"
_LOOPBACK: Final = re.compile(r"localhost|127(\.[0-9]{1,3}){3}|::1")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


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

    return REFERENCE.sub(value, text)


def resolve(
    entry: ServerEntry,
    environment: Mapping[str, str],
    root: Path,
    pass_environment: Sequence[str] = (),
) -> Endpoint:
    """Work out how a server is reached; nothing is started."""
    known = {**environment, **entry.extra, _PROJECT_VARIABLE: os.fspath(root)}
    if entry.transport is Transport.HTTP:
        return _resolve_address(entry, known)
    return _resolve_program(entry, known, root, pass_environment)


def _resolve_address(entry: ServerEntry, known: Mapping[str, str]) -> Endpoint:
    url = expand(entry.url, known)
    headers = {name: expand(value, known) for name, value in entry.headers.items()}
    _check_address(url)
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not value.isprintable():
            raise ServerFaultError(
                FaultKind.REFUSED, f"the header {name!r} holds what no header may, a line end say"
            )
    written = [value for name, value in headers.items() if says_secret(name)]
    written += [found[1] for value in headers.values() if (found := _CREDENTIALS.search(value))]
    written += _secrets_of_query(url)
    return Endpoint(
        name=entry.name,
        transport=entry.transport,
        url=url,
        headers=headers,
        secrets=_secrets([entry.url, *entry.headers.values()], known, written),
    )


def _check_address(url: str) -> None:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in {"http", "https"} or not url.isprintable() or " " in url:
        raise ServerFaultError(FaultKind.REFUSED, "its address is no http or https address")
    if parts.scheme == "http" and not _LOOPBACK.fullmatch(host):
        raise ServerFaultError(
            FaultKind.REFUSED,
            "its address is http to another machine, which anybody on the way can read: use https",
        )
    if "@" in parts.netloc:
        raise ServerFaultError(
            FaultKind.REFUSED,
            "its address holds a user or password: write them as a header by reference, such as"
            ' headers = { Authorization = "Bearer ${TOKEN}" }',
        )


def _secrets_of_query(url: str) -> list[str]:
    from urllib.parse import parse_qsl, urlsplit

    query = urlsplit(url).query
    return [value for name, value in parse_qsl(query) if says_secret(name)]


def _resolve_program(
    entry: ServerEntry, known: Mapping[str, str], root: Path, pass_environment: Sequence[str]
) -> Endpoint:
    env = {name: expand(value, known) for name, value in entry.env.items()}
    child = _environment_of(entry, known, pass_environment) | env
    command, *args = [expand(each, known) for each in (entry.command, *entry.args)]
    if not _can_be_given((command, *args), child):
        raise ServerFaultError(FaultKind.NOT_STARTED, "its words hold what no process can be given")
    if entry.origin not in _OF_THE_PROJECT:
        child["PATH"] = _path_outside(child.get("PATH", os.defpath), root)
    words = (_find_program(entry, command, child.get("PATH", ""), root), *args)
    written = [value for name, value in env.items() if says_secret(name)]
    written += [child[name] for name in pass_environment if name in child and name not in _KNOWN]
    written += option_values(args)
    written += [found[1] for word in args if (found := _CREDENTIALS.search(word))]
    written += [value for word in args if "://" in word for value in _secrets_of_query(word)]
    written += [value for value in (*child.values(), *args) if _PASSWORD.search(value)]
    return Endpoint(
        name=entry.name,
        transport=entry.transport,
        words=words,
        environment=child,
        cwd=_directory_for(entry, child, root),
        secrets=_secrets([entry.command, *entry.args, *entry.env.values()], known, written),
    )


def _environment_of(
    entry: ServerEntry, known: Mapping[str, str], pass_environment: Sequence[str]
) -> dict[str, str]:
    wanted = _HANDED_ON.union(pass_environment)
    child = {
        name: value
        for name, value in known.items()
        if name in wanted or name.startswith(_HANDED_ON_PREFIX)
    }
    return {**child, **entry.extra, _PROJECT_VARIABLE: known[_PROJECT_VARIABLE]}


def _can_be_given(words: Sequence[str], child: Mapping[str, str]) -> bool:
    try:
        texts = b"".join(os.fsencode(text) for text in (*words, *child, *child.values()))
    except UnicodeEncodeError:
        return False
    return b"\0" not in texts and all(name and "=" not in name for name in child)


def _find_program(entry: ServerEntry, command: str, path: str, root: Path) -> str:
    is_of_project = entry.origin in _OF_THE_PROJECT
    if os.path.isabs(command):  # noqa: PTH117 - a text all the way
        found = [command]
    elif "/" in command:
        if not is_of_project:
            raise ServerFaultError(
                FaultKind.NOT_STARTED,
                f"its program {entry.command!r} would be the project's: write its absolute path",
            )
        found = [os.path.abspath(root / command)]  # noqa: PTH100 - links stay as they are
    else:
        found = [os.path.join(each, command) for each in path.split(os.pathsep) if each]  # noqa: PTH118
        found = [each for each in found if is_of_project or not _is_inside(each, root)]
    program = next((each for each in found if command and _is_program(each)), None)
    if program is None:
        raise ServerFaultError(
            FaultKind.NOT_STARTED,
            f"its program {entry.command!r} is not there: install it, or write its absolute path",
        )
    return os.path.abspath(program)  # noqa: PTH100 - links stay as they are


def _is_program(path: str) -> bool:
    try:
        return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113 - never raises
    except ValueError:
        return False


def _is_inside(path: str, root: Path) -> bool:
    real, base = os.path.realpath(path), os.path.realpath(root)
    return real == base or real.startswith(f"{base.rstrip('/')}/")


def _path_outside(path: str, root: Path) -> str:
    """Leave out what would be found in the project, such as ``.`` and ``node_modules/.bin``."""
    places = path.split(os.pathsep)
    kept = [each for each in places if each.startswith("/") and not _is_inside(each, root)]
    return os.pathsep.join(kept)


def _directory_for(entry: ServerEntry, child: Mapping[str, str], root: Path) -> str:
    """Say where a program runs: in the project only where it is of the project."""
    if entry.origin in _OF_THE_PROJECT:
        return os.fspath(root)
    home = child.get("HOME", "")
    return home if os.path.isdir(home) and not _is_inside(home, root) else "/"  # noqa: PTH112


def _secrets(
    texts: Sequence[str], known: Mapping[str, str], values: Iterable[str]
) -> tuple[str, ...]:
    """Collect what must not be shown: what names or places say is secret."""
    from urllib.parse import unquote

    names = (name for text in texts for name in referred_to(text))
    found = [known[name] for name in names if name in known and says_secret(name)]
    found += values
    # Of "Bearer abc", a server may repeat the part alone.
    parts = [word for value in found for word in value.split(" ")[1:]]
    parts += [unquote(one) for value in found for one in _PASSWORD.findall(value)]
    parts += [password for value in found for password in _PASSWORD.findall(value)]
    all_of_them = dict.fromkeys(one for one in (*found, *parts) if len(one) >= _SHORTEST_SECRET)
    # The longest first, so that masking one leaves nothing of another behind.
    return tuple(sorted(all_of_them, key=len, reverse=True))
