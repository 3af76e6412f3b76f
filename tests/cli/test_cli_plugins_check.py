"""`grove plugins check`: the kit's contracts on what is installed, in a process of its own."""

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

FAKE_SERVER = Path(__file__).parents[2] / "grove-backend-mcp/tests/servers/fake_memory.py"
BACKENDS = """
from attrs import frozen
import grove_core as grove
from grove_core.testing import InMemoryBackend, InMemoryStorage

grove_api = 1
STORAGES = {}

@frozen
class Settings:
    shelf: str = ""

class Unlimited(InMemoryBackend):
    def search(self, query, filters):
        return super().search(query, grove.Filters(statuses=filters.statuses))

class Alone(InMemoryBackend):
    def ping(self):
        raise ConnectionError("no route to the shelf")

def opened(kind, capabilities):
    def open(context):
        storage = STORAGES.setdefault((context.root, context.settings), InMemoryStorage())
        return kind("acme", capabilities, storage)
    return open

def spec(name, detect, open, **fields):
    return grove.BackendSpec(name=name, detect=detect, open=open, **fields)

HERE = grove.Detection(marker="here")
SMALL = frozenset({grove.Capability.ITERATE})

def by_setting(context):
    return HERE if context.settings.shelf else None

@grove.hookimpl
def grove_memory_backends():
    common = InMemoryStorage()
    return [SPECS]
"""
SPECS = {
    "unlimited": 'spec("unlimited", lambda _: HERE, opened(Unlimited, SMALL))',
    "common": 'spec("common", lambda _: HERE, lambda _: InMemoryBackend("c", SMALL, common))',
    "raising": 'spec("raising", lambda _: HERE, lambda _: 1 / 0)',
    "set": 'spec("set", by_setting, opened(Alone, SMALL), settings=Settings)',
}
TRACKER = """
import grove_core as grove

grove_api = 1

@grove.hookimpl
def grove_ticket_probes():
    return [grove.TicketProbe(name="acme", detect=detect)]

@grove.hookimpl
def grove_close_matchers():
    return [
        grove.CloseMatcher(system="acme", literals=("acme",), tools=("Bash",), match=match)
    ]

def detect(context):
    return grove.Detection(marker=".acme") if (context.root / ".acme").exists() else None

def match(call, context):
    BODY
"""
SOUND = "return []"
FAILS = 'return [call.input["command"].split()] and []'


@pytest.fixture
def check(world):
    def check(*words, **variables):
        done = world.grove("plugins", "check", *words, **variables)
        assert "Traceback" not in done.stderr
        assert list((world.folder / "tmp").iterdir()) == []
        return done

    return check


def of_contract(document, of, contract="BackendContract"):
    (found,) = (
        one for one in document["contracts"] if (one["contract"], one["of"]) == (contract, of)
    )
    return found


def failures_of(document, of):
    return [one for one in document["failures"] if one["of"] == of]


# --- backends -----------------------------------------------------------------------------------


