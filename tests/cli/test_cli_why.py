"""`grove why`: each reason for which a learning is shown, or is not, in a session that did that."""

import json
import re
import stat
from datetime import UTC, datetime, timedelta

import pytest

FIRST, SECOND, THIRD = "cl_20260102_aaaaaa", "cl_20260102_bbbbbb", "cl_20260102_cccccc"
ABOUT_ORDERS = "OrderReport.rows() runs one query per order unless prefetched"
ABOUT_LOGIN = "LoginForm.clean() must not log the token of the session"
ASKS_ORDERS = "Why does OrderReport.rows() run one query per order?"
ASKS_LOGIN = "Does LoginForm.clean() log the token of a session?"
ASKS_BOTH = f"{ASKS_ORDERS} {ASKS_LOGIN}"
SECRET = "hunter2correcthorse"
BROKEN_ENGINE = """
from grove_core import EngineSpec, hookimpl

grove_api = 1


@hookimpl
def grove_retrieval_engines():
    return [EngineSpec(name="broken", score=broken, floor=0.5)]


def broken(query, learnings):
    raise ValueError("no vectors today")
"""


def ago(days):
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def project(beads):
    """A project whose work is known by its ticket, so that a start looks for something."""
    beads.start_ticket("bd-1", title="Spaceship docking")
    return beads


def learn(world, learning_id=FIRST, summary=ABOUT_ORDERS, **fields):
    return world.learning(learning_id, summary, **{"created": ago(10), **fields})


def settings(world, **values):
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    (world.project / ".grove" / "config.toml").write_text("[retrieval]\n" + "\n".join(lines))


def why(world, *ids, session="session-1"):
    done = world.grove("why", *ids, "--session-id", session, "--json")
    assert (done.code, done.stderr) == (0, "")
    return done.json


def occasions(world, learning_id=FIRST, via=None, **options):
    """What `grove why` says of the occasions of a session."""
    (learning,) = why(world, learning_id, **options)["learnings"]
    return [one for one in learning["occasions"] if via in (None, one["via"])]


def outcome(world, learning_id=FIRST, via="prompt", **options):
    """The latest occasion of a kind."""
    return occasions(world, learning_id, via, **options)[-1]


def said(world, *ids):
    """The same for people, a paragraph each."""
    done = world.grove("why", *ids, "--session-id", "session-1")
    assert (done.code, done.stderr) == (0, "")
    return done.stdout.strip().split("\n\n")


def backdate(world, *kinds):
    """Moves events of the log a few seconds into the past: moments are told to the second."""
    path = world.project / ".grove" / "stats.log"
    lines = path.read_text().splitlines(keepends=True)
    moved = [
        re.sub(r'"ts":"[^"]+"', f'"ts":"{ago(0.0001)}"', line)
        if any(kind in line for kind in kinds)
        else line
        for line in lines
    ]
    path.write_text("".join(moved))


def change_state(world, change):
    """Changes a session's state on disk; moments are told to the second."""
    path = world.grove_home / "sessions" / "session-1.json"
    state = json.loads(path.read_text())
    change(state)
    path.write_text(json.dumps(state))


def recorded(world, session="session-1"):
    path = world.grove_home / "cache" / "considered" / f"{session}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


# --- shown --------------------------------------------------------------------------------------


def test_what_fits_is_shown(project):
    project.start_ticket("bd-1", title=ASKS_ORDERS, labels=["orders"])
    learn(project, files="shop/orders.py")
    agent = project.agent()
    assert FIRST in agent.starts()
    one = outcome(project, via="start")
    assert (one["outcome"], one["rank"], one["worked_out_again"]) == ("shown", 1, False)
    score = one["score"]
    product = score["relevance"] * score["recency"] * score["boost"]
    assert score["total"] == pytest.approx(product, abs=1e-4)
    assert score["parts"]
    assert one["floor"] < score["relevance"]
    assert one["shared"][0].startswith("words ")
    assert "tags orders" in one["shared"]
    assert why(project, FIRST)["learnings"][0]["shown"] is True
    assert project.grove("why", FIRST, "-q").stdout == f"{FIRST}\n"
    head, start, files = said(project, FIRST)
    assert head.splitlines() == [f"{FIRST}  pitfall  active", f"  {ABOUT_ORDERS}"]
    assert re.match(r"\S+ \S+  start  shown \(place 1\)\n  in common: words .*orders", start)
    assert "  score " in start
    assert "  relevance from " in start
    assert "not shown: shown before in this session (start)" in files


