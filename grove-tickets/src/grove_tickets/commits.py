"""Commands of git: where they run, and which issues the message of a commit closes."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grove_core import ProjectContext, ToolCall, ToolResult
from grove_tickets.arguments import Arguments, parse, valued_flags
from grove_tickets.calls import resolve, shell_commands, store_directory
from grove_tickets.outputs import output_text
from grove_tickets.places import branch_name, default_branch, find_repository, read_file

if TYPE_CHECKING:
    from grove_tickets.shell import Command

_NO_COMMIT: Final = ("-h", "--help", "--dry-run", "--no-commit", "--abort", "--quit")
_MAX_MESSAGE_BYTES: Final = 65536
_USUAL_DEFAULTS: Final = frozenset({"main", "master"})
_KEYWORD: Final = (
    r"(?i)(?<![\w-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+"
    r"(?:https?://[^/\s]+/([\w.-]+/[\w.-]+)/issues/|([\w.-]+/[\w.-]+)?#|GH-)(\d+)(?!\w)"
)
_COMMITTED: Final = r"(?m)^\[(\S+)(?: \(root-commit\))? [0-9a-f]{4,}\]"
_NOT_COMMITTED: Final = (
    r"(?m)^(?:nothing (?:added )?to commit|no changes added|Aborting commit|error: |fatal: "
    r"|Automatic merge failed|Already up to date)"
)


def behind_git(command: "Command") -> tuple[Arguments, str]:
    """Return what ``git`` is told before its subcommand and from there on, and where it runs."""
    overall = parse(command.words[1:], valued_flags("git")[""], interspersed=False)
    moves = (value for flag, value in overall.options if flag == "-C")
    return overall, str(Path(command.directory, *moves))


def closed_by_commits(call: ToolCall, context: ProjectContext) -> Iterator[tuple[str, str | None]]:
    """Return the issues that messages of commits close, and where the commits are made."""
    for command in shell_commands(call, "git"):
        overall, base = behind_git(command)
        text = _message(overall, command.stdin, resolve(call.cwd, base, context.environment))
        directory = store_directory(call, base, None, context.environment)
        for path, repository, number in re.findall(_KEYWORD, text):
            yield f"{path or repository}#{number}", directory


def _message(overall: Arguments, stdin: str | None, directory: str | None) -> str:
    """Return the message of the commit that a command makes, if any."""
    name, *rest = overall.positionals or ("",)
    # `-S` and `-u` take their values only where they are glued on.
    words = [word for word in rest if not re.match(r"-[Su].", word)]
    arguments = parse(words, valued_flags("git").get(name, ()))
    if name not in {"commit", "merge"} or arguments.has(*_NO_COMMIT):
        return ""
    return "\n\n".join(_part(*option, stdin, directory) for option in arguments.options)


def _part(flag: str, value: str, stdin: str | None, directory: str | None) -> str:
    """Return the paragraph of a message that an option of ``git commit`` gives."""
    if flag in {"-m", "--message"}:
        return value
    if flag == "--trailer":
        return value.replace("=", ": ", 1)
    if flag not in {"-F", "--file"}:
        return ""
    if value in {"-", "/dev/stdin"}:
        return stdin or ""
    content = None if directory is None else read_file(Path(directory, value), _MAX_MESSAGE_BYTES)
    return (content or b"").decode("utf-8", "replace")


def takes_effect(result: ToolResult, directory: Path) -> bool | None:
    """Return whether a commit was made on the branch on which its words close issues."""
    text = output_text(result)
    branches: Sequence[str] = re.findall(_COMMITTED, text)
    if branches:
        return any(_is_default_branch(branch, directory) for branch in branches)
    if re.search(_NOT_COMMITTED, text):
        return False
    return None if _is_default_branch(None, directory) else False


def _is_default_branch(name: str | None, directory: Path) -> bool:
    """Return whether a branch, or else the one that is checked out, is the default one."""
    repository = find_repository(directory)
    if repository is None:
        return False
    name = branch_name(repository) if name is None else name
    default = default_branch(repository)
    return name in _USUAL_DEFAULTS if default is None else name == default