def test_each_backend_is_tried_and_each_fault_is_told_once(world, check):
    specs = ", ".join(SPECS.values())
    source = BACKENDS.replace("SPECS]", f"{specs}]")
    world.install_plugin("acme", source, group="grove.backends")
    done = check("acme", "--json")
    assert (done.code, done.stderr) == (1, "")
    document = done.json
    assert (document["distribution"], document["version"], document["ok"]) == ("acme", "1.0", False)
    assert document["plugins"] == ["grove.backends:acme"]
    assert [(one["contract"], one["of"]) for one in document["contracts"]] == [
        ("PluginContract", "grove.backends:acme"),
        *(("BackendContract", name) for name in sorted(SPECS)),
    ]
    for name in ("passed", "failed", "not_declared", "not_given", "left_out"):
        assert document[name] == sum(one[name] for one in document["contracts"])
    # A fault of one backend: its test, its rule, what came, where, and where to read.
    limit = [
        one for one in failures_of(document, "unlimited") if "test_limit_holds" in one["tests"]
    ]
    assert [one["rule"] for one in limit] == [
        "There are at most as many hits as the limit says, and they are the best."
    ]
    assert limit[0]["found"][0] == "expected: at most 0 hits"
    assert (
        limit[0]["read"] == "grove_core.Filters" or limit[0]["read"] == "help(grove_core.Filters)"
    )
    numbers = of_contract(document, "unlimited")
    assert numbers["passed"] > 80
    assert numbers["not_declared"] > 20
    assert numbers["not_given"] == 2
    assert numbers["skipped"] == [{"reason": "unlimited has no fixture broken_backend", "tests": 2}]
    # What stops every test is one failure.
    (raising,) = failures_of(document, "raising")
    assert len(raising["tests"]) > 100
    assert raising["rule"] == "The plugin can be tried in a new project."
    assert raising["found"] == ["ZeroDivisionError: division by zero"]
    file, _, line = raising["place"].rpartition(":")
    assert Path(file) == world.others / "site" / "acme.py"
    assert "1 / 0" in Path(file).read_text().splitlines()[int(line) - 1]
    # Learnings of one project that another one sees.
    (common,) = (one for one in failures_of(document, "common") if len(one["tests"]) > 10)
    assert common["found"][0].startswith("expected: no learning in a project that is new")
    # Nothing to try it on.
    assert of_contract(document, "set")["failed"] == 0
    reasons = [one["reason"] for one in of_contract(document, "set")["skipped"]]
    assert any(
        "has no project in which it can be used: name one with --like" in one for one in reasons
    )


def test_a_project_to_be_like_brings_settings_and_files(world, check):
    world.install_plugin("acme", BACKENDS.replace("SPECS]", f"{SPECS['set']}]"), "grove.backends")
    untried = check("acme")
    assert untried.code == 1
    assert untried.stdout.endswith("; 1 contract could not be tried\n")
    like = world.others / "like größe"
    (like / ".grove").mkdir(parents=True)
    config = '[backends.set]\nshelf = "upper-{test}"\n'
    (like / ".grove" / "config.toml").write_text(config)
    done = check("acme", "--like", like)
    assert done.code == 1
    assert "could not be tried" not in done.stdout
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED ")]
    assert all(line.startswith("FAILED BackendContract of set: ") for line in failed)
    assert any("test_ping_tells_how_it_is" in line for line in failed)
    assert "found: ConnectionError: no route to the shelf" in done.stdout
    assert "acme.py:" in done.stdout
    assert (like / ".grove" / "config.toml").read_text() == config
    (like / ".grove" / "config.toml").write_text("[backends.set]\nshelf = 7\n")
    wrong = check("acme", "--like", like)
    assert wrong.code == 1
    assert "settings that are right in [backends.set]" in wrong.stdout
    assert "shelf" in wrong.stdout


def test_our_own_backends_keep_what_they_promise(check):
    done = check("Grove_Backend.Markdown")
    assert (done.code, done.stderr) == (0, "")
    verdict = done.stdout.splitlines()[-1]
    assert verdict.startswith("grove-backend-markdown 0.1.0: ")
    assert " passed, 0 failed, " in verdict
    assert "BackendContract of markdown, personal learnings" in done.stdout


# --- ticket systems -----------------------------------------------------------------------------


