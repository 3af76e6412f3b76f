"""Messages of JSON-RPC: read within bounds, made safe to show, and what the answers say."""

import json
import re
import unicodedata
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol

from attrs import frozen

from grove_backend_mcp.servers import FaultKind, ServerFaultError, ToolResult

MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""Most bytes of one message."""
ANSWER_BYTES: Final = 2 * MESSAGE_BYTES
"""Most bytes that a server may send until its answer is there."""


@frozen(kw_only=True)
class Limits:
    """Seconds that a connection may take."""

    connect_seconds: float = 20.0
    call_seconds: float = 30.0
    whole_seconds: float = 300.0
    closing_seconds: float = 0.5
    ending_seconds: float = 1.0


_LONGEST_LINE: Final = 300
_MASK: Final = "***"
# Shorter values stand in too many words by chance, and guard nothing.
_SHORTEST_SECRET: Final = 4
_ESCAPE_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


class Reporter:
    """Says what a server does: with its name, in clean words, and without secrets."""

    def __init__(self, name: str = "", secrets: Sequence[str] = ()) -> None:
        self._name = name
        wanted = {form for one in secrets for form in _forms(one) if len(form) >= _SHORTEST_SECRET}
        # The longest first: one may stand within another.
        words = [re.escape(one) for one in sorted(wanted, key=len, reverse=True)]
        self._secret = re.compile("|".join(words)) if words else None

    def line(self, text: str) -> str:
        """Make one short visible line without secrets."""
        plain = _ESCAPE_SEQUENCE.sub(" ", text[: _LONGEST_LINE * 20])
        visible = " ".join("".join(map(_shown, plain)).split())
        # Masked when nothing is hidden between its letters any more, and before it is cut: half a
        # secret is not known for one.
        whole = visible if self._secret is None else self._secret.sub(_MASK, visible)
        return whole if len(whole) <= _LONGEST_LINE else whole[: _LONGEST_LINE - 1].rstrip() + "…"

    @contextmanager
    def named_faults(self, *, acts: bool = False) -> Iterator[None]:
        """Name the server in faults; they are unclear only where something was to be done."""
        try:
            yield
        except ServerFaultError as fault:
            detail = self.line(f"{self._name}: {fault.detail}")
            is_unclear = acts and fault.is_unclear
            raise ServerFaultError(fault.kind, detail, is_unclear=is_unclear) from None
        except SessionLostError:
            detail = self.line(f"{self._name}: wants a session, and gives none that it knows")
            raise ServerFaultError(FaultKind.REFUSED, detail) from None


def _forms(secret: str) -> set[str]:
    """How a secret may stand in a line: as it is, a line of it, and as JSON writes it."""
    escaped = {json.dumps(secret, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}
    return {*secret.splitlines(), *escaped, *(one.replace("/", "\\/") for one in escaped)}


def _shown(character: str) -> str:
    """What stands for a character in a line: controls divide, formats vanish."""
    category = unicodedata.category(character)
    if category == "Cc" or category.startswith("Z"):
        return " "
    return "" if category.startswith("C") else character


METHOD_NOT_FOUND: Final = -32601


class AnsweredWithErrorError(Exception):
    """The server has answered with an error of JSON-RPC."""

    def __init__(self, error: object, *, is_ours: bool) -> None:
        found = error if isinstance(error, dict) else {"message": str(error)}
        code = found.get("code")
        self.code = code if isinstance(code, int) else 0
        self.message = str(found.get("message", ""))
        self.data = found.get("data")
        self.is_ours = is_ours
        super().__init__(self.message)


class SessionLostError(Exception):
    """The server does not know its session any longer."""

    def __init__(self, *, is_certain: bool) -> None:
        super().__init__()
        self.is_certain = is_certain


class Transport(Protocol):
    """A way to one server; it tells the protocol that was agreed upon where that is wanted.

    Deadlines are values of ``time.monotonic()``.
    """

    version: str
    is_modern: bool

    def exchange(
        self, message: Mapping[str, Any], deadline: float
    ) -> Generator[dict[str, Any], None, None]:
        """Send a request and give what comes in afterwards, its answer among it."""
        ...

    def send(self, message: Mapping[str, Any], deadline: float) -> None:
        """Send a message that is not answered."""
        ...


def encode(message: Mapping[str, Any]) -> bytes:
    """Write a message on one line."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def read_messages(data: bytes) -> list[dict[str, Any]]:
    """Read what a server has sent at once: a message, or several in a list; else ``ValueError``."""
    text = data.decode("utf-8", "replace")
    try:
        value = json.loads(text, parse_constant=lambda _name: None)
        if "\\ud" in text.lower():  # half a character could not be stored
            whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            value = json.loads(whole)
    except RecursionError:
        raise ServerFaultError(
            FaultKind.MALFORMED, "sent lists or objects that are nested too deeply", is_unclear=True
        ) from None
    found = value if isinstance(value, list) else [value]
    kinds = ("method", "result", "error")
    return [one for one in found if isinstance(one, dict) and any(kind in one for kind in kinds)]


def is_id(found: object, identifier: int) -> bool:
    """Return whether an answer's id is that of a request; some servers make a text of it."""
    return not isinstance(found, bool) and found in (identifier, str(identifier))


def too_large() -> ServerFaultError:
    """Return the fault of a server that sends more than is read."""
    text = f"sent more than {MESSAGE_BYTES // 1024} KiB at once"
    return ServerFaultError(FaultKind.TOO_LARGE, text, is_unclear=True)


def malformed(text: str) -> ServerFaultError:
    """Return the fault of a server that does not speak the protocol."""
    return ServerFaultError(FaultKind.MALFORMED, text, is_unclear=True)


_SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
_MOST_TEXTS: Final = 1000


def as_object(result: object, what: str) -> Mapping[str, Any]:
    """Take a result that must be an object."""
    if isinstance(result, dict):
        return result
    raise malformed(f"answered {what} with what is no object")


def server_info(result: Mapping[str, Any]) -> tuple[str, str]:
    """Find what a server calls itself, and its version; not cleaned, empty when it does not say."""
    meta = result.get("_meta")
    held = (result.get("serverInfo"), meta.get(_SERVER_INFO) if isinstance(meta, dict) else None)
    said = next((one for one in held if isinstance(one, dict)), {})
    name, version = said.get("name"), said.get("version")
    return name if isinstance(name, str) else "", version if isinstance(version, str) else ""


def tool_result(result: Mapping[str, Any], reporter: Reporter) -> ToolResult:
    """Read what a tool has answered."""
    kind = result.get("resultType", "complete")
    if kind not in {"complete", None}:
        raise ServerFaultError(
            FaultKind.TOOL_FAILED, f"wants to know more before it answers ({kind})"
        )
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    texts = [text for part in parts if (text := _text(part)) is not None]
    return ToolResult(
        structured=result.get("structuredContent"),
        texts=tuple(texts[:_MOST_TEXTS]),
        said=reporter.line(next((text for text in texts if text.strip()), "")),
        is_error=result.get("isError") not in {None, False},
    )


def _text(part: object) -> str | None:
    """Find the text of a part of an answer; images and what is not known have none."""
    holder = part.get("resource", part) if isinstance(part, dict) else None
    text = holder.get("text") if isinstance(holder, dict) else None
    return text if isinstance(text, str) else None