def test_what_was_shown_is_not_shown_again(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    assert FIRST in agent.asks(ASKS_ORDERS)
    assert agent.asks(ASKS_ORDERS) == ""
    start, first, second = occasions(project)[:3]
    assert [one["via"] for one in (start, first, second)] == ["start", "prompt", "prompt"]
    assert (first["outcome"], second["outcome"]) == ("shown", "shown_before")
    assert second["rank"] == 1


def test_a_compaction_shows_again(project):
    learn(project, SECOND, ABOUT_LOGIN)
    learn(project)
    agent = project.agent()
    agent.starts()
    agent.asks(ASKS_ORDERS)
    assert FIRST in agent.starts("compact")
    assert len(recorded(project)) == 2
    assert outcome(project, via="start")["outcome"] == "shown"
    assert "after a compaction" in outcome(project, via="start")["reason"]
    other = outcome(project, SECOND, via="start")
    assert (other["outcome"], other["score"]) == ("limit", None)


def test_where_nothing_is_known_the_proven_are_shown(world):
    world.initialise()
    for number in range(5):
        learn(world, f"cl_20260102_{number:06}", f"{ABOUT_ORDERS} {number * 'again '}")
    learn(world, SECOND, ABOUT_LOGIN, personal=True)
    learn(world, THIRD, "Spaceships dock with their lights on", created=ago(400))
    agent = world.agent()
    agent.starts()
    outcomes = {one: outcome(world, one, via="start") for one in ("cl_20260102_000000", SECOND)}
    assert {one["outcome"] for one in outcomes.values()} <= {"shown", "nothing_in_common"}
    assert "nothing was known about the work" in outcomes[SECOND]["reason"]
    assert "only the project's own" in outcomes[SECOND]["reason"]
    assert recorded(world)[0]["query"]["words"] == {}


# --- not shown, by its verdict ------------------------------------------------------------------


def test_below_the_floor(project):
    for number in range(12):
        learn(project, f"cl_20260102_{number:06}", f"The order of rows {'and ' * number}{number}")
    learn(project, SECOND, ABOUT_LOGIN)
    agent = project.agent()
    agent.starts()
    question = f"How do zeppelins {SECRET} moor in the hangar of a rusty mast, in which order?"
    assert agent.asks(question) == ""
    one = outcome(project, "cl_20260102_000003")
    assert one["outcome"] == "below_floor"
    assert one["score"]["relevance"] < one["floor"]
    assert one["reason"].startswith("relevance 0.")
    assert one["shared"] == ["words order"]
    assert one["unknown_words"] >= 5
    assert SECRET not in json.dumps(one)
    told = said(project, "cl_20260102_000003")[2]
    assert "not shown (place " in told
    assert "that no learning holds" in told


def test_a_strategy_that_asks_for_more(project):
    settings(project, strategy="conservative")
    learn(project, tags="zeppelins")
    agent = project.agent()
    agent.starts()
    assert agent.asks(ASKS_ORDERS) == ""
    one = outcome(project)
    assert (one["outcome"], one["rank"]) == ("strategy", 1)
    assert "conservative" in one["reason"]


def test_a_strategy_that_asks_for_more_of_what_is_worked_out_again(project):
    settings(project, strategy="conservative", max_per_prompt=1)
    learn(project, tags="order")
    learn(project, SECOND, "Any query for an order names its rows", tags="query", created=ago(80))
    learn(project, THIRD, "One order and one query run at night", tags="runs", created=ago(80))
    agent = project.agent()
    agent.starts()
    assert FIRST in agent.asks(ASKS_ORDERS)
    assert outcome(project, SECOND)["outcome"] == "limit"
    assert outcome(project, THIRD)["outcome"] == "strategy"
    path = project.grove_home / "cache" / "considered" / "session-1.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[-1]["verdicts"] = lines[-1]["verdicts"][:1]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert outcome(project, SECOND)["worked_out_again"]
    assert outcome(project, SECOND)["outcome"] == "not_among_best"
    # The stem of its tag is that of a word that was said; the tag itself was not said.
    assert outcome(project, THIRD)["outcome"] == "strategy"


def test_others_come_first(project):
    settings(project, max_per_prompt=1)
    learn(project)
    learn(project, SECOND, ABOUT_LOGIN, created=ago(80))
    agent = project.agent()
    agent.starts()
    shown = FIRST if FIRST in agent.asks(ASKS_BOTH) else SECOND
    (other,) = {FIRST, SECOND} - {shown}
    one = outcome(project, other)
    assert (one["outcome"], one["rank"], one["before"]) == ("limit", 2, [shown])
    assert f"shown before it: {shown}" in said(project, other)[2]


def test_another_says_the_same(project):
    learn(project, created=ago(3))
    learn(project, SECOND, ABOUT_ORDERS, created=ago(5))
    agent = project.agent()
    agent.starts()
    assert SECOND not in agent.asks(ASKS_ORDERS)
    one = outcome(project, SECOND)
    assert one["outcome"] == "says_the_same"
    assert one["reason"] == f"says the same as {FIRST}"


def test_no_room_in_the_text(project):
    settings(project, max_chars=1000)
    detail = " ".join(f"Word{number}" for number in range(60))
    learn(project, SECOND, ABOUT_LOGIN)
    learn(project, detail=f"{detail}\n" * 3)
    agent = project.agent()
    agent.starts()
    context = agent.asks(ASKS_BOTH)
    assert SECOND in context
    assert FIRST not in context
    one = outcome(project)
    assert (one["outcome"], one["reason"]) == ("no_room", "no room left in max_chars")
    assert outcome(project, SECOND)["outcome"] == "shown"


# --- not shown, and not among the verdicts ------------------------------------------------------


def test_nothing_in_common(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    one = outcome(project, via="start")
    assert (one["outcome"], one["rank"], one["score"]) == ("nothing_in_common", None, None)
    assert one["worked_out_again"] is True
    assert one["shared"] == []
    assert "worked out again with the learnings of now" in said(project, FIRST)[1]


def test_written_later(project):
    learn(project, SECOND, ABOUT_LOGIN)
    agent = project.agent()
    agent.starts()
    agent.asks(ASKS_ORDERS)
    learn(project, created=ago(-0.001))
    for via in ("start", "prompt"):
        one = outcome(project, via=via)
        assert one["outcome"] == "not_written_yet"
        assert "it was written later" in one["reason"]


@pytest.mark.parametrize(
    ("words", "said_of_it"),
    [
        (("archive", FIRST), "it has been archived since "),
        (("supersede", FIRST, "--by", SECOND), "it has been superseded since "),
    ],
)
def test_no_longer_active(project, words, said_of_it):
    learn(project)
    learn(project, SECOND, ABOUT_LOGIN)
    first = project.agent("session-0")
    first.starts()
    assert FIRST in first.asks(ASKS_ORDERS)
    assert project.grove("maintain", *words).code == 0
    backdate(project, 'archived"', 'corrected"')
    agent = project.agent()
    agent.starts()
    agent.asks(ASKS_ORDERS)
    one = outcome(project)
    assert one["outcome"] == "not_active"
    assert one["reason"].startswith(said_of_it)
    # What happened before is as it was.
    assert outcome(project, session="session-0")["outcome"] == "shown"
    assert outcome(project, via="file")["outcome"] == "not_active"


def test_restored_since(project):
    learn(project)
    project.grove("maintain", "archive", FIRST)
    backdate(project, 'archived"')
    project.agent().starts()
    project.grove("maintain", "restore", FIRST)
    assert outcome(project, via="start")["outcome"] == "not_active"
    assert why(project, FIRST)["learnings"][0]["status"] == "active"


def test_decayed_after_it_was_considered(project):
    """The archive has the second of the start, and came after it."""
    learn(project, created=ago(200))
    project.agent().starts()
    assert project.events("archived")
    assert outcome(project, via="start")["outcome"] == "nothing_in_common"


def test_archived_by_hand(project):
    learn(project, status="archived")
    project.agent().starts()
    assert outcome(project, via="start")["reason"] == "it is archived; no event says since when"


UNSTEADY = """
import os
from datetime import UTC, datetime
import grove_core as grove

LEARNING = grove.Learning(
    id="cl_far", category=grove.Category.PITFALL, session_id="s",
    summary="OrderReport.rows() runs one query per order", detail="Prefetch them, or wait long.",
    timestamp=datetime(2026, 1, 2, tzinfo=UTC),
)

class Unsteady:
    name = "elsewhere"
    capabilities = frozenset(CAPABILITIES)
    def write(self, learning): raise grove.BackendError("no")
    def search(self, query, filters):
        self.ping()
        return [grove.Hit(learning=LEARNING, relevance=0.9, reasons=("it is far",))]
    def get(self, learning_id): return LEARNING if learning_id == LEARNING.id else None
    def set_status(self, learning_id, status, note=""): raise grove.BackendError("no")
    def iterate(self):
        self.ping()
        return [LEARNING]
    def ping(self):
        if os.path.exists(os.environ["DOWN"]): raise grove.BackendError("no route")
        return grove.Health(ok=True, detail="fine")

@grove.hookimpl
def grove_memory_backends():
    detect = lambda context: grove.Detection(marker="always")
    return [grove.BackendSpec(name="elsewhere", detect=detect, open=lambda context: Unsteady())]
"""


@pytest.mark.parametrize("capabilities", ["{grove.Capability.GET}", "{grove.Capability.ITERATE}"])
def test_a_backend_that_could_not_be_reached(project, capabilities):
    source = UNSTEADY.replace("CAPABILITIES", capabilities)
    project.install_plugin("elsewhere", source, group="grove.backends")
    down = project.others / "down"
    down.touch()
    project.environment["DOWN"] = str(down)
    agent = project.agent()
    agent.starts()
    agent.asks(ASKS_ORDERS)
    down.unlink()
    one = outcome(project, "cl_far")
    # Meanwhile a process in the background may be trying to list it; then the prompt does not.
    assert (one["outcome"], one["reason"]) in {
        ("not_reached", "its backend elsewhere could not be reached"),
        ("not_indexed", "not all learnings were in the index yet, and it was not found"),
    }
    assert "cl_far" in agent.asks(ASKS_ORDERS)
    assert outcome(project, "cl_far")["outcome"] == "shown"


def test_an_index_that_was_not_complete(project):
    learn(project)
    project.agent().starts()
    path = project.grove_home / "cache" / "considered" / "session-1.jsonl"
    path.write_text(path.read_text().replace('"complete":true', '"complete":false'))
    assert outcome(project, via="start")["outcome"] == "not_indexed"
    assert "not all learnings were in the index" in project.grove("why").stdout


def test_not_among_the_best(project):
    for number in range(25):
        learn(project, f"cl_20260102_{number:06}", f"{ABOUT_ORDERS} {number}", tags=f"t{number}")
        for other in range(8):
            other_id = f"cl_20260102_{other}{number:05}x"
            learn(project, other_id, f"Zeppelin {other} moors at mast {number}", tags="masts")
    learn(project, detail=f"Rows and orders. {'Much else is to be said here. ' * 30}")
    agent = project.agent()
    agent.starts()
    agent.asks(ASKS_ORDERS)
    assert len(recorded(project)[-1]["verdicts"]) == 20
    one = outcome(project)
    assert (one["outcome"], one["worked_out_again"]) == ("not_among_best", True)
    assert one["reason"] == "the best 20 of 26 that were found fit better"
    assert one["score"]["total"] > 0


def test_prompts_that_bring_up_nothing(project):
    settings(project, on_prompt=False)
    learn(project)
    agent = project.agent()
    agent.starts()
    agent.asks(ASKS_ORDERS)
    one = outcome(project)
    assert (one["outcome"], one["reason"]) == ("switched_off", "retrieval.on_prompt is off")


def test_prompts_that_may_bring_up_no_more(project):
    settings(project, max_per_session=1)
    learn(project)
    learn(project, SECOND, ABOUT_LOGIN, tags="login")
    agent = project.agent()
    agent.starts()
    assert FIRST in agent.asks(ASKS_ORDERS)
    change_state(project, lambda state: state["injected"][0].update(injected_at=ago(0.01)))
    assert agent.asks(ASKS_LOGIN) == ""
    one = outcome(project, SECOND)
    assert one["outcome"] == "session_limit"
    assert "prompts had already brought up 1" in one["reason"]


def test_a_limit_that_was_reached_in_the_same_second(project):
    settings(project, max_per_session=1)
    learn(project)
    learn(project, SECOND, ABOUT_LOGIN, tags="login")
    agent = project.agent()
    agent.starts()
    assert FIRST in agent.asks(ASKS_ORDERS)
    assert agent.asks(ASKS_LOGIN) == ""
    last = outcome(project, SECOND)["at"]
    change_state(project, lambda state: state["injected"][0].update(injected_at=last))
    assert outcome(project, SECOND)["outcome"] == "session_limit"


def test_what_a_prompt_shows_was_not_shown_before_a_start_in_the_same_second(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    assert FIRST in agent.asks(ASKS_ORDERS)
    start = outcome(project, via="start")["at"]
    change_state(project, lambda state: state["injected"][0].update(injected_at=start))
    assert outcome(project, via="start")["outcome"] == "nothing_in_common"


def test_a_session_that_never_started(project):
    learn(project)
    agent = project.agent()
    assert FIRST in agent.asks(ASKS_ORDERS)
    start, prompt = occasions(project)[:2]
    assert (start["via"], start["outcome"]) == ("start", "not_started")
    assert prompt["outcome"] == "shown"
    done = project.grove("why", FIRST, "--session-id", "session-9", "--json")
    assert done.code == 1
    assert "there is no session session-9" in done.json["error"]


def test_what_is_not_on_record(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    agent.asks("Thank you.")
    (project.grove_home / "cache" / "considered" / "session-1.jsonl").unlink()
    assert {one["outcome"] for one in occasions(project)[:2]} == {"not_recorded"}
    agent.asks(ASKS_ORDERS)
    (project.grove_home / "cache" / "considered" / "session-1.jsonl").unlink()
    assert outcome(project)["outcome"] == "shown"


def test_an_engine_of_a_plugin(project):
    settings(project, engine="rules")
    learn(project)
    agent = project.agent()
    agent.starts()
    assert FIRST in agent.asks(ASKS_ORDERS)
    assert outcome(project)["outcome"] == "shown"
    one = outcome(project, via="start")
    assert one["outcome"] == "not_among_best"
    assert "the engine rules" in one["reason"]


def test_an_engine_of_a_plugin_says_itself_why(project):
    settings(project, engine="rules")
    learn(project)
    agent = project.agent()
    agent.starts()
    agent.asks(f"{ASKS_ORDERS} orders")
    one = outcome(project)
    assert (one["outcome"], one["shared"]) == ("shown", [])
    assert one["score"]["parts"] == {}
    assert one["score"]["reasons"]
    (prompt,) = [part for part in said(project, FIRST) if "  prompt  " in part]
    assert f"relevance because of {', '.join(one['score']['reasons'])}" in prompt
    assert "in common" not in prompt


# --- touched files ------------------------------------------------------------------------------


def touch(agent, path):
    place = agent.world.project / path
    place.parent.mkdir(exist_ok=True)
    place.write_text("rows = []\n")
    tool_input = {"file_path": str(place)}
    agent.silent("PreToolUse", tool_name="Read", tool_input=tool_input, tool_use_id="call")
    done = agent.send(
        "PostToolUse",
        tool_name="Read",
        tool_input=tool_input,
        tool_use_id="call",
        tool_response={},
    )
    return agent.context(done)


def test_beside_a_file(project):
    learn(project, files="shop/orders.py")
    learn(project, SECOND, ABOUT_LOGIN, files="shop/orders.py", confidence="low", created=ago(60))
    agent = project.agent()
    agent.starts()
    waiting = outcome(project, via="file")
    assert (waiting["outcome"], waiting["reason"]) == (
        "not_touched",
        "no touch of shop/orders.py was seen",
    )
    assert FIRST in touch(agent, "shop/orders.py")
    one = outcome(project, via="file")
    assert (one["outcome"], one["reason"]) == ("shown", "shown when shop/orders.py was touched")
    other = outcome(project, SECOND, via="file")
    assert other["outcome"] == "limit"
    assert f"when shop/orders.py was touched, {FIRST} came first" in other["reason"]


def test_not_beside_a_file(project):
    learn(project, files="shop/orders.py")
    learn(project, SECOND, ABOUT_LOGIN, category="pattern", files="shop/login.py")
    learn(project, THIRD, "Spaceships dock with their lights on")
    agent = project.agent()
    agent.starts()
    assert outcome(project, SECOND, via="file")["outcome"] == "not_for_files"
    assert "it is a pattern" in outcome(project, SECOND, via="file")["reason"]
    assert "it names no file" in outcome(project, THIRD, via="file")["reason"]
    settings(project, on_file=False)
    one = outcome(project, via="file")
    assert (one["outcome"], one["reason"]) == ("switched_off", "retrieval.on_file is off")


def test_no_more_beside_files(project):
    settings(project, max_per_file_session=1)
    learn(project, files="shop/orders.py")
    learn(project, SECOND, ABOUT_LOGIN, files="shop/login.py")
    agent = project.agent()
    agent.starts()
    assert FIRST in touch(agent, "shop/orders.py")
    one = outcome(project, SECOND, via="file")
    assert one["outcome"] == "session_limit"


# --- the command --------------------------------------------------------------------------------


def test_without_an_id_it_lists_what_was_considered_last(project):
    assert project.agent().starts() == ""
    assert why(project)["occasion"]["considered"] == []
    settings(project, max_per_prompt=1)
    learn(project)
    learn(project, SECOND, "One order in ten has no rows in any report", tags="other")
    project.agent().asks(ASKS_ORDERS)
    occasion = why(project)["occasion"]
    assert (occasion["via"], occasion["found"], occasion["limit"]) == ("prompt", 2, 1)
    assert [one["id"] for one in occasion["considered"]] == [FIRST, SECOND]
    assert [one["rank"] for one in occasion["considered"]] == [1, 2]
    assert occasion["query"]["words"]
    head, titles, first, second = project.grove("why").stdout.splitlines()
    assert re.search(
        r"  prompt: 2 found, 1 shown \(at most 1, floor \S+, moderate, default\)", head
    )
    assert titles.split() == ["place", "score", "relevance", "recency", "boost", "id", "reason"]
    assert first.split()[0] == "1"
    assert first.split()[-2:] == [FIRST, "shown"]
    assert SECOND in second
    assert project.grove("why", "-q").stdout.split() == [FIRST, SECOND]


def test_nothing_was_considered(project):
    project.agent().announces(command="bd close bd-1")
    assert why(project)["occasion"] is None
    done = project.grove("why")
    assert done.stdout == "Nothing was considered in session session-1 yet.\n"


def test_unknown_ids_are_named_with_what_is_like_them(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    done = agent.grove("why", FIRST, f"{FIRST[:-1]}b", "--json")
    assert done.code == 1
    assert done.json["unknown"] == [f"{FIRST[:-1]}b"]
    assert [one["id"] for one in done.json["learnings"]] == [FIRST]
    assert done.stderr == f"grove: {done.json['error']}\n"
    assert done.json["error"].endswith(f"did you mean {FIRST}?")
    far = project.grove("why", "zeppelin")
    assert "`grove list --all` names those there are" in far.stderr


def test_a_learning_that_is_gone_is_still_explained(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    assert FIRST in agent.asks(ASKS_ORDERS)
    project.learnings_file.write_text("")
    (learning,) = why(project, FIRST)["learnings"]
    assert (learning["status"], learning["summary"]) == ("gone", None)
    assert [one["outcome"] for one in learning["occasions"] if one["via"] == "prompt"] == ["shown"]
    assert said(project, FIRST)[0] == f"{FIRST}  gone"


def test_the_record_keeps_no_secret(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    agent.asks(f"{ASKS_ORDERS} My password is {SECRET}, the file is {SECRET}/x.py")
    path = project.grove_home / "cache" / "considered" / "session-1.jsonl"
    assert len(recorded(project)) == 2
    assert SECRET not in path.read_text()
    assert "password" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    holders = [
        one
        for one in project.grove_home.rglob("*")
        if one.is_file() and SECRET.encode() in one.read_bytes()
    ]
    assert holders == []


def test_a_record_that_cannot_be_kept_stops_nothing(project):
    learn(project)
    (project.grove_home / "cache").mkdir(parents=True)
    (project.grove_home / "cache" / "considered").write_text("in the way")
    agent = project.agent()
    agent.starts()
    assert FIRST in agent.asks(ASKS_ORDERS)
    assert project.log("crash.log") == ""
    assert outcome(project)["outcome"] == "shown"


def test_a_session_that_is_deleted_takes_its_record_along(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    path = project.grove_home / "cache" / "considered" / "session-1.jsonl"
    assert str(path) in project.grove("debug", "session-1", "--json").json["derived"]
    agent.ends()
    change_state(project, lambda state: state.update(updated_at=ago(2)))
    assert project.grove("clean", "--before", "3d").code == 0
    assert path.exists()
    assert project.grove("clean", "--before", "1d").code == 0
    assert not path.exists()


def test_debug_shows_every_component_of_every_score(project):
    learn(project)
    agent = project.agent()
    agent.starts()
    agent.asks(ASKS_ORDERS)
    found = project.grove("debug", "session-1", "--json").json["considered"]
    assert [one["via"] for one in found] == ["start", "prompt"]
    score = found[1]["considered"][0]["score"]
    assert score["parts"]
    (section,) = [
        part
        for part in project.grove("debug", "session-1").stdout.split("\n\n")
        if part.startswith("Learnings considered\n")
    ]
    lines = section.splitlines()
    assert "  start: 0 found, 0 shown" in lines[1]
    assert "  prompt: 1 found, 1 shown" in lines[2]
    assert FIRST in lines[4]
    told = {name: float(value) for name, value in re.findall(r"(\w+) ([+-]\d+\.\d+)", lines[5])}
    assert told == pytest.approx(
        {name: one for name, one in score["parts"].items() if one}, abs=0.01
    )


def test_search_says_what_matched(project):
    learn(project, files="shop/orders.py")
    done = project.grove("search", "queries", "of", "orders", "--json")
    (hit,) = done.json["results"]
    assert hit["reasons"] == ["words query, order"]
    assert hit["score"]["parts"]
    told = project.grove("search", "queries", "of", "orders", "--explain").stdout
    assert "in common: words query, order" in told
    settings(project, engine="rules")
    (hit,) = project.grove("search", "orders", "--json").json["results"]
    assert hit["reasons"] == hit["score"]["reasons"] == ["tag orders"]
    assert hit["score"]["parts"] == {}
    told = project.grove("search", "orders", "--explain").stdout
    assert "relevance because of tag orders\n" in told
    assert "in common" not in told


@pytest.mark.parametrize("engine", ["wishful", "broken"])
def test_what_the_index_has_judged_is_told_as_its_own(project, engine):
    project.install_plugin("broken_engine", BROKEN_ENGINE)
    settings(project, engine=engine)
    learn(project)
    (hit,) = project.grove("search", "queries", "of", "orders", "--json").json["results"]
    assert hit["reasons"] == ["words query, order"]
    assert "text" in hit["score"]["parts"]
    agent = project.agent()
    agent.starts()
    assert FIRST in agent.asks(ASKS_ORDERS)
    assert recorded(project)[-1]["engine"] == "default"
    assert outcome(project)["shared"][0].startswith("words ")
