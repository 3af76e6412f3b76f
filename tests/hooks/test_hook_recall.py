"""What earlier sessions have learned comes back: at the start, at a prompt, after a compaction."""

import re

import pytest

FIRST, SECOND, THIRD = (f"cl_20300102_{letter * 6}" for letter in "abc")
ABOUT_ORDERS = "OrderReport.rows() runs one query per order unless prefetched"
ABOUT_LOGIN = "LoginForm.clean() must not log the token of the session"


@pytest.fixture
def project(world):
    """A project that uses grove, where nothing is known about the work at hand."""
    world.initialise()
    return world


def shown(context):
    """The ids of the learnings that a context shows, in order."""
    return re.findall(r"^\[\w+ \| (cl_\w+) \|", context, re.MULTILINE)


def named(world, event, **options):
    """The learnings and sessions that the log's events of one kind name."""
    events = world.events(event, **options)
    return [(one["learning_id"], one["session_id"]) for one in events]


def usage(world):
    """How each learning of the project has fared, by its id."""
    listed = world.grove("list", "--json").json["learnings"]
    numbers = ("surfaced", "referenced", "dismissed")
    return {one["id"]: tuple(one["usage"][name] for name in numbers) for one in listed}


def test_each_way_to_begin_shows_what_it_should(project):
    """Resuming what is new, compacting all that was shown, a new id everything."""
    project.learning(FIRST, ABOUT_ORDERS)
    agent = project.agent()
    first = agent.starts()
    assert shown(first) == [FIRST]
    assert agent.starts("compact") == first
    assert agent.starts("resume") == ""
    project.learning(SECOND, ABOUT_LOGIN)
    assert shown(agent.starts("resume")) == [SECOND]
    assert named(project, "surfaced") == [(FIRST, "session-1"), (SECOND, "session-1")]
    assert shown(agent.starts("compact")) == [FIRST, SECOND]
    assert set(shown(project.agent("session-2").starts("clear"))) == {FIRST, SECOND}
    assert set(shown(project.agent("session-3").starts("fork"))) == {FIRST, SECOND}


def test_where_nothing_is_known_about_the_work_no_others_are_said_to_fit(project):
    for number in range(12):
        project.learning(f"cl_20300103_{number:06}", f"Table {number} of the {number * 7}th schema")
    text = project.agent().starts()
    assert 0 < len(shown(text)) < 12
    assert "more fit" not in text


def test_a_prompt_brings_up_new_matches_only(beads):
    beads.start_ticket("bd-1", title="Login form", labels=["login"])
    beads.learning(FIRST, ABOUT_ORDERS)
    beads.learning(SECOND, ABOUT_LOGIN, tags="login, token")
    agent = beads.agent()
    assert shown(agent.starts()) == [SECOND]
    assert agent.asks("Thank you.") == ""
    before = beads.session()
    assert agent.asks("<task-notification>\nOrderReport.rows() runs one query per order") == ""
    assert beads.session() == before
    question = "Why does OrderReport.rows() run one query per order?"
    assert shown(agent.asks(question)) == [FIRST]
    assert agent.asks(question) == ""
    surfaced = beads.events("surfaced")
    assert [(one["learning_id"], one["via"]) for one in surfaced] == [
        (SECOND, "start"),
        (FIRST, "prompt"),
    ]


def test_prompts_show_a_bounded_number_of_learnings_or_none(project):
    for number in range(6):
        summary = f"OrderReport.part_{number}() runs {number} queries per order"
        project.learning(f"cl_20300102_aaaaa{number}", summary)
    limits = {
        "GROVE_RETRIEVAL_MAX_INJECTIONS": "0",
        "GROVE_RETRIEVAL_MAX_PER_PROMPT": "2",
        "GROVE_RETRIEVAL_MAX_PER_SESSION": "3",
    }
    question = "How many queries per order in orders?"
    off = project.agent("session-0", GROVE_RETRIEVAL_ON_PROMPT="false", **limits)
    assert off.asks(question) == ""
    agent = project.agent(**limits)
    agent.starts()
    assert [len(shown(agent.asks(question))) for _ in range(3)] == [2, 1, 0]
    assert len({one["learning_id"] for one in project.events("surfaced")}) == 3


