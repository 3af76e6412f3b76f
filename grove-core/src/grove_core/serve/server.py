"""The ``grove serve`` process: one thread each for input, hooks and agent tools; its protocol."""

import faulthandler
import json
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from grove_core.serve.tools import TOOLS, call_tool, list_tools
from grove_core.storage.diagnostics import Diagnostics
from grove_core.storage.paths import Paths, grove_home

if TYPE_CHECKING:
    from grove_core.serve.hooks import Hooks

_READ_SIZE: Final = 1024 * 1024
_LAST_SECONDS: Final = 0.8
"""For what still runs when the input has ended."""
_LOOK_SECONDS: Final = 0.5
"""How often the limits of a hook that runs are looked at."""
_GRACE_SECONDS: Final = 3.0
_SETTLED_SECONDS: Final = 2.0
"""After which an installer counts as done."""
_HUNG_SECONDS: Final = 10.0
_HOOK: Final = "hook"

# In the order in which they come to be needed: a prompt, tool calls, a stop, the agent's tools.
_MODULES: Final = (
    "serve.hooks",
    "hooks.user_prompt",
    "services.recall",
    "finder",
    "stats.cache",
    "hooks.tool_use",
    "ticketing",
    "hooks.stop",
    "services.requests",
    "services.overview",
)

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
UNSUPPORTED_VERSION: Final = -32022

_META: Final = "io.modelcontextprotocol"

Message = Mapping[str, Any]
Id = str | int | float | None


# --- the Model Context Protocol: JSON-RPC, a message a line ---------------------------------------


class Refused(Exception):  # noqa: N818 - the answer to a request, which is no fault of ours
    """A message that gets an error for an answer."""

    def __init__(
        self, code: int, reason: str, request_id: Id = None, data: Message | None = None
    ) -> None:
        """Say why."""
        super().__init__(reason)
        error = {"code": code, "message": reason, **({"data": data} if data else {})}
        self.answer = _line({"id": request_id, "error": error})


class Request(NamedTuple):
    """A message of the client that wants an answer."""

    id: Id
    method: str
    parameters: Message
    is_modern: bool
    """Whether it is of the era without a handshake."""

    def answer(self, result: Message, *, cacheable: bool = False) -> bytes:
        """Write the answer."""
        if self.is_modern:
            result = {**result, "resultType": "complete", "_meta": {f"{_META}/serverInfo": _info()}}
            if cacheable:
                result = {**result, "ttlMs": 0, "cacheScope": "private"}
        return _line({"id": self.id, "result": result})


def read_message(line: bytes) -> Request | None:
    """Read a message; an answer and a notification, which has no id, want no answer."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused(PARSE_ERROR, f"the line is not JSON: {error}") from error
    request_id = message.get("id") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(request_id, str | int | float | None):
        raise Refused(INVALID_REQUEST, "the message is no object with a plain id")
    method, parameters = message.get("method"), message.get("params")
    if method is None and ("result" in message or "error" in message):
        return None
    if not isinstance(method, str):
        raise Refused(INVALID_REQUEST, "the message names no method", request_id)
    if "id" not in message:
        return None
    parameters = parameters if isinstance(parameters, dict) else {}
    meta = parameters.get("_meta")
    version = meta.get(f"{_META}/protocolVersion") if isinstance(meta, dict) else None
    if version not in (None, MODERN):
        data = {"supported": [MODERN], "requested": version}
        raise Refused(UNSUPPORTED_VERSION, "this version is not supported", request_id, data)
    return Request(request_id, method, parameters, version is not None)


def answer_message(request: Request, tools: Callable[[], Sequence[Message]]) -> bytes:
    """Answer a request that calls no tool."""
    match request.method:
        case "initialize":
            wanted = request.parameters.get("protocolVersion")
            version = wanted if wanted in HANDSHAKE else HANDSHAKE[0]
            handshake = {"protocolVersion": version, "serverInfo": _info(), **_abilities()}
            return request.answer(handshake)
        case "server/discover":
            versions = {"supportedVersions": [MODERN], "serverInfo": _info(), **_abilities()}
            return request.answer(versions, cacheable=True)
        case "tools/list":
            return request.answer({"tools": tools()}, cacheable=True)
        case "ping":
            return request.answer({})
    raise Refused(METHOD_NOT_FOUND, f"there is no method {request.method[:80]}", request.id)


def _abilities() -> Message:
    return {"capabilities": {"tools": {}}}


def _info() -> Message:
    from grove_core import __version__

    return {"name": "grove", "version": __version__}


def _line(message: Message) -> bytes:
    text = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"))
    return text.encode("ascii") + b"\n"


# --- the process ----------------------------------------------------------------------------------


def run() -> int:
    """Run ``grove serve`` until its input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a person's Ctrl-C is meant for the client
    # Plugins and their programs must neither read nor write what belongs to the protocol.
    incoming, outgoing = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    Server(incoming, outgoing, os.environ).serve()
    # Not sys.exit: no thread of a plugin is waited for.
    os._exit(0)


