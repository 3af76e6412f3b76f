"""Call the console script in the tests' own process: no program is started.

As far as grove can see, the call is a process of its own: it has its arguments, its environment, its
working directory, the three standard streams as descriptors, its signal handlers and import paths.
"""

import atexit
import functools
import importlib
import os
import signal
import sqlite3
import sys
import tempfile
import time
import warnings
from contextlib import ExitStack, contextmanager, suppress
from importlib import metadata  # noqa: TID253 - only its reading is made shorter
from unittest import mock

from attrs import frozen

from grove_core import ticketing
from grove_core._entry import main
from grove_core.hooks import fast
from grove_core.memory import backends, library
from grove_core.plugins import manager
from grove_core.serve import server

# How long plugins may take to answer, and hooks; a machine that is busy with other tests makes none
# late.
_LIMITS = [
    (fast, "_LONGEST_SECONDS"),
    (server, "_LAST_SECONDS"),
    *((manager._DEFAULT_LIMITS, name) for name in ("load", "registration", "life_cycle")),
    *((ticketing, f"{name}_SECONDS") for name in ("DETECT", "MATCH", "CONFIRM", "CURRENT_TICKET")),
    *((backends, f"{name}_SECONDS") for name in ("DETECT", "OPEN")),
    *((library, f"{name}_SECONDS") for name in ("READ", "WRITE")),
]
PATIENCE = 20
_HANDLED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGALRM,
    signal.SIGPROF,
    signal.SIGPIPE,
)
_AS_PYTHON_STARTS = {signal.SIGINT: signal.default_int_handler, signal.SIGPIPE: signal.SIG_IGN}


@frozen
class Result:
    """How a program ended, and what it printed."""

    code: int
    stdout: bytes
    stderr: bytes


class _Exit(BaseException):
    """`os._exit`, which must not end the tests."""


def call(*arguments, environment, cwd, stdin=b""):
    """Run `grove` with these arguments to its end."""
    streams = [tempfile.TemporaryFile() for _ in range(3)]  # noqa: SIM115 - closed below
    try:
        streams[0].write(stdin)
        streams[0].seek(0)
        with ExitStack() as stack:
            for surroundings in (
                mock.patch.dict(os.environ, environment, clear=True),
                _time_zone(),
                _working_directory(cwd),
                _import_paths(environment.get("PYTHONPATH", "")),
                _databases(),
                _signal_handlers(),
                _handlers_of_the_end(),
                _patience(),
                mock.patch.object(sys, "argv", ["grove", *arguments]),
                mock.patch.object(os, "_exit", _exit),
                mock.patch.object(metadata, "distributions", _distributions),
                warnings.catch_warnings(),
                _standard_streams(streams),
            ):
                stack.enter_context(surroundings)
            warnings.simplefilter("ignore")
            code = _run()
        return Result(code, *(_content(stream) for stream in streams[1:]))
    finally:
        for stream in streams:
            stream.close()


def _run():
    """The exit code that the interpreter would make of what `main` does."""
    try:
        code = main()
    except _Exit as end:
        code = end.args[0]
    except SystemExit as end:
        code = end.code
    if isinstance(code, str):
        sys.stderr.write(f"{code}\n")
        code = 1
    return code or 0


def _exit(code):
    raise _Exit(code)


def _content(stream):
    stream.seek(0)
    return stream.read()


class _Distribution:
    """What is installed, read once: nothing is added to this environment while tests run."""

    def __init__(self, installed):
        self._installed = installed
        self.read_text = functools.cache(installed.read_text)

    def __getattr__(self, name):
        value = getattr(self._installed, name)
        setattr(self, name, value)
        return value


@functools.cache
def _of_this_environment(path):
    return [_Distribution(one) for one in _find_distributions(path=[path])]


_find_distributions = metadata.distributions


def _distributions(**wanted):
    if wanted:
        return _find_distributions(**wanted)
    found = []
    for path in sys.path:
        ours = path.startswith(sys.prefix)
        found += _of_this_environment(path) if ours else _find_distributions(path=[path])
    return iter(found)


@contextmanager
def _standard_streams(files):
    """The descriptors 0 to 2, and Python's objects for them."""
    objects = sys.stdin, sys.stdout, sys.stderr
    for stream in objects[1:]:
        stream.flush()
    saved = [os.dup(number) for number in range(3)]
    for number, file in enumerate(files):
        file.flush()
        os.dup2(file.fileno(), number)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        for number, mode, errors in (
            (0, "r", "strict"),
            (1, "w", "strict"),
            (2, "w", "backslashreplace"),
        )
    )
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        for number, copy in enumerate(saved):
            os.dup2(copy, number)
            os.close(copy)
        sys.stdin, sys.stdout, sys.stderr = objects


@contextmanager
def _databases():
    """Close the files that a call has opened with it; what is in memory harms no other call."""
    opened, connect = [], sqlite3.connect

    def connected(*arguments, **options):
        made = connect(*arguments, **options)
        if arguments[0] not in ("", ":memory:"):
            opened.append(made)
        return made

    with mock.patch.object(sqlite3, "connect", connected):
        yield
    for one in opened:
        with suppress(sqlite3.Error):
            one.close()


@contextmanager
def _working_directory(path):
    before = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _time_zone():
    """`TZ` counts from the next call of `tzset` on."""
    time.tzset()
    yield
    # The environment is still the call's: what the tests' own is counts after it.
    os.environ.pop("TZ", None)
    time.tzset()


@contextmanager
def _signal_handlers():
    handlers = {number: signal.getsignal(number) for number in _HANDLED}
    for number in _HANDLED:
        signal.signal(number, _AS_PYTHON_STARTS.get(number, signal.SIG_DFL))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextmanager
def _patience():
    before = [(owner, name, getattr(owner, name)) for owner, name in _LIMITS]
    for owner, name, seconds in before:
        object.__setattr__(owner, name, PATIENCE * seconds)
    try:
        yield
    finally:
        for owner, name, seconds in before:
            object.__setattr__(owner, name, seconds)


@contextmanager
def _handlers_of_the_end():
    """What is to be done when the process ends is done when the call does."""
    pending, register = [], atexit.register

    def register_here(function, *arguments, **named):
        pending.append(functools.partial(function, *arguments, **named))
        return register(function, *arguments, **named)

    with mock.patch.object(atexit, "register", register_here):
        yield
    while pending:
        pending.pop()()


@contextmanager
def _import_paths(python_path):
    """What lies on `PYTHONPATH` can be imported, and is forgotten afterwards."""
    folders = [one for one in python_path.split(os.pathsep) if one]
    paths, modules = [*sys.path], {**sys.modules}
    sys.path[:0] = folders
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = paths
        for name in sys.modules.keys() - modules.keys():
            file = getattr(sys.modules[name], "__file__", None) or ""
            if file.startswith(tuple(folders)):
                del sys.modules[name]
