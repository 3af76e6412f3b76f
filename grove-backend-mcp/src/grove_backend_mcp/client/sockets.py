"""Connections that are bounded in time, to addresses that may be spoken to."""

import io
import ipaddress
import socket
import ssl
import threading
import time
from typing import Any, Final, TypeAlias
from urllib.parse import urljoin, urlsplit

from attrs import frozen

from grove_backend_mcp.faults import FaultKind, ServerFaultError

_CHUNK_BYTES: Final = 65536
_Address: TypeAlias = tuple[socket.AddressFamily, Any]


@frozen(kw_only=True)
class Origin:
    """Where a server listens."""

    is_secure: bool
    host: str
    port: int


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine by its name or address."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class BoundedSocket:
    """As much of a socket as ``http.client`` needs, with bounds for all that is sent and read."""

    def __init__(self, plain: socket.socket, deadline: float, most: int) -> None:
        """Take a connected socket over."""
        self._socket = plain
        self._deadline = deadline
        self._most = most

    def sendall(self, data: bytes) -> None:
        """Send bytes."""
        rest = memoryview(data)
        while rest:
            self._socket.settimeout(_left(self._deadline))
            rest = rest[self._socket.send(rest) :]

    def makefile(self, _mode: str = "rb", *_rest: object) -> io.BufferedReader:
        """Make a file that reads; reading past a bound is a fault, for the request is out."""
        return io.BufferedReader(_Incoming(self._socket, self._deadline, self._most), _CHUNK_BYTES)

    def close(self) -> None:
        """Do nothing: ``http.client`` closes before the answer is read."""


class _Incoming(io.RawIOBase):
    def __init__(self, plain: socket.socket, deadline: float, most: int) -> None:
        self._socket = plain
        self._deadline = deadline
        self._most = most
        self._room = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 - its type has a name since 3.12
        if self._room < 0:
            text = f"sent more than {self._most // 1024} KiB"
            raise ServerFaultError(FaultKind.TOO_LARGE, text, is_unclear=True)
        try:
            self._socket.settimeout(_left(self._deadline))
            count = self._socket.recv_into(buffer)
        except TimeoutError:
            raise ServerFaultError(
                FaultKind.TIMED_OUT, "did not answer in time", is_unclear=True
            ) from None
        self._room -= count
        return count


def open_socket(origin: Origin, deadline: float, context: ssl.SSLContext | None) -> socket.socket:
    """Connect to a server, through no proxy."""
    failure: OSError = ConnectionRefusedError()
    for family, address in _resolve(origin, deadline):
        if context is None and not is_loopback(str(address[0])):
            raise ServerFaultError(
                FaultKind.REFUSED, "is not on this machine, and its address is not https"
            )
        plain = socket.socket(family, socket.SOCK_STREAM)
        try:
            plain.settimeout(_left(deadline))
            plain.connect(address)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is None:
                return plain
            plain.settimeout(_left(deadline))
            return context.wrap_socket(plain, server_hostname=origin.host)
        except BaseException as error:
            plain.close()
            if not isinstance(error, OSError) or isinstance(error, TimeoutError | ssl.SSLError):
                raise
            failure = error
    raise failure


def _resolve(origin: Origin, deadline: float) -> list[_Address]:
    """Look a name up within the time: the system's own way of it knows no limit."""
    found: list[_Address] = []
    failures: list[OSError] = []

    def look_up() -> None:
        try:
            results = socket.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            failures.append(error if isinstance(error, OSError) else socket.gaierror())
        else:
            found.extend((one[0], one[4]) for one in results)

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(_left(deadline))
    if failures:
        raise failures[0]
    if not found:
        raise TimeoutError
    return list(found)


def _left(deadline: float) -> float:
    """Return the time that is left."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


@frozen(kw_only=True)
class Address:
    """A URL, taken apart."""

    origin: Origin
    target: str
    url: str


def address_of(url: str) -> Address:
    """Take a URL apart."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, parts, port = "", urlsplit(""), None
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if parts.scheme not in {"http", "https"} or not host or not target.isascii():
        raise ServerFaultError(
            FaultKind.REFUSED, "its address is no URL of http or https; fix it where it stands"
        )
    if parts.username is not None or parts.password is not None:
        raise ServerFaultError(
            FaultKind.REFUSED, "its address holds a name or password; put these into its headers"
        )
    is_secure = parts.scheme == "https"
    if not is_secure and not is_loopback(host):
        raise ServerFaultError(
            FaultKind.REFUSED,
            "its address is plain http to another machine, where anybody could read what is sent:"
            " use https, or a tunnel to this machine",
        )
    origin = Origin(is_secure=is_secure, host=host, port=port or (443 if is_secure else 80))
    return Address(origin=origin, target=target, url=url)


def redirected(address: Address, location: str) -> Address:
    """Follow a redirection of the server."""
    try:
        found = address_of(urljoin(address.url, location))
    except (ServerFaultError, ValueError):
        found = None
    if found is None or found.origin != address.origin:
        raise ServerFaultError(
            FaultKind.REFUSED,
            "redirects to another server, which is not followed; if that is right, give the"
            " address that it redirects to",
        )
    return found
