"""The addresses of servers: which are spoken to at all."""

from urllib.parse import urljoin, urlsplit

from attrs import frozen

from grove_backend_mcp.client.sockets import Origin, is_loopback
from grove_backend_mcp.faults import FaultKind, ServerFaultError


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
            FaultKind.REFUSED, "its address is no URL of http or https; mend it where it stands"
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
