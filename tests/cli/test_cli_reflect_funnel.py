"""`grove reflect` and its neighbours: secrets, echoes, the write gate's modes, dry runs, ratings."""

import json

import pytest

from grove_core.reflection.json_schema import example_submission
from grove_core.reflection.secrets import digest_of

SECRET = "glpat-" + "x7Kq2mN9pR4tV8wZ1bC3"
WEAK = {
    "category": "pattern",
    "summary": "Always write clean and readable code",
    "detail": "Readable code is easier to maintain, so take care to write good code.",
    "tags": ["quality"],
    "criteria_met": ["behavior_changing"],
}


@pytest.fixture
def blocked(beads):
    """An agent that owes a reflection."""
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    return agent


def state(folder):
    """Every byte that lies below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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


def test_a_use_is_recorded_without_the_secret(beads, blocked):
    beads.learning("cl_old", "OrderStore keeps rows of deleted orders for ninety days")
    done = blocked.grove("ref", "cl_old", "--how", f"with {SECRET} in hand")
    assert done.code == 0
    assert "recorded without it" in done.stderr
    assert [one.get("how") for one in beads.events("referenced")] == [None]
    assert_nowhere(beads, done)


def test_a_false_alarm_is_let_pass_by_its_digest(world, candidate):
    world.initialise(f'[secrets]\nallow = ["{digest_of(SECRET)}"]\n')
    world.use_beads()
    agent = world.agent()
    agent.closes("bd-1")
    done = agent.reflects(candidate(context_files=[f"shop/{SECRET}.py"]))
    assert done.code == 0


# --- the write gate and the form ----------------------------------------------------------------


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
    rejected = beads_rejections(world)
    assert rejected == (["write_gate"] if mode == "enforce" else [])


def beads_rejections(world):
    return [one["stage"] for one in world.events("rejected")]


# --- duplicates and echoes ----------------------------------------------------------------------

SHOWN = "OrderStore.export() holds a lock on the orders table while it writes"
DETAIL = (
    "OrderStore.export() in shop/export.py takes LOCK IN SHARE MODE, so checkouts wait for minutes"
    " and customers give up. Only the nightly job may call it."
)


def test_the_same_in_other_words_is_refused_and_may_supersede(beads, blocked, candidate):
    beads.learning("cl_old", SHOWN, detail=DETAIL)
    words = {
        "summary": "While OrderStore.export() writes, the orders table stays locked",
        "detail": (
            "Checkouts wait for minutes and customers give up, so only the nightly job may call it:"
            " shop/export.py takes LOCK IN SHARE MODE."
        ),
        "context_files": [],
        "tags": ["orders"],
    }
    done = blocked.reflects(candidate(**words))
    assert done.code == 1
    (refused,) = done.json["rejected"]
    assert (refused["stage"], refused["existing_id"]) == ("duplicate", "cl_old")
    assert SHOWN in refused["reason"]
    assert blocked.reflects(candidate(**words, supersedes=["cl_old"])).code == 0


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


# --- plugins ------------------------------------------------------------------------------------

OBJECTING = """
import grove_core as grove

@grove.hookimpl
def grove_check_candidate(candidate, context):
    {body}