def test_a_change_of_the_learnings_counts_at_once(project):
    """By a pull, by hand, or by another backend's tool: nothing says so to grove."""
    for learning_id in (FIRST, SECOND):
        project.learning(learning_id, f"About {learning_id}")
    assert set(shown(project.agent("session-1").starts())) == {FIRST, SECOND}
    text = project.learnings_file.read_text()
    project.learnings_file.write_text(text.replace("**Status:** active", "**Status:** archived", 1))
    project.learning(THIRD, "Somebody else has learnt it")
    assert set(shown(project.agent("session-2").starts())) == {SECOND, THIRD}
    project.learnings_file.unlink()
    assert shown(project.agent("session-3").starts()) == []


def test_what_was_shown_and_not_used_is_dismissed_once(project):
    project.learning(FIRST, ABOUT_ORDERS)
    project.learning(SECOND, ABOUT_LOGIN)
    agent = project.agent()
    agent.starts()
    assert agent.grove("ref", SECOND, "--how", "found the leak").code == 0
    agent.ends()
    agent.starts("resume")
    agent.ends()
    assert named(project, "dismissed") == [(FIRST, "session-1")]
    (referenced,) = project.events("referenced")
    assert (referenced["learning_id"], referenced["how"]) == (SECOND, "found the leak")
    # A reference that comes later cancels the dismissal.
    assert agent.grove("ref", FIRST).code == 0
    agent.ends()
    assert usage(project) == {FIRST: (1, 1, 0), SECOND: (1, 1, 0)}


def test_a_reflection_names_what_was_used_and_what_was_wrong(beads, candidate):
    for learning_id, summary in ((FIRST, ABOUT_ORDERS), (SECOND, ABOUT_LOGIN)):
        beads.learning(learning_id, summary)
    beads.learning(THIRD, "HTTP 429 of the payment gateway needs a retry after 30 s")
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    done = agent.reflects(
        candidate(1, supersedes=[THIRD]),
        learnings_used=[{"id": FIRST, "how": "knew where to look"}],
        corrections=[{"id": SECOND, "why": "it may log it now"}],
        notes=f"What {THIRD} says was a help, too.",
    )
    assert done.code == 0, done.stderr
    (new_id,) = [one["id"] for one in done.json["accepted"]]
    referenced = {one["learning_id"]: one for one in beads.events("referenced")}
    assert set(referenced) == {FIRST, THIRD}
    assert referenced[FIRST]["how"] == "knew where to look"
    assert {one["ticket_id"] for one in referenced.values()} == {"bd-1"}
    corrected = {one["learning_id"]: one for one in beads.events("corrected")}
    assert set(corrected) == {SECOND, THIRD}
    assert corrected[THIRD]["superseded_by"] == new_id
    # What was replaced is shown no more.
    assert set(shown(beads.agent("later").starts())) == {FIRST, SECOND, new_id}


def test_events_of_personal_learnings_stay_out_of_the_project(beads, candidate):
    beads.learning(FIRST, ABOUT_ORDERS, personal=True)
    beads.learning(SECOND, ABOUT_LOGIN, personal=True)
    agent = beads.agent()
    assert shown(agent.starts()) == []  # nothing is known about the work, and they are not about it
    assert sorted(shown(agent.asks("What about orders and export?"))) == [FIRST, SECOND]
    agent.closes("bd-1")
    mine = candidate(1, scope="personal")
    bad = candidate(2, scope="personal", summary="Mine only")
    done = agent.reflects(mine, bad, learnings_used=[{"id": FIRST}], corrections=[{"id": SECOND}])
    assert done.code == 0, done.stderr
    new_id = done.json["accepted"][0]["id"]
    agent.ends()

    assert beads.learning_ids() == []
    assert mine["summary"] in (beads.grove_home / "personal-learnings.md").read_text()
    project = beads.event_log.read_text()
    for secret in (FIRST, SECOND, new_id, mine["summary"], bad["summary"]):
        assert secret not in project
    assert {one["event"] for one in beads.events()} == {"gate"}
    kinds = {one["event"] for one in beads.events(personal=True)}
    assert kinds >= {"surfaced", "referenced", "corrected", "rejected", "reflection"}
