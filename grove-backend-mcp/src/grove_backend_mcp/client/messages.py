"""Messages of JSON-RPC: bounded, made safe to show, and what the answers say."""

import json
import re
import unicodedata
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Final, Protocol

from attrs import frozen

from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.tools import ToolResult

_MEBIBYTE: Final = 1024 * 1024


@frozen(kw_only=True)
class Limits:
    """Bounds of one connection; times are in seconds."""

    connect_seconds: float = 20.0
    call_seconds: float = 30.0
    whole_seconds: float = 300.0
    closing_seconds: float = 0.5
    ending_seconds: float = 1.0
    message_bytes: int = 4 * _MEBIBYTE
    answer_bytes: int = 8 * _MEBIBYTE
    depth: int = 100
    texts: int = 1000
    pages: int = 20
    noise_lines: int = 1000


LONGEST_LINE: Final = 300
MASK: Final = "***"
_MOST_WARNINGS: Final = 20
# Shorter values stand in too many words by chance, and guard nothing.
_SHORTEST_SECRET: Final = 4
_ESCAPE_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Cleaner:
    """Cleans what a server says, knowing what must not be shown."""

    def __init__(self, secrets: Sequence[str]) -> None:
        wanted = {form for one in secrets if len(one) >= _SHORTEST_SECRET for form in _forms(one)}
        # The longest first: one may stand within another.
        words = [re.escape(one) for one in sorted(wanted, key=len, reverse=True)]
        self._secret = re.compile("|".join(words)) if words else None

    def mask(self, text: str) -> str:
        """Put asterisks in the place of secrets."""
        return text if self._secret is None else self._secret.sub(MASK, text)

    def line(self, text: str) -> str:
        """Make one short visible line without secrets."""
        # Masked before it is cut: half a secret is not known for one.
        plain = _ESCAPE_SEQUENCE.sub(" ", self.mask(text)[: LONGEST_LINE * 20])
        visible = "".join(map(_shown, plain))
        # What was hidden between the letters of a secret is gone now.
        whole = self.mask(" ".join(visible.split()))
        return whole if len(whole) <= LONGEST_LINE else whole[: LONGEST_LINE - 1].rstrip() + "…"


def plain_json(value: object, depth: int) -> object:
    """Make a JSON value safe to keep: no lone surrogates, no NaN."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if not isinstance(value, list | dict):
        return value
    if depth == 0:
        raise RecursionError
    if isinstance(value, list):
        return [plain_json(one, depth - 1) for one in value]
    return {plain_json(key, 1): plain_json(one, depth - 1) for key, one in value.items()}


def _forms(secret: str) -> set[str]:
    """How a secret may stand in a text: as it is, and as JSON writes it."""
    escaped = {json.dumps(secret, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}
    return {secret, *escaped, *(one.replace("/", "\\/") for one in escaped)}


def _shown(character: str) -> str:
    """What stands for a character in a line: controls divide, formats vanish."""
    category = unicodedata.category(character)
    if category == "Cc" or category.startswith("Z"):
        return " "
    return "" if category.startswith("C") else character


class Warnings:
    """What was strange about a server, for ``grove doctor``: a few lines, each once."""

    def __init__(self, cleaner: Cleaner) -> None:
        self._cleaner = cleaner
        self._lines: dict[str, None] = {}

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines so far."""
        return tuple(self._lines)

    def note(self, text: str) -> None:
        """Keep one more line, while there is room."""
        if len(self._lines) < _MOST_WARNINGS:
            self._lines[self._cleaner.line(text)] = None


METHOD_NOT_FOUND: Final = -32601
UNSUPPORTED_VERSION: Final = -32022


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


