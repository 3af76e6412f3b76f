"""The beginning of a hook's process: most tool calls need a few system calls and no import."""

# `signal` imports enum, which costs more than this whole way.
import _signal  # type: ignore[import-not-found]
import os

from grove_core.hooks import CRASH_EXIT_CODE, STDIN_LIMIT, session_id_in

HELP = """\
Usage: grove hook EVENT|CLIENT < payload.json

Answer a hook of the coding agent. Run by the agent, not by people.

Events: session-start, user-prompt-submit, pre-tool-use, post-tool-use,
post-tool-use-failure, task-completed, stop, subagent-stop, session-end.

Clients are those of grove.hosts in grove plugins; their payload names the event.

Exit codes: 0 go on, 2 the agent is stopped (the reason is on stderr),
3 grove failed, and work goes on.
"""
FLAG_OPEN = b"1"
_EVENTS = frozenset(
    "session-start user-prompt-submit pre-tool-use post-tool-use post-tool-use-failure"
    " task-completed stop subagent-stop session-end".split()
)
_FLAGS = (b"0", FLAG_OPEN)
_READ_SIZE = 1024 * 1024
_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
# A word may follow an escaped line break, tab or other character, whose letters are no part of it.
_ESCAPE_LETTERS = frozenset(b"nrtbf")
_LAST_LINES = [b"", b""]
# By the clock; the busiest machine must not open the gate.
_LONGEST_SECONDS = 21.0
# What other clients that read Claude Code's settings and plugins set for their hooks.
_OTHER_CLIENTS = ("COPILOT_CLI", "CURSOR_VERSION", "QWEN_CODE", "QWEN_CODE_SESSION_ID")
# Set for the hooks of a plugin, which has a server as well.
_PLUGIN = "CLAUDE_PLUGIN_ROOT"
_PAYLOAD_SECONDS = 2.0  # for a program that is run with a pipe that no one writes to
# The tools of clients that touch one file, and what they call it.
_FILE_TOOLS = {
    b"Read": b'"file_path"',
    b"Edit": b'"file_path"',
    b"Write": b'"file_path"',
    b"MultiEdit": b'"file_path"',
    b"NotebookEdit": b'"notebook_path"',
    b"read_file": b'"file_path"',
    b"edit": b'"file_path"',
    b"replace": b'"file_path"',
    b"write_file": b'"file_path"',
}
_LONGEST_TEXT = 8192
_BLANKS = b" \t\r\n"


def run(arguments: list[str]) -> int:
    """Run ``grove hook``."""
    name = arguments[0] if arguments else ""
    if name in ("-h", "--help"):
        return say(HELP)
    if not name and os.isatty(0):
        os.write(2, HELP.encode())  # a person, who would wait for ever
        return 0
    data = read_stdin()
    is_event = name in _EVENTS
    # A session of the client that grove itself has started, or another client's.
    is_strange = os.environ.get("GROVE_NO_HOOKS") == "1" or (
        is_event and _is_of_another_client(data)
    )
    if is_strange:
        return 0
    # For a disk that never answers: by default, the alarm ends the process.
    _signal.setitimer(_signal.ITIMER_REAL, _LONGEST_SECONDS)
    try:
        return _answer(name, data) if is_event else _act(name, _event_in(data), data)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - work must go on
        if not is_event:
            return 0  # some clients take anything else for a denial
        # Not even the full way could be begun, so there is no log to write to.
        _complain(f"{name} failed and work goes on: {type(error).__name__}: {error}")
        return CRASH_EXIT_CODE
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)


def _answer(event: str, data: bytes) -> int:
    """Answer, but leave a stop to the session's server where that has answered it."""
    session_id = session_id_in(data).decode("ascii")
    if event != "stop" or _PLUGIN not in os.environ or not session_id:
        return _act(event, event, data)
    from grove_core.hooks import stops

    _signal.setitimer(_signal.ITIMER_REAL, stops.WAIT_SECONDS + _LONGEST_SECONDS)
    turn = stops.Turn(home(), session_id, stops.COMMAND)
    _signal.setitimer(_signal.ITIMER_REAL, _LONGEST_SECONDS)
    if turn.is_answered:
        return 0
    code = _act(event, event, data)
    turn.end(answered=code != CRASH_EXIT_CODE)
    return code


def _event_in(data: bytes) -> str:
    """Name the event of a client that calls it almost as grove does, such as ``BeforeTool``."""
    name = (_text(data, b'"hook_event_name"', 0) or b"").decode("ascii", "replace")
    event = "".join(f"-{one.lower()}" if one.isupper() else one for one in name).lstrip("-")
    return {"before-tool": "pre-tool-use", "after-tool": "post-tool-use"}.get(event, event)


def _act(name: str, event: str, data: bytes) -> int:
    if has_nothing_to_do(event, data):
        return 0
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    import atexit
    import gc

    # A tenth of the time of a process that ends at once each, the second one while it ends.
    gc.disable()
    atexit.register(gc.freeze)
    from grove_core.hooks.dispatch import run_hook

    return run_hook(name, data)


