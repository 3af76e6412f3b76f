"""`grove reflect` and its neighbours: secrets, echoes, the write gate's modes, dry runs, ratings."""

import json

import pytest

from grove_core.reflection.secrets import FoundSecret

SECRET = "glpat-" + "x7Kq2mN9pR4tV8wZ1bC3"


WEAK = {
    "category": "pattern",
    "summary": "Always write clean and readable code",
    "detail": "Readable code is easier to maintain, so take care to write good code.",
    "tags": ["quality"],
    "criteria_met": ["behavior_changing"],
}


def state(folder):
    """Every byte that lies below a folder, but for the cache of plugins' commands."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if not path.match("cache/commands-*.json")}


def assert_nowhere(world, *finished):
    """The secret is in no file and in nothing that was printed."""
    for path, data in state(world.folder).items():
        assert SECRET.encode() not in data, path
    for done in finished:
        assert SECRET not in done.stdout + done.stderr


FIELDS = {
    "summary": f"The runner is registered with {SECRET} for shop/export.py",
    "detail": f"The runner of shop/export.py is registered with {SECRET}, which lasts 90 days.",
    "tags": ["runner", SECRET],
    "context_files": [f"shop/{SECRET}.py"],
    "supersedes": [SECRET],
    "category": SECRET,
    "scope": SECRET,
    "criteria_met": [SECRET],
    "surplus": {"deep": [SECRET]},
    SECRET: 1,
}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--file", "candidates.json"), 2, "a learning needs --summary; JSON is read from"),
        (("--summary", "Too short: x", "--detail", "x"), 1, "detail: has 1 character, give"),
        (("--summary", "x" * 20, "--category", "pitfal"), 1, "give one of pattern, pitfall"),
        ((), 1, "Give --summary, --detail and --category"),
    ],
)
def test_what_is_wrong_with_options(blocked, words, code, said):
    done = blocked.grove("reflect", *words)
    assert done.code == code
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_a_wrong_field_of_the_whole_is_named(blocked):
    done = blocked.grove("reflect", stdin='{"learnings": []}')
    assert 'no candidate, "learnings" is unknown; submit at least one in "cand' in done.stderr


@pytest.mark.parametrize("personal", [False, True])
@pytest.mark.parametrize("field", FIELDS, ids=[str(at) for at in range(len(FIELDS))])
def test_a_secret_in_a_candidate_is_written_nowhere(beads, blocked, candidate, field, personal):
    scope = {"scope": "personal"} if personal else {}
    sent = {**candidate(), **scope, field: FIELDS[field]}
    done = blocked.grove("reflect", "--json", stdin=json.dumps({"candidates": [sent]}))
    assert done.code == 1
    (refused,) = done.json["rejected"]
    assert refused["stage"] == "secret"
    assert "secrets.allow" in refused["reason"]
    assert candidate()["summary"] not in json.dumps(done.json)
    again = blocked.grove("reflect", "--dry-run", stdin=json.dumps({"candidates": [sent]}))
    brief = blocked.grove("reflect", "--brief")
    blocked.is_blocked()
    is_personal = personal and field != "scope"
    (event,) = beads.events("rejected", personal=is_personal)
    assert beads.events("rejected", personal=not is_personal) == []
    assert event["stage"] == "secret"
    assert event.get("tags", []) == []
    assert event["summary"].startswith("(withheld, sha256 ")
    assert_nowhere(beads, done, again, brief)


def test_a_secret_beside_the_candidates_is_written_nowhere(beads, blocked, candidate):
    beads.learning("cl_old", "OrderStore keeps rows of deleted orders for ninety days")
    sent = {
        "candidates": [candidate()],
        "learnings_used": [{"id": "cl_old", "how": f"as {SECRET} showed"}],
        "corrections": [{"id": "cl_old", "why": f"as {SECRET} showed"}],
        "notes": f"see {SECRET}",
        "nothing_learned": f"the token is {SECRET}",
        SECRET: "surplus",
    }
    done = blocked.grove("reflect", stdin=json.dumps(sent))
    assert done.code == 0
    (used,) = beads.events("referenced")
    assert used["learning_id"] == "cl_old"
    assert used.get("how") is None
    assert len(beads.events("corrected")) == 1
    for name in ("learnings_used.how", "corrections.why", "notes", "nothing_learned"):
        assert f"{name}: holds what looks like a secret" in done.stderr
    assert_nowhere(beads, done)


@pytest.mark.parametrize(
    "words",
    [("skip", f"only {SECRET} was changed"), ("observe", f"the runner has {SECRET}"), ("reflect",)],
)
def test_a_reason_with_a_secret_opens_nothing(beads, blocked, words):
    before = state(beads.grove_home)
    nothing = json.dumps({"nothing_learned": f"only {SECRET} was changed"})
    done = blocked.grove(*words, stdin=nothing)
    assert done.code == 1
    assert "looks like a secret" in done.stderr
    assert state(beads.grove_home) == before
    blocked.is_blocked()
    assert beads.events("skip") == []
    assert_nowhere(beads, done)


def test_a_false_alarm_is_let_pass_by_its_digest(world, candidate):
    world.initialise(f'[secrets]\nallow = ["{FoundSecret("", SECRET).digest}"]\n')
    world.use_beads()
    agent = world.agent()
    agent.closes("bd-1")
    done = agent.reflects(candidate(context_files=[f"shop/{SECRET}.py"]))
    assert done.code == 0


@pytest.mark.parametrize(
    ("mode", "code", "outcome"),
    [("enforce", 1, "refused (write_gate)"), ("warn", 0, "accepted, though"), ("off", 0, "")],
)
def test_the_mode_of_the_write_gate(world, mode, code, outcome):
    world.initialise(f'[gate.write_gate]\nmode = "{mode}"\n')
    world.use_beads()
    agent = world.agent()
    agent.closes("bd-1")
    done = agent.grove("reflect", stdin=json.dumps(WEAK))
    assert done.code == code
    assert outcome in done.stdout + done.stderr
    assert ("accepted, though" in done.stdout) is (mode == "warn")
    rejected = [one["stage"] for one in world.events("rejected")]
    assert rejected == (["write_gate"] if mode == "enforce" else [])


SHOWN = "OrderStore.export() holds a lock on the orders table while it writes"


DETAIL = (
    "OrderStore.export() in shop/export.py takes LOCK IN SHARE MODE, so checkouts wait for minutes"
    " and customers give up. Only the nightly job may call it."
)


@pytest.mark.parametrize("personal", [False, True])
def test_what_was_shown_is_not_handed_in_again(beads, candidate, personal):
    beads.learning("cl_old", SHOWN, detail=DETAIL, personal=personal, tags="orders")
    beads.start_ticket("bd-1", title=SHOWN)
    agent = beads.agent()
    agent.starts()
    shown = [one["learning_id"] for one in beads.session()["injected"]]
    assert shown == ["cl_old"]
    agent.closes("bd-1")
    agent.is_blocked()
    echo = candidate(summary="The orders table is locked by OrderStore.export()", detail=DETAIL)
    done = agent.reflects(echo)
    assert done.code == 1
    (refused,) = done.json["rejected"]
    assert (refused["stage"], refused["existing_id"]) == ("duplicate", "cl_old")
    assert len(beads.events("rejected", personal=personal)) == 1
    assert beads.events("rejected", personal=not personal) == []


def test_a_dry_run_changes_nothing(beads, blocked, candidate):
    before = state(beads.folder)
    sent = {"candidates": [candidate(), WEAK, {"summary": "no"}, {**candidate(2), "x": SECRET}]}
    done = blocked.grove("reflect", "--dry-run", "--json", stdin=json.dumps(sent))
    assert done.code == 0
    assert state(beads.folder) == before
    answer = done.json
    assert answer["opens"] is True
    assert answer["gate"] == "blocked"
    assert [one["summary"] for one in answer["accepted"]] == [candidate()["summary"]]
    assert [(one["position"], one["stage"]) for one in answer["rejected"]] == [
        (1, "write_gate"),
        (2, "schema"),
        (3, "secret"),
    ]
    blocked.is_blocked()


def test_a_rating_is_logged_once(beads, blocked, candidate):
    beads.learning("cl_old", "OrderStore keeps rows of deleted orders for ninety days")
    beads.learning("cl_own", "The author prefers short commits", personal=True)
    ratings = [
        {"id": "cl_old", "useful": False},
        {"id": "cl_own", "useful": True},
        {"id": "cl_nope", "useful": True},
    ]
    for _ in range(2):
        done = blocked.reflects(candidate(), ratings=ratings)
        assert done.code == 0
    (event,) = beads.events("rated")
    assert (event["learning_id"], event["useful"]) == ("cl_old", False)
    (own,) = beads.events("rated", personal=True)
    assert (own["learning_id"], own["useful"]) == ("cl_own", True)


def test_a_lesson_refused_twice_is_kept_the_third_time(beads, blocked):
    for _ in range(2):
        refused = blocked.grove("reflect", stdin=json.dumps(WEAK))
        assert (refused.code, beads.learning_ids()) == (1, [])
    kept = blocked.grove("reflect", stdin=json.dumps(WEAK))
    assert "note: kept with confidence low: It names no file" in kept.stdout
    assert "The gate is open." in kept.stdout
    (one,) = beads.grove("list", "--json").json["learnings"]
    assert one["confidence"] == "low"
    assert "already stored" in blocked.grove("reflect", stdin=json.dumps(WEAK)).stdout


def test_two_submissions_of_one_second_are_two(beads, blocked):
    for summary, detail in LESSONS[:2]:
        weak = WEAK | {"summary": summary, "detail": detail, "category": "none"}
        blocked.grove("reflect", stdin=json.dumps(weak))
    first, second = beads.events("reflection")
    assert first | {"ts": ""} != second | {"ts": ""}


LESSONS = [
    (
        "The tills update at 3 on Fridays",
        "There is no rollback until Monday, so nothing is merged.",
    ),
    ("lxml 5 has lost the HTML cleaner", "The newsletter fails at its first render, not at start."),
    ("A parcel can have two tracking numbers", "The local post gives its own; match by shipment."),
    (
        "Redis keys of deleted users stay",
        "The purge knows tables only. Set an expiry for every key.",
    ),
    ("Station 12 freezes at -20 degrees", "The brown-out level is too high; level 1 works."),
    ("Invoices are corrected by credit notes", "The auditors refused a quarter we had edited."),
]


def test_a_flood_stores_five_and_says_which(beads, blocked):
    flood = [WEAK | {"summary": one, "detail": two} for one, two in LESSONS]
    done = blocked.grove("reflect", "--json", stdin=json.dumps(flood))
    assert len(done.json["accepted"]) == len(beads.learning_ids()) == 5
    (left,) = done.json["rejected"]
    assert "a reflection stores 5 (reflection.max_learnings)" in left["reason"]
    again = blocked.grove("reflect", stdin=json.dumps(flood[left["position"]]))
    assert (again.code, len(beads.learning_ids())) == (1, 5)
    assert "one in 10 is enough" in again.stderr


@pytest.mark.parametrize("reason", ["done", "n/a n/a n/a", "aaaaaaaaaaaaaa", "done done done"])
def test_a_skip_needs_a_reason_that_says_something(blocked, reason):
    refused = blocked.grove("skip", reason)
    assert (refused.code, blocked.grove("status", "--json").json["session"]["gate"]) == (
        1,
        "blocked",
    )


def test_skips_of_agents_in_a_row_are_named_at_the_next_start(beads, blocked, candidate):
    said = "agents have skipped the last 3 reflections here"
    for at in range(3):
        assert said not in beads.agent(f"start-{at}").starts()
        words = ("skip", f"only typo number {at} was fixed", "--decider", "agent")
        assert blocked.grove(*words).code == 0
    shown = beads.agent("next").starts()
    assert said in shown
    assert "only typo number 2 was fixed" in shown
    assert blocked.reflects(candidate(1)).code == 0
    assert said not in beads.agent("last").starts()
