"""What a session's transcript holds that a reflection could keep: read locally, and only quoted."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from grove_core.reflection.secrets import find_leak
from grove_core.text import clean_line

# Of a long session the end is read.
_BYTES_MAX: Final = 4 * 1024 * 1024
_MOST: Final = 5
_LONGEST: Final = 200
# A prompt that corrects begins or turns like this; longer ones are new work.
_CORRECTION: Final = re.compile(
    r"^(?:(?:no|nope|stop|wait|actually|wrong|don't|do not|never|always)\b"
    r"|not (?:like|that|quite|so)\b|please (?:don't|use)\b|that(?:'s| is) (?:wrong|not)"
    r"|use .{1,60} (?:instead|rather|not)\b|why (?:did|do) you)"
    r"|\b(?:instead of|i (?:said|told you|meant)|you (?:should have|forgot)"
    r"|we (?:always|never|don't|do not) )",
    re.IGNORECASE,
)
_LONGEST_CORRECTION: Final = 600
_REVIEW: Final = re.compile(r"\b(?:gh|glab) (?:pr|mr) (?:view|review|diff)\b.*|pulls?/\d+/comments")
_REMARK: Final = re.compile(
    r"\b(?:nit|please|should|must|why|instead|never|don't)\b.{10,}", re.IGNORECASE
)
_PROGRAM: Final = re.compile(r"[\w./-]+(?:\s+(?!-)[\w.:-]+)?")
_BEFORE: Final = re.compile(r"^(?:cd \S+ && |\w+=\S+ )+")


class Said(NamedTuple):
    """What a session has said already."""

    corrections: Sequence[str] = ()
    """Prompts in which the user corrected the agent."""
    repaired: Sequence[str] = ()
    """Commands that failed, and how they passed in the end."""
    remarks: Sequence[str] = ()
    """Lines of review comments that the agent has read."""


def read_said(path: str, allowed: Sequence[str] = ()) -> Said:
    """Read the transcript of a session of Claude Code; of another client nothing is found."""
    calls: dict[str, str] = {}
    failed: dict[str, str] = {}
    found: dict[str, list[str]] = {"corrections": [], "repaired": [], "remarks": []}
    for message in _messages(path):
        for block in _blocks(message):
            match block:
                case {"type": "text", "text": str(text)} if message.get("role") == "user":
                    if _corrects(text):
                        found["corrections"].append(text)
                case {"type": "tool_use", "id": str(key), "input": {"command": str(command)}}:
                    calls[key] = _BEFORE.sub("", " ".join(command.split()))
                case {"type": "tool_result", "tool_use_id": str(key)} if key in calls:
                    command = calls[key]
                    program = match.group() if (match := _PROGRAM.match(command)) else command
                    if block.get("is_error"):
                        failed[program] = command
                    elif before := failed.pop(program, ""):
                        end = f"failed; passed: {command}" if before != command else "passed later"
                        found["repaired"].append(f"{before}: {end}")
                    if _REVIEW.search(command):
                        found["remarks"] += _remarks(block.get("content"))
    return Said(**{name: _shown(texts, allowed) for name, texts in found.items()})


def _messages(path: str) -> Iterator[dict[str, Any]]:
    try:
        with Path(path).open("rb") as transcript:
            size = transcript.seek(0, 2)
            transcript.seek(max(0, size - _BYTES_MAX))
            lines = transcript.read(_BYTES_MAX).split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        # What a subagent was told, and what the client itself has put in, no user has said.
        is_own = (
            isinstance(entry, dict) and not entry.get("isSidechain") and not entry.get("isMeta")
        )
        if is_own and isinstance(entry.get("message"), dict):
            yield entry["message"]


def _blocks(message: dict[str, Any]) -> Iterable[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    blocks = content if isinstance(content, list) else []
    return [one for one in blocks if isinstance(one, dict)]


def _corrects(prompt: str) -> bool:
    text = prompt.strip()
    is_spoken = 0 < len(text) <= _LONGEST_CORRECTION and not text.startswith(("<", "/", "["))
    return is_spoken and _CORRECTION.search(text) is not None


def _remarks(content: object) -> list[str]:
    """Find the lines of a result that ask for something."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [one.get("text") for one in parts if isinstance(one, dict)]
    lines = [line for text in texts if isinstance(text, str) for line in text.splitlines()]
    return [line for line in lines if _REMARK.search(line)]


def _shown(texts: Iterable[str], allowed: Sequence[str]) -> list[str]:
    """Take the last of them, without what holds a secret."""
    kept = [one for one in dict.fromkeys(texts) if find_leak(one, allowed, "transcript") is None]
    return [clean_line(one, _LONGEST) for one in kept[-_MOST:]]