def encode(message: Mapping[str, Any]) -> bytes:
    """Write a message on one line."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


@frozen(kw_only=True)
class MessageReader:
    """Reads messages of one server."""

    depth: int

    def read(self, data: bytes) -> list[dict[str, Any]]:
        """Read what a server has sent at once: a message, or several in a list."""
        try:
            # For the length of the text, lists of a message count as levels, too.
            value = plain_json(json.loads(data.decode("utf-8", "replace")), self.depth)
        except RecursionError:
            raise ServerFaultError(
                FaultKind.MALFORMED,
                f"sent lists or objects more than {self.depth} levels deep",
                is_unclear=True,
            ) from None
        found = value if isinstance(value, list) else [value]
        return [one for one in found if isinstance(one, dict) and _is_message(one)]


def _is_message(value: Mapping[str, Any]) -> bool:
    return "method" in value or "result" in value or "error" in value


def is_id(found: object, identifier: int) -> bool:
    """Return whether an answer's id is that of a request."""
    if isinstance(found, bool):
        return False
    return found == identifier or found == str(identifier)


def looks_like_answer(data: bytes, identifier: int) -> bool:
    """Return whether bytes that are no JSON were to be the answer to a request."""
    pattern = rb'"id"\s*:\s*"?%d"?\s*[,}]' % identifier
    return b'"jsonrpc"' in data and re.search(pattern, data) is not None


class SessionLostError(Exception):
    """The server does not know its session any longer."""

    def __init__(self, *, is_certain: bool) -> None:
        super().__init__()
        self.is_certain = is_certain


class Transport(Protocol):
    """A way to one server. Deadlines are values of ``time.monotonic()``."""

    def exchange(
        self, message: Mapping[str, Any], deadline: float
    ) -> Generator[dict[str, Any], None, None]:
        """Send a request and give what comes in afterwards, its answer among it."""
        ...

    def send(self, message: Mapping[str, Any], deadline: float) -> None:
        """Send a message that is not answered."""
        ...

    def agree(self, version: str, *, is_modern: bool) -> None:
        """Take the version of the protocol that is spoken from now on."""
        ...

    def forget(self) -> None:
        """Forget the session and the version: the handshake is made again."""
        ...


SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"


def as_object(result: object, what: str) -> Mapping[str, Any]:
    """Take a result that must be an object."""
    if isinstance(result, dict):
        return result
    raise ServerFaultError(
        FaultKind.MALFORMED, f"answered {what} with what is no object", is_unclear=True
    )


def server_info(result: Mapping[str, Any]) -> tuple[str, str]:
    """Find what a server calls itself, and its version; not cleaned, empty when it does not say."""
    found = result.get("serverInfo")
    meta = result.get("_meta")
    if not isinstance(found, dict) and isinstance(meta, dict):
        found = meta.get(SERVER_INFO)
    if not isinstance(found, dict):
        return "", ""
    name, version = found.get("name"), found.get("version")
    return (
        name if isinstance(name, str) else "",
        version if isinstance(version, str) else "",
    )


def tool_result(
    result: Mapping[str, Any], limits: Limits, warnings: Warnings, clean: Callable[[str], str]
) -> ToolResult:
    """Read what a tool has answered."""
    kind = result.get("resultType", "complete")
    if kind not in {"complete", None}:
        raise ServerFaultError(
            FaultKind.TOOL_FAILED, f"wants to know more before it answers ({kind})"
        )
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    texts = [text for part in parts if (text := _text(part)) is not None]
    if len(texts) > limits.texts:
        warnings.note(f"gave {len(texts)} texts at once; {limits.texts} are read")
    return ToolResult(
        structured=result.get("structuredContent"),
        texts=tuple(texts[: limits.texts]),
        said=clean(next((text for text in texts if text.strip()), "")),
        is_error=result.get("isError") not in {None, False},
    )


def _text(part: object) -> str | None:
    """Find the text of a part of an answer; images and what is not known have none."""
    if not isinstance(part, dict):
        return None
    holder = part.get("resource") if part.get("type") == "resource" else part
    if part.get("type") not in {"text", "resource"} or not isinstance(holder, dict):
        return None
    text = holder.get("text")
    return text if isinstance(text, str) else None
