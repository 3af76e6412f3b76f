"""What hooks import in a project with a memory server: nothing that talks to one.

The caps count every module of the process once caches are warm, as `tests/hooks/test_module_counts.py`
does; what is here comes on top of what hooks have there.
"""

import json
import subprocess
import sys

import pytest

from grove_core.cli.main import COMMANDS

# As without a memory server: what the backend itself needs comes on top where it is asked.
SHORT, NOTHING_TO_DO, SETTLED = 150, 50, 95
START, FULL_WAY = 385, 329

TALKING = {
    f"grove_backend_mcp.{name}"
    for name in "client memory_server lookup hits results filling pulling probing recogniser"
    " configured configured_checks choice health".split()
}
# What else speaks to a server.
HEAVY = {"ssl", "_ssl", "http.client", "urllib.request", "socket", "subprocess"}
ORDERS = "OrderStore.export_1()"

RUN = """
import sys
names = sys.argv.pop(1)
from grove_core._entry import main
try:
    code = main()
except SystemExit as leaving:
    code = leaving.code
with open(names, "w") as file:
    file.write(" ".join(sys.modules))
raise SystemExit(code)
"""


def modules_of(world, *words, stdin=""):
    """Runs `grove` as its console script does; gives its modules, and what it printed."""
    names = world.folder / "names-of-modules"
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(names), *words],
        input=stdin,
        cwd=world.project,
        env=world.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(names.read_text().split()), done.stdout


def hook_modules(world, event, session_id="session-1", **fields):
    payload = {
        "session_id": session_id,
        "transcript_path": str(world.home / "transcript.jsonl"),
        "cwd": str(world.project),
        "prompt_id": "prompt-1",
        "permission_mode": "default",
        **fields,
    }
    return modules_of(world, "hook", event, stdin=json.dumps(payload))


def talking(loaded):
    parts = {name for name in loaded if any(f"{name}.".startswith(f"{one}.") for one in TALKING)}
    return sorted(parts | loaded & HEAVY)


def check(loaded, cap, *, apart_from=()):
    assert [name for name in talking(loaded) if name not in apart_from] == []
    assert len(loaded) <= cap, f"{len(loaded)} modules: {' '.join(sorted(loaded))}"


@pytest.fixture
def warm(memory):
    """A project whose learnings the server has, a session under way, and notes for short ways."""
    world = memory.world
    world.start_ticket("bd-1", title="OrderStore is slow", description="export_1() of many orders")
    memory.teach(1, 2, 3)
    for number in range(6):
        agent = world.agent(f"session-{number}")
        agent.starts()
        if number != 1:
            agent.ends()
    memory.wait()
    return memory


def test_a_start_as_the_last_one_stays_on_the_short_way(warm):
    loaded, shown = hook_modules(warm.world, "session-start", "session-7", source="startup")
    assert ORDERS in shown
    assert "What the memory server" in shown
    check(loaded, SHORT)
    assert not [name for name in loaded if name.startswith(("grove_backend_mcp", "attrs"))]


def test_a_prompt_stays_on_the_short_way(warm):
    prompt = "Why does OrderStore.export_3() run one query per order?"
    loaded, _ = hook_modules(warm.world, "user-prompt-submit", prompt=prompt)
    check(loaded, SHORT)
    assert not [name for name in loaded if name.startswith("grove_backend_mcp")]


def test_a_tool_call_and_a_stop_have_nothing_to_do_with_it(warm):
    call = {"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": "ls"}}
    loaded, _ = hook_modules(warm.world, "pre-tool-use", **call)
    check(loaded, NOTHING_TO_DO)
    loaded, _ = hook_modules(warm.world, "stop", stop_hook_active=False, background_tasks=[])
    check(loaded, SETTLED)


def test_a_start_on_the_full_way_reads_files_only(warm):
    world = warm.world
    warm.teach(4)
    loaded, shown = hook_modules(world, "session-start", "session-7", source="startup")
    assert ORDERS in shown
    assert "grove_backend_mcp.backend" in loaded
    check(loaded, START)


def test_a_start_that_has_the_server_asked_only_starts_a_process(warm):
    warm.pass_time(4000)
    loaded, shown = hook_modules(warm.world, "session-start", "session-7", source="startup")
    assert ORDERS in shown
    # Seldom: not more often than every five minutes.
    check(loaded, START + 20, apart_from={"subprocess"})
    warm.wait()


def test_a_prompt_on_the_full_way_reads_files_only(warm):
    warm.teach(4)
    prompt = "Why does OrderStore.export_3() run one query per order?"
    loaded, _ = hook_modules(warm.world, "user-prompt-submit", prompt=prompt)
    assert "grove_backend_mcp.backend" in loaded
    check(loaded, FULL_WAY)


def test_a_session_that_is_compacted_reads_files_only(warm):
    loaded, _ = hook_modules(warm.world, "session-start", source="compact")
    check(loaded, START)


@pytest.mark.parametrize("words", [("status",), ("list",), ("stats",), ("config",)])
def test_commands_that_only_look_do_not_load_what_talks(warm, words):
    assert words[0] in COMMANDS
    loaded, _ = modules_of(warm.world, *words)
    assert [name for name in talking(loaded) if name.startswith("grove_backend_mcp")] == []
