"""What all tests need of the process that runs them: a top and a home of their own, no hurry."""

import os
import resource
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# How fast a machine is that does other things as well is nobody's fault. The everyday run tries the
# same examples each time, so that a fault is found by whom it belongs to; test-long tries others.
LONG = os.environ.get("GROVE_TESTS_LONG") == "1"
settings.register_profile("everyday", deadline=None, derandomize=not LONG)
settings.load_profile("everyday")

# A job in the background of a script ignores Ctrl-C, and so would every program that it starts;
# tests that send it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Projects, work trees and tickets are looked for upwards: nothing of that may lie above the tests.
_MARKS = (".grove", ".git", ".beads", ".tissue", ".tickets", ".taskmaster", "backlog", ".mcp.json")
_FOREIGN = ("GROVE_", "CLAUDE", "GIT_", "CURSOR_", "COPILOT_", "QWEN_", "XDG_CONFIG")


def _is_clean(folder):
    return not any(
        (place / mark).exists() for place in (folder, *folder.parents) for mark in _MARKS
    )


def pytest_configure(config):
    """Chooses a folder for temporary files; processes of the same run are told by the variable."""
    places = (tempfile.gettempdir(), "/var/tmp", "/dev/shm", "~/.cache")
    folders = [Path(place).expanduser().resolve() for place in places]
    clean = [folder for folder in folders if folder.is_dir() and _is_clean(folder)]
    if not clean:
        raise pytest.UsageError(f"each of {folders} lies below a project; set TMPDIR")
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(clean[0]))
    if config.getoption("numprocesses", None):
        config.pluginmanager.register(Workers())


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory):
    """A home for the tests; the person's is as it was before."""
    grove = Path.home() / ".grove"
    before = grove.stat().st_mtime_ns if grove.exists() else None
    with pytest.MonkeyPatch.context() as patch:
        for name in [*os.environ]:
            if name.startswith(_FOREIGN) and name != "GROVE_TESTS_LONG":
                patch.delenv(name)
        # What installers have downloaded is used again.
        patch.setenv(
            "XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        )
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield
    assert before == (grove.stat().st_mtime_ns if grove.exists() else None)


# --- what programs cost that tests start ------------------------------------------------------------

_seconds = pytest.StashKey[float]()


def _started_programs():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Workers:
    """Adds up what the processes of a parallel run have spent."""

    def pytest_testnodedown(self, node):
        spent = getattr(node, "workeroutput", {}).get("programs", 0.0)
        node.config.stash[_seconds] = node.config.stash.get(_seconds, 0.0) + spent


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["programs"] = _started_programs()


def pytest_terminal_summary(terminalreporter, config):
    seconds = config.stash.get(_seconds, _started_programs())
    terminalreporter.write_line(f"programs that tests started: {seconds:.0f} s of processor time")
