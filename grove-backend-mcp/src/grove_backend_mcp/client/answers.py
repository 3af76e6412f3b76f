"""What the answers to requests say, as far as it is used here."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grove_backend_mcp.client.limits import Limits
from grove_backend_mcp.client.wording import Oddities
from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.tools import ToolResult

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
    result: Mapping[str, Any], limits: Limits, warnings: Oddities, clean: Callable[[str], str]
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
