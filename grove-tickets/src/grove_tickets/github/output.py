"""What the output of ``gh``, of GitHub's MCP server and of git says about a close."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from grove_core import ToolResult
from grove_tickets.forges import is_default_branch
from grove_tickets.outputs import json_objects, output_text, says_error, says_misuse

_REFERENCE: Final = re.compile(r"([\w.-]+/[\w.-]+|pr)?#(\d+)")
# "✓ Closed issue o/r#12 (title)", "! Pull request #30 (title) is already closed"
_LINE: Final = re.compile(
    r"(?im)^(?:X |[^\w\n]*)(?:(?P<verb>closed|reopened|(?:\w+ and )?merged) )?"
    r"(?:issue|pull request) "
    r"(?P<repository>[\w.-]+/[\w.-]+)?#(?P<number>\d+)(?P<rest>.*)$"
)
_IS_CLOSED: Final = re.compile(r"already (?:closed|merged)")
_IS_OPEN: Final = re.compile(
    r"already open|will be (?:automatically merged|added to the merge queue)"
    r"|queued to merge|is not mergeable|not open"
)
_FAILED: Final = re.compile(
    r"(?m)^(?:GraphQL: .*|gh: .*\(HTTP [45]\d\d\)|HTTP [45]\d\d.*|could not .*|failed to .*"
    r"|no (?:open )?pull requests? found.*|error connecting to .*)$"
)
_NAMED: Final = re.compile(r"(?:number of |#)(\d+)")
_COMMITTED: Final = re.compile(r"(?m)^\[(\S+)(?: \(root-commit\))? [0-9a-f]{4,}\]")
# What `gh pr create` and `gh pr edit` print.
_PULL_REQUEST: Final = re.compile(r"(?m)^https?://\S+/pull/\d+\s*$")
_NOT_COMMITTED: Final = re.compile(
    r"(?m)^(?:nothing (?:added )?to commit|no changes added|Aborting commit|error: |fatal: "
    r"|Automatic merge failed|Already up to date)"
)


def is_issue(ticket_id: str | None) -> bool:
    """Return whether an id may be that of an issue, which words in a commit can close."""
    return ticket_id is not None and not ticket_id.startswith("pr#")


def says_closed(result: ToolResult, ticket_id: str | None) -> bool | None:
    """Return whether a call's own output says that an issue or a pull request is closed."""
    text = output_text(result)
    said = [
        closed
        for repository, number, closed in (*_lines(text), *_objects(result))
        if _is_meant(ticket_id, repository, number)
    ]
    if said:
        return any(said) if ticket_id is None else said[-1]
    failures = [_NAMED.findall(line) for line in _FAILED.findall(text)]
    number = None if ticket_id is None else ticket_id.rpartition("#")[2]
    is_failure = any(not named or number is None or number in named for named in failures)
    return False if is_failure or says_misuse(text) or says_error(result) else None


def takes_effect(result: ToolResult, directory: Path) -> bool | None:
    """Return whether the words in a commit message take effect."""
    text = output_text(result)
    if _PULL_REQUEST.search(text):
        return False
    branches = _COMMITTED.findall(text)
    if branches:
        return any(is_default_branch(branch, directory) for branch in branches)
    if _NOT_COMMITTED.search(text):
        return False
    return None if is_default_branch(None, directory) else False


def _is_meant(ticket_id: str | None, repository: str, number: str) -> bool:
    wanted = None if ticket_id is None else _REFERENCE.fullmatch(ticket_id)
    if wanted is None:
        return True
    named = wanted[1] if wanted[1] != "pr" else None
    is_same = not named or not repository or named.lower() == repository.lower()
    return is_same and number in {wanted[2], ""}


def _lines(text: str) -> Iterator[tuple[str, str, bool]]:
    """Return the repository, the number and the state that lines tell."""
    for match in _LINE.finditer(text):
        verb, rest = (match["verb"] or "").lower(), match["rest"]
        is_closed = verb in {"closed", "merged"} or verb.endswith(" merged")
        if verb or _IS_CLOSED.search(rest) or _IS_OPEN.search(rest):
            yield (
                match["repository"] or "",
                match["number"],
                is_closed or (not verb and _IS_CLOSED.search(rest) is not None),
            )


def _objects(result: ToolResult) -> Iterator[tuple[str, str, bool]]:
    for one in json_objects(result):
        state = one.get("state")
        if isinstance(one.get("number"), int) and isinstance(state, str):
            yield "", str(one["number"]), state.lower() in {"closed", "merged"}
        elif isinstance(one.get("merged"), bool) and "number" not in one:
            yield "", "", one["merged"]