def test_a_ticket_system_is_tried_as_far_as_it_can_be(world, check):
    world.install_plugin("acme", TRACKER.replace("BODY", SOUND), group="grove.tickets")
    done = check("acme")
    assert (done.code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("PluginContract of grove.tickets:acme  ")
    assert lines[1].startswith("TicketContract of acme ")
    # One table is missing: that is one reason, in all its tests and with all its systems.
    (closes,) = (line for line in lines if "closes" in line)
    assert closes.startswith("left out: no closes (")
    assert "shell text" not in done.stdout
    document = check("acme", "--json").json
    (contract,) = (one for one in document["contracts"] if one["contract"] == "TicketContract")
    reasons = {one["reason"]: one["tests"] for one in contract["skipped"]}
    assert list(reasons) == ["acme has no closes", "acme has no fixture used_project and no files"]
    assert sum(reasons.values()) == contract["not_given"] == document["not_given"]
    assert closes == f"left out: no closes ({reasons['acme has no closes']} tests)"
    assert any(line.startswith("left out: no fixture used_project") for line in lines)
    assert lines[-1].startswith("acme 1.0: ")
    like = world.others / "like"
    (like / ".acme").mkdir(parents=True)
    # What a server that runs there has open cannot be copied, and is not missed.
    os.mkfifo(like / ".acme" / "pipe")
    used = check("acme", "--like", like)
    assert used.code == 0
    assert "used_project" not in used.stdout


def test_a_matcher_that_fails_is_told_with_its_place(world, check):
    world.install_plugin("acme", TRACKER.replace("BODY", FAILS), group="grove.tickets")
    done = check("acme")
    assert done.code == 1
    assert "FAILED TicketContract of acme: " in done.stdout
    assert "acme.py:" in done.stdout
    quiet = check("acme", "--quiet")
    assert quiet.code == 1
    assert all(
        line.startswith("TicketContract of acme: test_") for line in quiet.stdout.splitlines()
    )


def test_what_stands_in_two_groups_is_tried_once(world, check):
    world.install_plugin("acme", TRACKER.replace("BODY", SOUND), group="grove.tickets")
    with (world.others / "site/acme-1.0.dist-info/entry_points.txt").open("a") as entry_points:
        entry_points.write("[grove.plugins]\nacme = acme\n")
    document = check("acme", "--json").json
    assert [(one["contract"], one["of"]) for one in document["contracts"]] == [
        ("PluginContract", "grove.tickets:acme"),
        ("TicketContract", "acme"),
        ("PluginContract", "grove.plugins:acme"),
    ]


# --- what is checked ----------------------------------------------------------------------------


def test_one_plugin_of_a_distribution_can_be_checked_alone(check):
    document = check("beads", "--json").json
    assert document["distribution"] == "grove-tickets"
    assert document["plugins"] == ["grove.tickets:beads"]
    assert {one["of"] for one in document["contracts"]} == {"grove.tickets:beads", "beads"}


def test_what_is_not_installed_is_said_with_what_is(check):
    done = check("nothing")
    assert (done.code, done.stdout) == (1, "")
    assert "no plugin nothing is installed beside this grove" in done.stderr
    assert sys.executable in done.stderr
    assert "grove-tickets" in done.stderr
    assert "error" in check("nothing", "--json").json


def test_a_name_that_two_distributions_have_is_not_guessed(world, check):
    world.install_plugin("markdown", TRACKER.replace("BODY", SOUND), group="grove.tickets")
    first = check("markdown", "--json")
    assert first.json["distribution"] == "markdown"  # a distribution's name comes first
    other = world.others / "site" / "twin-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: twin\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text("[grove.tickets]\nbeads = markdown\n")
    done = check("beads")
    assert done.code == 1
    assert "grove-tickets and twin each have a plugin beads: name one of them" in done.stderr


def test_what_cannot_be_imported_fails_with_the_reason(world, check):
    world.install_plugin("acme", 'raise RuntimeError("broken on purpose")\n')
    done = check("acme")
    assert done.code == 1
    assert "broken on purpose" in done.stdout
    assert " failed" in done.stdout.splitlines()[-1]


# --- the process --------------------------------------------------------------------------------


def test_the_users_own_settings_of_pytest_count_nothing(world, check):
    world.install_plugin("acme", TRACKER.replace("BODY", SOUND), group="grove.tickets")
    alone = check("acme").stdout
    (world.project / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (world.project / "conftest.py").write_text("raise RuntimeError\n")
    variables = {"PYTEST_ADDOPTS": "-k nothing", "GROVE_PLUGINS": "acme"}
    assert check("acme", **variables).stdout == alone


def test_a_plugin_that_ends_the_process_is_told(world, check):
    world.install_plugin(
        "acme",
        "import os, sys\nif 'pytest' in sys.modules:\n    print('so long', file=sys.stderr)\n    os._exit(7)\n",
    )
    done = check("acme")
    assert (done.code, done.stdout) == (1, "")
    assert "the tests ended before their time, with code 7" in done.stderr


ONE_BACKEND = """
import os, sys, time
import grove_core as grove
from grove_core.testing import InMemoryBackend, InMemoryStorage

grove_api = 1

def open(context):
    BODY
    return InMemoryBackend("acme", frozenset(), InMemoryStorage())

@grove.hookimpl
def grove_memory_backends():
    spec = grove.BackendSpec(name="acme", detect=lambda _: grove.Detection(marker="x"), open=open)
    return [spec]
"""


def test_a_backend_that_exits_when_it_is_opened_has_not_passed(world, check):
    world.install_plugin("acme", ONE_BACKEND.replace("BODY", "sys.exit(4)"))
    done = check("acme")
    assert done.code == 1
    assert "SystemExit: 4" in done.stdout


@pytest.mark.parametrize("body", ["raise KeyboardInterrupt", "__import__('pytest').exit('bye')"])
def test_tests_that_end_before_their_time_have_not_passed(world, check, body):
    world.install_plugin("acme", ONE_BACKEND.replace("BODY", body))
    done = check("acme")
    assert (done.code, done.stdout) == (1, "")
    assert "the tests ended before their time" in done.stderr


STARTS = {
    "fork": "os.fork()",
    "program": "subprocess.Popen(['sleep', '300']).pid",
    "shell": "subprocess.Popen('sleep 300 & sleep 300', shell=True).pid",
    "session": "subprocess.Popen(['sleep', '300'], start_new_session=True).pid",
    "immune": "subprocess.Popen(['nohup', 'sleep', '300']).pid",
}
STARTS_ONCE = """import subprocess
    if not os.path.exists(PLACE):
        child = START
        if not child:
            time.sleep(300)
            os._exit(0)
        file = os.open(PLACE + ".new", os.O_CREAT | os.O_WRONLY)
        os.write(file, str(child).encode())
        os.rename(PLACE + ".new", PLACE)
"""


def starting(place, way, then=""):
    """What starts something in the background, once, and notes its number."""
    body = STARTS_ONCE.replace("PLACE", repr(str(place))).replace("START", STARTS[way])
    return ONE_BACKEND.replace("BODY", body + f"    {then}\n")


def assert_over(number):
    """It has ended, or does so at once: whoever adopts it has to ask for its end."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError, ProcessLookupError):
            if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                time.sleep(0.05)
                continue
        return
    os.kill(number, signal.SIGKILL)
    pytest.fail(f"process {number} is still running")


def awaited(place):
    deadline = time.monotonic() + 60
    while not place.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return int(place.read_text())


ON_LINUX = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at /proc")


@ON_LINUX
@pytest.mark.parametrize("way", STARTS)
def test_what_a_plugin_leaves_running_is_ended_and_nobody_waits_for_it(world, check, way):
    place = world.others / "child"
    world.install_plugin("acme", starting(place, way))
    begun = time.monotonic()
    assert "failed" in check("acme").stdout
    assert time.monotonic() - begun < 50
    assert_over(int(place.read_text()))


@ON_LINUX
def test_what_a_plugin_has_started_is_ended_when_the_tests_end_before_their_time(world, check):
    place = world.others / "child"
    world.install_plugin("acme", starting(place, "program", "os._exit(7)"))
    done = check("acme")
    assert "the tests ended before their time, with code 7" in done.stderr
    assert_over(int(place.read_text()))


@ON_LINUX
def test_what_a_plugin_has_started_is_ended_when_a_test_hangs(world, check):
    place = world.others / "child"
    world.install_plugin("acme", starting(place, "session", "time.sleep(300)"))
    # A test may take ten minutes; this one must not.
    (world.others / "site" / "sitecustomize.py").write_text(
        "import sys\nif 'grove_core.testing.checking' in sys.orig_argv:\n"
        "    from grove_core.testing.checking import reporting\n"
        "    reporting.LONGEST_TEST_SECONDS = 5\n"
    )
    done = check("acme")
    assert done.code == 1
    assert "the tests ended before their time, with code 1" in done.stderr
    assert 'acme.py", line ' in done.stderr  # where it hangs, and not only pytest's own calls
    assert_over(int(place.read_text()))


@ON_LINUX
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 1), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["Ctrl-C", "terminated", "hung up"],
)
def test_whoever_ends_the_check_ends_all_of_it_at_once(world, number, code):
    place = world.others / "child"
    world.install_plugin("acme", starting(place, "program", "time.sleep(300)"))
    process = world.start("plugins", "check", "acme")
    child = awaited(place)
    (tests,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    begun = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - begun < 4
    assert (process.returncode, out) == (code, b"")
    assert b"Traceback" not in err
    assert_over(child)
    assert_over(int(tests))
    assert list((world.folder / "tmp").iterdir()) == []


@ON_LINUX
def test_a_check_that_was_started_by_nohup_goes_on_when_the_terminal_goes(world):
    place = world.others / "child"
    world.install_plugin("acme", starting(place, "program"))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = world.start("plugins", "check", "acme")
    finally:
        signal.signal(signal.SIGHUP, before)
    awaited(place)
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(timeout=60)
    assert b"acme 1.0: " in out


def test_a_process_that_ends_before_it_reads_is_told(world, check):
    world.install_plugin("acme", TRACKER.replace("BODY", SOUND), group="grove.tickets")
    (world.others / "site" / "sitecustomize.py").write_text(
        "import os, sys\nif 'grove_core.testing.checking' in sys.orig_argv:\n"
        "    os.write(2, b'so long')\n    os._exit(9)\n"
    )
    done = check("acme")
    assert (done.code, done.stdout) == (1, "")
    assert "with code 9:" in done.stderr
    assert "so long" in done.stderr


@pytest.mark.parametrize("missing", ["pytest", "hypothesis"])
def test_what_is_missing_of_the_extra_is_said(world, check, missing):
    world.install_plugin("acme", TRACKER.replace("BODY", SOUND), group="grove.tickets")
    site = world.others / "site"
    (site / "sitecustomize.py").write_text(f"import sys\nsys.modules[{missing!r}] = None\n")
    done = check("acme")
    if missing == "pytest":
        assert (done.code, done.stdout) == (1, "")
        assert "checking plugins needs pytest: pip install 'grove-core[testing]'" in done.stderr
        assert sys.executable in done.stderr
        tool = world.others / "tool environment"
        tool.mkdir()
        (tool / "uv-receipt.toml").touch()
        with (site / "sitecustomize.py").open("a") as customize:
            customize.write(f"sys.prefix = {str(tool)!r}\n")
        by_uv = check("acme").stderr
        assert "needs pytest: uv tool install grove-core --with " in by_uv
        assert "--with 'grove-core[testing]' (in " in by_uv
    else:
        assert done.code == 0
        assert "left out: " in done.stdout
        assert "hypothesis" in done.stdout


def test_a_large_project_is_refused(world, check):
    world.install_plugin("acme", TRACKER.replace("BODY", SOUND), group="grove.tickets")
    like = world.others / "like"
    like.mkdir()
    for number in range(1_001):
        (like / f"{number}").touch()
    done = check("acme", "--like", like)
    assert (done.code, done.stdout) == (1, "")
    assert "holds more than 1,000 files" in done.stderr


def test_a_project_whose_configuration_is_none_is_no_pattern(world, check):
    like = world.others / "like"
    (like / ".grove").mkdir(parents=True)
    config = like / ".grove" / "config.toml"
    config.write_text("backends = [[[")
    done = check("markdown", "--like", like)
    assert (done.code, done.stdout) == (1, "")
    assert f"{like} cannot be what projects are like: {config}: " in done.stderr
