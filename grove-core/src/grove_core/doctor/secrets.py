"""Secrets in what is shared: those that came in by hand, or before grove looked for them."""

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from grove_core.doctor.check import Examination
from grove_core.event_log import event_files
from grove_core.model.check import CheckResult, broken, ok, warning
from grove_core.project import Project
from grove_core.text import remove_invisible

SECONDS: Final = 20.0
_MOST_NAMED: Final = 20
_FIX: Final = (
    "Replace the secret where it is used, for it counts as known; then delete it in that line."
    ' A false alarm: add "{}" to secrets.allow'
)
_QUOTE: Final = re.compile(r"^>+ ?")
_MOST_BYTES: Final = 4 * 1024 * 1024
_LINES_AT_ONCE: Final = 400
_LINES_OF_A_KEY: Final = 10


def secrets(examination: Examination, seconds: float = SECONDS) -> Iterator[CheckResult]:
    """Look through learnings and event logs, the project's and the user's own."""
    files = _files(examination)
    # Parts overlap, so a secret may be found twice.
    found = list(dict.fromkeys(_search(files, examination.project, time.monotonic() + seconds)))
    yield from found[:_MOST_NAMED]
    if len(found) > _MOST_NAMED:
        more = f"and {len(found) - _MOST_NAMED} more"
        yield broken(more, "Remove those above, then look again")
    yield ok(f"none in learnings and logs, files: {len(files)}")


def _files(examination: Examination) -> Sequence[Path]:
    """Name what is looked through, wherever backends keep learnings."""
    own, paths = examination.files, examination.paths
    files = [own.learnings_file, *sorted(own.learnings_folder.glob("*.md"))]
    files += [paths.personal_learnings, *event_files(examination.files), paths.personal_events]
    for source in examination.project.library.sources() or ():
        files += sorted(source.iterdir()) if source.is_dir() else [source]
    wanted = (".md", ".jsonl", ".log")
    return [one for one in dict.fromkeys(files) if one.suffix in wanted and one.is_file()]


def _search(files: Sequence[Path], project: Project, until: float) -> Iterator[CheckResult]:
    from grove_core.reflection.secrets import find_secrets

    for path in files:
        try:
            lines = list(_lines_of(path))
            if path.stat().st_size > _MOST_BYTES:
                detail = f"of {path} only the first 4 MiB were searched"
                yield warning(detail, "Look there with a scanner such as detect-secrets")
        except OSError:
            yield warning(f"{path} cannot be read", f"chmod u+r {path}")
            continue
        for start in range(0, len(lines), _LINES_AT_ONCE):
            if time.monotonic() > until:
                detail = f"there was no time to look at everything: {path}:{start + 1} and on"
                yield warning(detail, "Look there with a scanner such as detect-secrets")
                return
            text = "\n".join(lines[start : start + _LINES_AT_ONCE + _LINES_OF_A_KEY])
            for one in find_secrets(text):
                if one.digest not in project.config.secrets.allow:
                    number = start + 1 + text.count("\n", 0, max(text.find(one.value), 0))
                    detail = f"{path}:{number}: {one.kind} {one.masked}"
                    yield broken(detail, _FIX.format(one.digest))


def _lines_of(path: Path) -> Iterator[str]:
    """Read what people or agents have said, line by line."""
    with path.open("rb") as file:
        start = file.read(_MOST_BYTES)
    for content in start.splitlines():
        line = _QUOTE.sub("", content.decode("utf-8", "replace"))
        if path.suffix != ".md":
            line = line.replace(r"\"", '"').replace(r"\n", " ")  # as JSON has them
        yield remove_invisible(line).replace("\n", " ")
