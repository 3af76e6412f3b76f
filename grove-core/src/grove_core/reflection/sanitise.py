"""Cleaning the texts of one raw candidate before its fields are judged."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any, Final

from grove_core.reflection.limits import CONTEXT_FILES_MAX, PATH_LENGTH_MAX, TAG_LENGTH_MAX
from grove_core.reflection.wording import listed
from grove_core.text import one_line, remove_invisible

# Where one text in the place of a list is split.
_SEPARATORS: Final = {
    "criteria_met": re.compile(r"[,;\n]"),
    "tags": re.compile(r"[,;\s]"),
    "context_files": re.compile(r"\n"),
    "supersedes": re.compile(r"[,;\s]"),
}
_BLANK_IN_TAG: Final = re.compile(r"[\s_-]+")
# CommonMark: at most three blanks, then three or more of one mark; what follows a backtick fence
# holds no backtick.
_FENCE: Final = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})(?P<rest>.*)")
_SLASHES: Final = re.compile(r"[\\/]+")
_OUTSIDE: Final = re.compile(r"/|~|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.-]*:/")


def sanitise(
    raw: Mapping[str, Any], *, root: PurePath | None = None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Clean the texts of a candidate."""
    cleaned = dict(raw)
    notes: list[str] = []
    _clean_summary(cleaned, notes)
    _clean_detail(cleaned, notes)
    for name in _SEPARATORS:
        _split_text(cleaned, name, notes)
    _clean_list(cleaned, "tags", clean_tag, notes)
    _clean_list(cleaned, "context_files", partial(clean_path, root=root), notes)
    files = cleaned.get("context_files")
    if isinstance(files, list) and len(files) > CONTEXT_FILES_MAX:
        cleaned["context_files"] = files[:CONTEXT_FILES_MAX]
        notes.append(f"context_files: only the first {CONTEXT_FILES_MAX} were kept")
    return cleaned, tuple(notes)


def close_fences(text: str) -> str:
    """Close a code fence that a markdown text leaves open."""
    opened = ""
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line)
        if fence is None:
            continue
        if not opened:
            opened = fence["mark"]
        elif fence["mark"].startswith(opened) and not fence["rest"].strip(" \t"):
            opened = ""
    return f"{text}\n{opened}" if opened else text


def clean_tag(text: str) -> str | None:
    """Normalise a tag to lower-case letters, digits and single hyphens."""
    lowered = unicodedata.normalize("NFKC", remove_invisible(text)).lower()
    kept = "".join(
        character
        for character in _BLANK_IN_TAG.sub("-", lowered)
        if character == "-" or unicodedata.category(character)[0] in "LMN"
    )
    tag = unicodedata.normalize("NFKC", _BLANK_IN_TAG.sub("-", kept).strip("-"))
    return tag if 0 < len(tag) <= TAG_LENGTH_MAX else None


def clean_path(text: str, *, root: PurePath | None = None) -> str | None:
    """Normalise a path to a relative POSIX path inside the project."""
    # A NUL or a line break is no slip of the pen: do not guess what was meant.
    if "\0" in text or len(text.strip().splitlines()) != 1:
        return None
    path = _SLASHES.sub("/", remove_invisible(text).strip())
    if root is not None:
        path = path.removeprefix(root.as_posix().rstrip("/") + "/")
    parts = [part.strip() for part in path.split("/")]
    relative = "/".join(part for part in parts if part not in {"", "."})
    if ".." in parts or _OUTSIDE.match(path) or _OUTSIDE.match(relative):
        return None
    return relative if 0 < len(relative) <= PATH_LENGTH_MAX else None


def _clean_summary(cleaned: dict[str, Any], notes: list[str]) -> None:
    raw = cleaned.get("summary")
    if not isinstance(raw, str):
        return
    visible = _without_invisible(raw, "summary", notes)
    cleaned["summary"] = one_line(visible)
    if cleaned["summary"] != visible.strip():
        notes.append("summary: white space was folded into one line")


def _clean_detail(cleaned: dict[str, Any], notes: list[str]) -> None:
    raw = cleaned.get("detail")
    if not isinstance(raw, str):
        return
    visible = _without_invisible(raw, "detail", notes).strip()
    cleaned["detail"] = close_fences(visible)
    if cleaned["detail"] != visible:
        notes.append("detail: an open code fence was closed")


def _without_invisible(raw: str, name: str, notes: list[str]) -> str:
    visible = remove_invisible(raw)
    if visible != raw.replace("\r\n", "\n"):
        notes.append(f"{name}: invisible characters were removed")
    return visible


def _split_text(cleaned: dict[str, Any], name: str, notes: list[str]) -> None:
    """Read one text where a list belongs, as agents often send it."""
    raw = cleaned.get(name)
    if isinstance(raw, str):
        cleaned[name] = [part for part in _SEPARATORS[name].split(raw) if part.strip()]
        notes.append(f"{name}: one text was read as a list of {len(cleaned[name])}")


def _clean_list(
    cleaned: dict[str, Any], name: str, clean: Callable[[str], str | None], notes: list[str]
) -> None:
    raw = cleaned.get(name)
    if not isinstance(raw, list):
        return
    texts = [entry for entry in raw if isinstance(entry, str)]
    results = [(text, clean(text)) for text in texts]
    kept = dict.fromkeys(result for _, result in results if result is not None)
    cleaned[name] = list(kept)
    if len(texts) < len(raw):
        notes.append(f"{name}: {len(raw) - len(texts)} dropped, no text")
    dropped = [text for text, result in results if result is None]
    if dropped:
        notes.append(f"{name}: dropped {listed(dropped)}")
    changed = [result for text, result in results if result is not None and result != text]
    if changed:
        notes.append(f"{name}: normalised to {listed(dict.fromkeys(changed))}")
    if len(kept) + len(dropped) < len(texts):
        notes.append(f"{name}: repeated entries were dropped")
