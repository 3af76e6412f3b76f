"""git-bug: bugs within the references of a git repository, shared by all its work trees."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grove_core import (
    CloseMatcher,
    Detection,
    ProjectContext,
    Ticket,
    TicketClose,
    TicketProbe,
    ToolCall,
    ToolResult,
    hookimpl,
)
from grove_tickets.arguments import parse
from grove_tickets.calls import behind_git, close_of, matchers, shell_commands, store_directory
from grove_tickets.outputs import output_text, told
from grove_tickets.places import detected, exists, find_repository, first_line

if TYPE_CHECKING:
    from grove_tickets.shell import Command

grove_api = 2
SYSTEM = "gitbug"
_VERBS = {"close": False, "open": True}
# Two places, by the tool's version.
_SELECTED = ("git-bug/select/bugs", "git-bug/select")
_SHORT_ID_LENGTH = 7
_ID_LENGTHS = frozenset({40, 64})
_REFUSED = (
    r"(?im)^Error: .*(?:you must provide a bug id|doesn't exist|multiple matching bug"
    r"|no identity is set|unknown command|must be run from within a git|already locked"
    r"|outdated repository format|too old for this repository)"
    r"|^git: 'bug' is not a git command"
)


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer git-bug."""
    return [TicketProbe(name=SYSTEM, detect=detect, current_ticket=current_ticket)]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of git-bug's bugs."""
    commands = [f"bug status {verb}" for verb in _VERBS]
    return matchers(SYSTEM, closes, printed=_refused, commands=commands)


def detect(context: ProjectContext) -> Detection | None:
    """Find bugs in the git repository, or the tool's own files beside them."""
    repository = find_repository(context.cwd)
    if repository is None:
        return None
    places = [repository.shared / name for name in ("refs/bugs", "git-bug")]
    return detected(next((place for place in places if exists(place)), None))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which bug is selected; its title stands in no plain file."""
    repository = find_repository(context.cwd)
    if repository is None:
        return None
    for name in _SELECTED:
        bug_id = first_line(repository.shared / name)
        if len(bug_id) in _ID_LENGTHS and bug_id.isalnum():
            return Ticket(ticket_id=bug_id[:_SHORT_ID_LENGTH], source=SYSTEM)
    return None


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which bugs a shell command would close or open again."""
    found = []
    for command in shell_commands(call, "git", "git-bug"):
        words, base, git_directory = _behind_git(command)
        verb, ticket_id = _status_command(words)
        if verb in _VERBS:
            directory = store_directory(call, base, git_directory, context.environment)
            found.append(close_of(SYSTEM, ticket_id, directory, reopens=_VERBS[verb]))
    return found


def _behind_git(command: "Command") -> tuple[Sequence[str], str, str | None]:
    """Give the arguments of ``git bug``, the directory it runs in, and the git directory named."""
    git_directory = command.environment.get("GIT_DIR")
    if command.program != "git":
        return command.words[1:], command.directory, git_directory
    overall, base = behind_git(command)
    is_bug = overall.positionals[:1] == ("bug",) and not overall.has("-h", "--help")
    words = overall.positionals[1:] if is_bug else ()
    return words, base, overall.value("--git-dir") or git_directory


def _status_command(words: Sequence[str]) -> tuple[str, str]:
    """Read ``bug status VERB [ID]``, before version 0.8.1 ``status VERB [ID]``."""
    arguments = parse(words, ())
    positionals = arguments.positionals
    match positionals[1:] if positionals[:1] == ("bug",) else positionals:
        case ("status", verb, *ids) if not arguments.has("-h", "--help"):
            return verb, ids[0] if ids else ""
        case _:
            return "", ""


def _refused(_close: TicketClose, result: ToolResult, _context: ProjectContext) -> bool | None:
    """Return whether a call failed; when it works, the tool says nothing."""
    return told((), None, output_text(result), _REFUSED)