def has_nothing_to_do(event: str, data: bytes) -> bool:
    """Return whether a hook can be let go at once."""
    if event == "pre-tool-use":
        return not _may_close(data)
    if event in ("post-tool-use", "post-tool-use-failure"):
        lines = _session_lines(data)
        is_waited_for = lines is None or lines[0] == FLAG_OPEN
        return not is_waited_for and (event != "post-tool-use" or not _may_be_noted(data))
    session_id = session_id_in(data)
    if event == "session-end" and session_id:
        from grove_core.hooks.stops import note_end

        # What follows from it is done by the one that looks next.
        return note_end(home(), session_id.decode("ascii"), _text(data, b'"reason"', 0) or b"")
    marker = _read_fast_file(session_id + b".idle") if event == "stop" and session_id else None
    if marker is None:
        return False
    from grove_core.hooks.stops import holds

    return holds(marker, data, home(), session_id.decode("ascii"))


def _is_of_another_client(data: bytes) -> bool:
    """Return whether another client is running hooks written for Claude Code."""
    own_session = os.environ.get("CLAUDE_CODE_SESSION_ID")
    if own_session and os.fsencode(own_session) in data:
        return False
    return any(name in os.environ for name in _OTHER_CLIENTS)


def ignore_payload() -> bool:
    """Take a hook's payload from standard input where somebody runs the bare program as a hook."""
    from select import select

    try:
        waits = not os.isatty(0) and select([0], [], [], _PAYLOAD_SECONDS)[0]
    except OSError:  # it is closed
        return False
    return bool(waits) and read_stdin().lstrip(_BLANKS)[:1] == b"{"


def say(text: str) -> int:
    """Print a text where the command line is not worth its import."""
    try:
        os.write(1, text.encode())
    except BrokenPipeError:
        return 0
    except OSError as error:
        _complain(f"cannot write to standard output: {error.strerror}")
        return 1
    return 0


def _complain(text: str) -> None:
    # Not contextlib.suppress, whose import costs more than this whole way.
    try:  # noqa: SIM105
        os.write(2, f"grove: {text}\n".encode("utf-8", "replace"))
    except OSError:
        pass


def read_stdin() -> bytes:
    """Read what the client has to say, as far as grove takes it."""
    parts = []
    size = 0
    while size <= STDIN_LIMIT:
        try:
            part = os.read(0, _READ_SIZE)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _may_close(data: bytes) -> bool:
    lines = _session_lines(data)
    if lines is None:
        return True
    # A tool's name counts as well, wherever the client writes it.
    start = max(0, min(data.find(b'"tool_input"'), data.find(b'"tool_name"')))
    for line in lines[1:-2]:
        for word in line.split(b" "):
            if not contains_word(data, word, start):
                break
        else:
            return True
    return False


def touches_file(tool: object) -> bool:
    """Return whether a tool is one that touches a file."""
    return isinstance(tool, str) and tool.encode("utf-8", "replace") in _FILE_TOOLS


def _may_be_noted(data: bytes) -> bool:
    """Return whether a call may have touched a file that a learning names."""
    field = _FILE_TOOLS.get(_text(data, b'"tool_name"', 0) or b"")
    watched = _read_fast_file(session_id_in(data) + b".files") if field is not None else None
    if field is None or watched is None:
        return False
    path = _text(data, field, data.find(b'"tool_input"'))
    first, *parts = (path or b".").split(b"/")
    if first or b".." in parts:
        return True
    listed, *done = watched.split(b"\n")
    if path in done:
        return False
    noted = _read_fast_file(listed)
    # A list that is gone is made again by `dispatch`.
    return noted is None or parts[-1] in noted.split(b"\n")


def _text(data: bytes, name: bytes, start: int) -> bytes | None:
    """Find the text of a field without parsing; ``None`` when there is none that is plain."""
    place = data.find(name, start) if start >= 0 else -1
    while place >= 0:
        place += len(name)
        rest = data[place : place + _LONGEST_TEXT].lstrip(_BLANKS)
        if rest[:1] == b":":
            rest = rest[1:].lstrip(_BLANKS)
            end = rest.find(b'"', 1)
            is_plain = rest[:1] == b'"' and end > 0 and rest.find(b"\\", 1, end) < 0
            return rest[1:end] if is_plain else None
        place = data.find(name, place)  # that was a value
    return None


def home() -> str:
    """Tell where grove's own directory is, without a look at anything."""
    return os.path.expanduser(os.environ.get("GROVE_HOME") or "~/.grove")


def _session_lines(data: bytes) -> list[bytes] | None:
    session_id = session_id_in(data)
    if not session_id:
        return None
    content = _read_fast_file(session_id)
    if content is None:
        return None
    lines = content.split(b"\n")
    return lines if lines[0] in _FLAGS and lines[-2:] == _LAST_LINES else None


def _read_fast_file(name: bytes) -> bytes | None:
    try:
        descriptor = os.open(os.path.join(os.fsencode(home()), b"cache/fast", name), os.O_RDONLY)
        try:
            return os.read(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)
    except OSError:
        return None


def contains_word(data: bytes, word: bytes, start: int) -> bool:
    """Return whether a whole word stands in JSON, escaped or not."""
    position = data.find(word, start)
    while position >= 0:
        end = position + len(word)
        if _begins_word(data, position) and not data[end : end + 1].isalnum():
            return True
        position = data.find(word, position + 1)
    return False


def _begins_word(data: bytes, position: int) -> bool:
    before = data[position - 1]
    if before not in _WORD_BYTES:
        return True
    if before in _ESCAPE_LETTERS and data[position - 2 : position - 1] == b"\\":
        return True
    return data[position - 6 : position - 4] == b"\\u"
