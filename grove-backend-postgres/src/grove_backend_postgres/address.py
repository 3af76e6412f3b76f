"""Where a database is, read from a URL or from keywords as libpq takes them."""

import os
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final
from urllib.parse import unquote

from attrs import field, frozen

from grove_core import ConfigError

_SCHEMES: Final = ("postgresql://", "postgres://")
_KEYWORD: Final = re.compile(
    r"\s*(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)", re.DOTALL
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
# An "@" behind the host ends a password with a "/" that is not written as %2F: no database is named
# so.
_URL: Final = re.compile(
    r"(?:([^:/?]*)(?::([^/?]*))?@)?([^/?@]*)(?:/([^?@]*))?(?:\?(.*))?", re.DOTALL
)
_HOST: Final = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::(\d*))?")
_SHORTEST_CONNECT_SECONDS: Final = 2
_LONGEST_CONNECT_SECONDS: Final = 10
_KEEPALIVE_SECONDS: Final = 10
_VARIABLES: Final = {
    "PGHOST": "host",
    "PGHOSTADDR": "hostaddr",
    "PGPORT": "port",
    "PGDATABASE": "dbname",
    "PGUSER": "user",
    "PGSERVICE": "service",
}
_PLACE: Final = ("host", "hostaddr", "port", "dbname", "service")
_HOW: Final = (
    "a URL such as `postgresql://grove@db.example.org/team`, or keywords such as"
    " `host=db.example.org dbname=team user=grove`"
)


@frozen(kw_only=True)
class Address:
    """Where a database is."""

    parameters: Mapping[str, str] = field(repr=False)
    environment: Mapping[str, str] = field(factory=dict, repr=False)

    @property
    def _place(self) -> Mapping[str, str]:
        return {**self.environment, **self.parameters}

    @property
    def label(self) -> str:
        """Database and server for people, such as ``team at db.example.org``; no password."""
        given = self._place
        if "service" in given and "host" not in given:
            return f"of the service {given['service']}"
        # What somebody has written names the server well enough.
        server = self.parameters if {"host", "hostaddr"} & {*self.parameters} else given
        hosts = server.get("host") or server.get("hostaddr") or "this machine"
        port = server.get("port", "").strip(",")
        where = f"{hosts}:{port}" if port else hosts
        return f"{given.get('dbname') or given.get('user') or 'by default'} at {where}"

    def key(self, project: str, schema: str) -> str:
        """Make a name for files about one project there: letters and digits."""
        given = self._place
        place = [given.get(name, "") for name in _PLACE]
        if not given.get("dbname") and "service" not in given:
            # As for libpq: a database that is not named is the user's.
            place.append(given.get("user", ""))
        told = "\0".join([*place, schema, project]).encode("utf-8", "surrogatepass")
        return sha256(told).hexdigest()[:32]

    def options(self, seconds: float) -> dict[str, Any]:
        """Return what a connection is opened with."""
        given = self.parameters
        longest = float(given.get("connect_timeout") or 0) or _LONGEST_CONNECT_SECONDS
        hosts = self._place.get("host") or self._place.get("hostaddr", "")
        own = {
            "fallback_application_name": "grove",
            "keepalives_idle": _KEEPALIVE_SECONDS,
            "tcp_user_timeout": max(1, int(seconds * 1000)),
        }
        if "," in hosts:
            # Of several servers the one that takes changes, which is another one after a failover.
            own["target_session_attrs"] = "read-write"
        # One after the other is asked.
        each = seconds / (hosts.count(",") + 1)
        limit = max(_SHORTEST_CONNECT_SECONDS, int(min(longest, each)))
        return {**own, **given, "connect_timeout": limit}


def parse_address(text: str, environment: Mapping[str, str] = os.environ) -> Address:
    """Read an address; nothing is asked and psycopg is not imported."""
    scheme = next((each for each in _SCHEMES if text.startswith(each)), None)
    parameters = _of_url(text.removeprefix(scheme)) if scheme else _of_keywords(text)
    if "\0" in text or parameters is None or not _is_number(parameters.get("connect_timeout")):
        raise ConfigError(f"`backends.postgres.url` is no address of a database: write {_HOW}")
    return Address(parameters=parameters, environment=_place_in(environment, parameters))


def _place_in(environment: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Tell where libpq would look that is told no more than is given."""
    found = {
        name: environment[variable]
        for variable, name in _VARIABLES.items()
        if environment.get(variable) and name not in given
    }
    # A file of services tells more than the other variables do.
    service = found.get("service")
    return {} if "service" in given else {"service": service} if service else found


def _of_keywords(text: str) -> dict[str, str] | None:
    pairs = _KEYWORD.findall(text)
    is_all = not _KEYWORD.sub("", text).strip()
    values = {name: _ESCAPED.sub(r"\1", quoted or plain) for name, quoted, plain in pairs}
    return values if values and is_all else None


def _of_url(text: str) -> dict[str, str] | None:
    match = None if _PERCENT.search(text) else _URL.fullmatch(text)
    if match is None:
        return None
    user, password, hosts, database, query = (part or "" for part in match.groups())
    pairs = [_HOST.fullmatch(each) for each in hosts.split(",")]
    options = [each.partition("=") for each in query.split("&") if each]
    if not all(pairs) or not all(sign and name for name, sign, _ in options):
        return None
    found = {
        "user": user,
        "password": password,
        "host": ",".join(each[1].strip("[]") for each in pairs if each),
        "port": ",".join(each[2] or "" for each in pairs if each),
        "dbname": database,
        **{name: value for name, _, value in options},
    }
    found = {unquote(name): unquote(value) for name, value in found.items() if value.strip(",")}
    if found.pop("ssl", "") == "true":
        found["sslmode"] = "require"
    return found


def _is_number(text: str | None) -> bool:
    return text is None or text.strip().removeprefix("-").isdecimal()
