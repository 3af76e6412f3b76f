"""Merging two versions of a daily log: git conflicts where two branches have added to one day."""

from itertools import takewhile

from grove_core import BackendError


def merge_logs(base: str, ours: str, theirs: str) -> str:
    """Keep what both sides have added to a log."""
    base = base or _first_lines(ours, theirs)
    if not (ours.startswith(base) and theirs.startswith(base)):
        raise BackendError("a line of the log was changed, which is merged by hand")
    added = sorted({ours[len(base) :], theirs[len(base) :]} - {""})
    return base + "".join(_ended(one) for one in added[:-1]) + "".join(added[-1:])


def _first_lines(ours: str, theirs: str) -> str:
    """Return the whole lines that both begin with: each side has made the log from the template."""
    pairs = zip(ours.splitlines(keepends=True), theirs.splitlines(keepends=True), strict=False)
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