"""


def test_an_objection_comes_under_its_plugins_name(beads, blocked, candidate):
    body = 'return grove.Rejection(reason="name the customer", field="detail")'
    beads.install_plugin("house_rules", OBJECTING.format(body=body))
    done = blocked.reflects(candidate())
    assert done.code == 1
    (refused,) = done.json["rejected"]
    assert refused["stage"] == "plugin"
    assert refused["reason"] == "plugin house_rules: name the customer"


def test_a_check_that_fails_refuses_nothing(beads, blocked, candidate):
    beads.install_plugin("house_rules", OBJECTING.format(body='raise RuntimeError("boom")'))
    done = blocked.reflects(candidate())
    assert done.code == 0
    assert "house_rules" in done.stderr


# --- dry runs and ratings -----------------------------------------------------------------------


def test_a_dry_run_changes_nothing(beads, blocked, candidate):
    before = state(beads.folder)
    sent = {"candidates": [candidate(), WEAK, {"summary": "no"}, {**candidate(2), "x": SECRET}]}
    done = blocked.grove("reflect", "--dry-run", "--json", stdin=json.dumps(sent))
    assert done.code == 0
    assert state(beads.folder) == before
    answer = done.json
    assert answer["opens"] is True
    assert answer["gate"] == "blocked"
    found = [(one["position"], one["outcome"], one.get("stage")) for one in answer["candidates"]]
    assert found == [
        (0, "accepted", None),
        (1, "rejected", "write_gate"),
        (2, "rejected", "schema"),
        (3, "rejected", "secret"),
    ]
    good, weak = (one["write_gate"] for one in answer["candidates"][:2])
    assert good["score"] >= good["threshold"] > weak["score"]
    assert {"name", "value", "points"} == set(good["components"][0])
    blocked.is_blocked()


def test_a_dry_run_of_what_would_be_refused_says_so(beads, blocked):
    done = blocked.grove("reflect", "--dry-run", stdin=json.dumps(WEAK))
    assert done.code == 1
    assert "1. would be refused (write_gate)" in done.stdout
    assert beads.events("rejected") == []


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


# --- what is said beside the candidates ---------------------------------------------------------


def test_a_dry_run_warns_of_what_the_real_run_warns_of(beads, blocked, candidate):
    beads.learning("cl_own", "The author prefers short commits", personal=True)
    beads.learning("cl_old", "OrderStore keeps rows of deleted orders for ninety days")
    sent = json.dumps(
        {
            "candidates": [
                candidate(supersedes=["cl_gone"]),
                candidate(2, scope="personal", supersedes=["cl_old", "cl_own"]),
            ],
            "learnings_used": ["cl_no1"],
            "corrections": ["cl_no2"],
            "ratings": [{"id": "cl_no3", "useful": True}, {"id": "cl_old"}],
        }
    )
    tried = blocked.grove("reflect", "--dry-run", "--json", stdin=sent)
    done = blocked.grove("reflect", "--json", stdin=sent)
    assert tried.json["warnings"] == done.json["warnings"]
    words = "\n".join(tried.json["warnings"])
    for name in ("cl_gone", "cl_old was not marked", "cl_no1", "cl_no2", "cl_no3"):
        assert name in words
    assert "ratings[1] does not count: useful of cl_old is null" in words


def test_the_same_submission_again_says_nothing_new(beads, blocked, candidate):
    beads.learning("cl_old", "OrderStore keeps rows of deleted orders for ninety days")
    beads.learning("cl_bad", "OrderStore empties the cart at midnight")
    beads.learning("cl_own", "The author prefers short commits", personal=True)
    fields = {
        "learnings_used": [{"id": "cl_old", "how": "told where"}, "cl_own"],
        "corrections": [{"id": "cl_bad", "why": "carts stay for a week"}, "cl_own"],
    }
    for _ in range(2):
        assert blocked.reflects(candidate(), **fields).code == 0
    for personal, corrected, used in ((False, "cl_bad", "cl_old"), (True, "cl_own", "cl_own")):
        events = beads.events("corrected", "referenced", personal=personal)
        found = [(one["event"], one["learning_id"]) for one in events]
        assert sorted(found) == [("corrected", corrected), ("referenced", used)]


def test_another_session_may_say_it_again(beads, blocked, candidate):
    beads.learning("cl_bad", "OrderStore empties the cart at midnight")
    fields = {"learnings_used": ["cl_bad"], "corrections": ["cl_bad"]}
    other = beads.agent("session-2")
    other.starts()
    other.closes("bd-2")
    for number, agent in enumerate((blocked, other)):
        assert agent.reflects(candidate(number), **fields).code == 0
    assert len(beads.events("corrected")) == len(beads.events("referenced")) == 2


def test_why_a_learning_is_wrong_is_kept_and_shown(beads, blocked, candidate):
    beads.learning("cl_bad", "OrderStore empties the cart at midnight")
    beads.learning("cl_old", "OrderStore keeps rows of deleted orders for ninety days")
    corrections = [
        {"id": "cl_bad", "why": "carts stay for a week"},
        {"id": "cl_old", "why": "thirty since May"},
    ]
    done = blocked.reflects(candidate(supersedes=["cl_old"]), corrections=corrections)
    bad, old = beads.events("corrected")
    assert (bad["learning_id"], bad["why"]) == ("cl_bad", "carts stay for a week")
    (new,) = (one["id"] for one in done.json["accepted"])
    assert (old["superseded_by"], old["why"]) == (new, "thirty since May")
    shown = beads.grove("show", "cl_bad")
    assert "corrected  carts stay for a week" in shown.stdout
    assert f"corrected  by {new}: thirty since May" in beads.grove("show", "cl_old").stdout
    listed = beads.grove("maintain", "list", "--json").json
    (wrong,) = listed["corrected"]
    assert wrong["reason"].endswith('still active: "carts stay for a week"')
    (superseded,) = listed["superseded"]
    assert superseded["reason"].endswith(f'by {new}: "thirty since May"')


def test_a_refusal_for_a_secret_names_its_place_and_one_digest(beads, blocked, candidate):
    sent = json.dumps({"candidates": [WEAK, candidate(detail=FIELDS["detail"])]})
    done = blocked.grove("reflect", stdin=sent)
    assert "2. refused (secret) '(withheld)': detail: holds what looks like" in done.stderr
    assert f'"{digest_of(SECRET)}"' in done.stderr
    assert "1. refused (write_gate) 'Always write" in done.stderr
    assert "sha256" not in done.stderr
    tried = blocked.grove("reflect", "--dry-run", stdin=sent)
    assert "sha256" not in tried.stdout
    assert "2. would be refused (secret)" in tried.stdout
    assert "sha256" not in blocked.grove("reflect", "--json", stdin=sent).stdout
    assert "sha256" not in blocked.grove("reflect", "--brief").stdout
    assert "sha256" not in blocked.is_blocked()
    assert "sha256" in beads.events("rejected")[1]["summary"]


def test_a_refusal_names_mistakes_of_the_configuration(world, candidate):
    world.initialise(f'[secrets]\n# allow = []\n[secrets]\nallow = ["{digest_of(SECRET)}"]\n')
    world.use_beads()
    agent = world.agent()
    agent.closes("bd-1")
    for words in ((), ("--dry-run",)):
        sent = json.dumps(candidate(detail=FIELDS["detail"]))
        done = agent.grove("reflect", *words, "--json", stdin=sent)
        assert done.code == 1
        assert "[secrets] stands there twice" in done.stderr
        assert any("stands there twice" in one for one in done.json["warnings"])
    assert "below its line [secrets]" in done.json["candidates"][0]["reason"]
    skipped = agent.grove("skip", f"only {SECRET} was changed")
    assert "stands there twice" in skipped.stderr
    assert agent.reflects(candidate(2)).json["warnings"] == []


def test_nothing_learned_with_a_secret_stores_nothing(beads, blocked):
    beads.learning("cl_old", "OrderStore keeps rows of deleted orders for ninety days")
    sent = {"nothing_learned": f"only {SECRET} was changed", "learnings_used": ["cl_old"]}
    done = blocked.grove("reflect", stdin=json.dumps(sent))
    assert done.code == 1
    assert "nothing was stored" in done.stderr
    assert "it was left out" not in done.stderr
    assert beads.events("referenced") == []


@pytest.mark.parametrize("mode", ["enforce", "warn", "off"])
def test_the_unfilled_form_is_no_candidate_in_any_mode(world, mode):
    world.initialise(f'[gate.write_gate]\nmode = "{mode}"\n')
    world.use_beads()
    agent = world.agent()
    agent.closes("bd-1")
    form = example_submission("session-1")["candidates"][0]
    done = agent.reflects({**form, "category": "pitfall"})
    assert done.code == 1
    (refused,) = done.json["rejected"]
    assert refused["stage"] == "schema"
    assert "grove's own form" in refused["reason"]


# --- commands that record something -------------------------------------------------------------


def test_the_known_of_several_ids_count(beads, blocked):
    beads.learning("cl_old", "OrderStore keeps rows of deleted orders for ninety days")
    done = blocked.grove("ref", "cl_old", "cl_gone", "--json")
    assert done.code == 1
    assert done.json["referenced"] == ["cl_old"]
    assert done.json["unknown"] == ["cl_gone"]
    assert "no learning has the id cl_gone" in done.json["error"]
    assert "no learning has the id cl_gone" in done.stderr
    assert [one["learning_id"] for one in beads.events("referenced")] == ["cl_old"]


@pytest.mark.parametrize("words", [("ref", "cl_old"), ("skip", "nothing new"), ("reflect",)])
def test_what_cannot_be_logged_is_told(beads, blocked, candidate, words):
    beads.learning("cl_old", "OrderStore keeps rows of deleted orders for ninety days")
    (beads.project / ".grove" / "stats.log").unlink(missing_ok=True)
    (beads.project / ".grove" / "stats.log").mkdir()
    sent = json.dumps({"candidates": [candidate()], "learnings_used": ["cl_old"]})
    done = blocked.grove(*words, "--json", stdin=sent)
    assert done.code == 0
    (told,) = (line for line in done.stderr.splitlines() if "event log" in line)
    assert "stats.log" in told
    assert told.removeprefix("grove: ") in done.json["warnings"]