class _Limit:
    """The time limit of a hook; the thread that reads looks at it."""

    def __init__(self) -> None:
        self.last_words: Callable[[], None] = lambda: None
        self.work = self.clock = 0.0

    def start(self, work: float, clock: float) -> None:
        """Start or restart."""
        if not self.clock:
            # No Python code runs while a plugin's C code holds Python's lock; a thread of C ends
            # the process then.
            faulthandler.dump_traceback_later(clock + _GRACE_SECONDS, exit=True, file=2)
        self.work = time.thread_time() + work
        self.clock = time.monotonic() + clock

    def cancel(self) -> None:
        """Stop."""
        self.clock = 0.0
        faulthandler.cancel_dump_traceback_later()

    def is_over(self, worked: float) -> bool:
        """Return whether the hook has passed one of its limits."""
        return self.clock > 0 and (worked > self.work or time.monotonic() > self.clock)


class Server:
    """Speaks with one client."""

    def __init__(
        self,
        incoming: int,
        outgoing: int,
        environment: Mapping[str, str],
        end: Callable[[int], object] = os._exit,
    ) -> None:
        """Read nothing yet."""
        self._incoming, self._outgoing = incoming, outgoing
        self._environment = environment
        self._end = end
        self._jobs: dict[str, SimpleQueue[Request]] = {}
        self._open = 0
        self._counter = threading.Lock()
        self._writing = threading.Lock()
        self._running: tuple[Request, int] | None = None
        self._limit = _Limit()
        self._hung_since: float | None = None
        self._installed = _installed_files()
        self._is_loading = False
        self._ends = False

    def serve(self) -> None:
        """Answer until the input ends, or until what runs here is no longer what is installed."""
        rest = b""
        while True:
            patience = _LOOK_SECONDS if self._open or self._ends else None
            if select.select([self._incoming], [], [], patience)[0]:
                data = os.read(self._incoming, _READ_SIZE)
                if not data:
                    break
                *lines, rest = (rest + data).split(b"\n")
                for line in filter(bytes.strip, lines):
                    self._take(line)
            elif self._ends and not self._open:
                return
            self._look_at_limits()
        until = time.monotonic() + _LAST_SECONDS
        while self._open and time.monotonic() < until:
            time.sleep(0.01)

    def _take(self, line: bytes) -> None:
        try:
            request = read_message(line)
            if request is None:
                return
            if request.method == "tools/call":
                self._call(request)
            else:
                self._write(answer_message(request, list_tools))
        except Refused as refused:
            self._write(refused.answer)
        if not self._is_loading:
            self._is_loading = True
            threading.Thread(target=self._load, daemon=True).start()

    def _call(self, request: Request) -> None:
        name = request.parameters.get("name")
        if not isinstance(name, str) or (name != _HOOK and name not in TOOLS):
            raise Refused(INVALID_PARAMS, f"there is no tool {str(name)[:80]}", request.id)
        if not isinstance(request.parameters.get("arguments", {}), dict):
            raise Refused(INVALID_PARAMS, "the arguments are no object", request.id)
        kind, work = (_HOOK, self._hook) if name == _HOOK else ("tool", self._tool)
        if kind not in self._jobs:
            self._jobs[kind] = SimpleQueue()
            threading.Thread(target=self._work, args=(kind, work), daemon=True).start()
        with self._counter:
            self._open += 1
        self._jobs[kind].put(request)

    def _work(self, kind: str, work: Callable[[Request], None]) -> None:
        while True:
            request = self._jobs[kind].get()
            try:
                work(request)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next one is answered
                with suppress(Exception):
                    Diagnostics(Paths(grove_home(self._environment))).crash(error, hook="serve")
                self._give(request, f"grove failed: {type(error).__name__}", is_error=True)
            with self._counter:
                self._open -= 1
            self._ends = self._ends or self._is_outdated()

    def _hook(self, request: Request) -> None:
        self._running = request, threading.get_ident()
        try:
            self._hooks.handle(
                request.parameters.get("arguments", {}),
                self._limit,
                lambda text, is_error: self._give(request, text, is_error=is_error),
            )
        finally:
            self._running = None

    @cached_property
    def _hooks(self) -> "Hooks":
        from grove_core.serve import hooks

        return hooks.Hooks(self._environment)

    def _look_at_limits(self) -> None:
        """End the process with a hook that has passed its limit: Python cannot end a thread."""
        running = self._running  # the hook may end meanwhile
        if running is None:
            return
        request, thread = running
        worked = 0.0
        if hasattr(time, "pthread_getcpuclockid"):  # not everywhere
            worked = time.clock_gettime(time.pthread_getcpuclockid(thread))
        if not self._limit.is_over(worked):
            return
        self._limit.last_words()
        self._give(request, "{}", is_error=False)
        self._end(0)

    def _tool(self, request: Request) -> None:
        parameters = request.parameters
        arguments: Mapping[str, Any] = parameters.get("arguments", {})
        result = call_tool(parameters["name"], arguments, self._hooks.environment)
        self._write(request.answer(result))

    def _load(self) -> None:
        """Import in the background what hooks and tools will need, plugins included."""
        with suppress(Exception):  # who needs it imports it again, and says what is wrong
            for name in _MODULES:
                import_module(f"grove_core.{name}")
            self._hooks.warm_up()

    def _is_outdated(self) -> bool:
        """Return whether a new process should follow."""
        from grove_core.plugins.limits import is_any_late

        now = time.monotonic()
        self._hung_since = (self._hung_since or now) if is_any_late() else None
        if self._hung_since is not None and now - self._hung_since > _HUNG_SECONDS:
            return True
        installed = _installed_files()
        return installed is not None and installed != self._installed

    def _give(self, request: Request, text: str, *, is_error: bool) -> None:
        content = [{"type": "text", "text": text}]
        self._write(request.answer({"content": content, "isError": is_error}))

    def _write(self, data: bytes) -> None:
        with self._writing, suppress(BrokenPipeError):  # no one listens; the input ends as well
            while data:
                data = data[os.write(self._outgoing, data) :]


def _installed_files() -> tuple[int, ...] | None:
    """Tell the files of this installation from others; ``None`` while an installer is at work."""
    import grove_core

    package = os.path.dirname(grove_core.__file__)  # noqa: PTH120 - cheaper
    found = []
    for path in (grove_core.__file__, os.path.dirname(package)):  # noqa: PTH120
        try:
            status = os.stat(path)  # noqa: PTH116
        except OSError:
            return None
        if 0 <= time.time() - status.st_mtime < _SETTLED_SECONDS:
            return None
        found += [status.st_mtime_ns, status.st_ino]
    return tuple(found)
