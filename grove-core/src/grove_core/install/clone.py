"""What ``grove init`` asks of git, and tells it, in a person's clone."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from grove_core.git import find_top, run_git
from grove_core.storage import files

_SECONDS: Final = 5.0
_BY_INIT: Final = "# by grove init\n"
_GLOB: Final = re.compile(r"[\\*?\[]")
_ATTRIBUTES: Final = {
    "*.jsonl": "*.jsonl merge=union",  # both sides' lines of records are kept
    "stats/*": "stats/* linguist-generated -diff",  # no one reviews events
}
# What versions before 0.2 wrote and registered.
_OLD_ATTRIBUTES: Final = frozenset({"learnings.md merge=grove", "learnings/*.md merge=grove"})
_OLD_DRIVER: Final = "merge-driver %O %A %B"
_COMMITTED: Final = ("config.toml", ".gitattributes", "learnings/ID.md", "stats/DAY.jsonl")


def attributes(text: str) -> str:
    """Return what ``.grove/.gitattributes`` should say; lines of a person stay."""
    lines = [line for line in text.splitlines() if line.strip() not in _OLD_ATTRIBUTES]
    known = {line.split()[0] for line in lines if line.strip()}
    lines += [line for pattern, line in _ATTRIBUTES.items() if pattern not in known]
    return "".join(f"{line}\n" for line in lines)


def swallowed(root: Path) -> Iterator[str]:
    """Name the rules by which git would leave out what is to be committed of ``.grove``."""
    names = [f".grove/{name}" for name in _COMMITTED]
    told = run_git(root, _SECONDS, "check-ignore", "--verbose", "--no-index", "--", *names)
    rules = {line.partition("\t")[0]: line.partition("\t")[2] for line in (told or "").splitlines()}
    for rule, name in rules.items():
        place, number, pattern = rule.rsplit(":", 2)
        yield (
            f"git ignores {name} by the rule {pattern} ({place}, line {number}):"
            " add the line !.grove/** below it"
        )


def is_left_out(root: Path, name: str) -> bool:
    """Return whether git leaves a file out, or there is no repository."""
    return find_top(root) is None or bool(run_git(root, _SECONDS, "check-ignore", "--", name))


def is_committed(root: Path, path: Path) -> bool:
    """Return whether git has a file, or will with the next commit."""
    words = ("ls-files", "--", str(path))
    return find_top(root) is not None and bool(run_git(root, _SECONDS, *words))


def leave_out(root: Path, names: Sequence[str]) -> None:
    """Have git leave out in this clone what is a person's own."""
    path, rules = _exclusions(root, names)
    if path is not None:
        files.append_text(path, f"{_BY_INIT}{''.join(rules)}")


def leave_in(root: Path, names: Sequence[str]) -> None:
    """Forget the rules of files that are gone; other lines stay."""
    path, rules = _exclusions(root, names)
    before = files.read_text(path) if path is not None else None
    if path is None or not before:
        return
    lines = [line for line in before.splitlines(keepends=True) if line not in rules]
    pairs = zip(lines, [*lines[1:], ""], strict=True)
    after = "".join(one for one, two in pairs if one != _BY_INIT or two.startswith("/"))
    if after != before:
        files.replace_text(path, after)


def _exclusions(root: Path, names: Sequence[str]) -> tuple[Path | None, list[str]]:
    """Return where a clone's own rules stand, and those for some files."""
    top = find_top(root)
    named = run_git(root, _SECONDS, "rev-parse", "--git-path", "info/exclude") if names else None
    if not named or top is None:
        return None, []
    paths = [(root / name).relative_to(top).as_posix() for name in names]
    rules = [f"/{_GLOB.sub(lambda one: chr(92) + one[0], path)}\n" for path in paths]
    return root / named.rstrip("\n"), rules


def drop_merge_driver(root: Path) -> None:
    """Take the merge driver of a version before 0.2 out of the clone."""
    words = ("config", "--local", "--get", "merge.grove.driver")
    if find_top(root) is not None and _OLD_DRIVER in (run_git(root, _SECONDS, *words) or ""):
        run_git(root, _SECONDS, "config", "--local", "--remove-section", "merge.grove")
