"""`grove tickets` and `grove tickets match`: which systems there are, what would close."""

ACME = '[[ticketing.patterns]]\nname = "acme"\ncommand = "acme close {ids}"\n'


def matched(done, code=0):
    """The closes of `grove tickets match --json`, whose form is held to the letter."""
    assert done.code == code, done.stderr
    assert done.stdout.startswith("{\n")
    return closes_in(done.json)


def closes_in(document):
    assert set(document) - {"error"} == {"closes"}
    for one in document["closes"]:
        assert list(one) == ["system", "ids", "certain"]
        assert isinstance(one["system"], str)
        assert isinstance(one["certain"], bool)
        assert all(isinstance(each, str) for each in one["ids"])
    return [(one["system"], one["ids"], one["certain"]) for one in document["closes"]]


def test_the_systems_of_a_project(world):
    world.initialise(ACME + "[ticketing.overrides]\ntissue = false\n")
    world.use_beads()
    world.start_ticket("bd-7", title="Orders report is slow", labels=["orders"])
    document = world.grove("tickets", "--json").json
    assert document["ticket"]["ticket_id"] == "bd-7"
    systems = {one["name"]: one for one in document["systems"]}
    assert "tissue" not in systems
    beads = systems["beads"]
    assert (beads["active"], beads["enabled"]) == (True, True)
    assert beads["marker"].endswith("/project/.beads")
    assert beads["plugin"].startswith("grove-tickets ")
    acme = systems["acme"]
    assert acme == {
        "name": "acme",
        "active": False,
        "enabled": True,
        "marker": "ticketing.patterns",
        "why": "defined by ticketing.patterns",
        "plugin": "configuration (ticketing.patterns)",
    }
    assert (systems["tasks"]["enabled"], systems["tasks"]["marker"]) == (False, None)
    assert systems["session"]["why"] == "not needed: another system is active"
    assert [name for name, one in systems.items() if one["active"]] == ["beads"]
    # Sessions are there everywhere, so they come behind everything else.
    assert list(systems)[-1] == "session"


def test_what_a_command_would_close(world):
    """All systems are asked, whether or not they are used here; reopenings are no closes."""
    world.initialise(ACME)
    for words, closes in [
        (("bd close bd-1",), [("beads", ["bd-1"], True)]),
        (("--", "bd", "close", "bd-1"), [("beads", ["bd-1"], True)]),
        (("--", "bd close bd-1 && bd close bd-2"), [("beads", ["bd-1", "bd-2"], True)]),
        # Words after -- are one command: what a shell would make of them is quoted.
        (("--", "bd", "close", "bd-1", "&&", "rm"), [("beads", ["bd-1", "&&", "rm"], True)]),
        (("--", "bd", "close", "a b"), [("beads", ["a b"], True)]),
        (("bd close $X",), [("beads", [], False)]),
        (("bd close bd-1 $X",), [("beads", ["bd-1"], False)]),
        (("bd close bd-1; bd close bd-1",), [("beads", ["bd-1"], True)]),
        (("bd close x; tissue status y closed",), [("tissue", ["y"], True), ("beads", ["x"], True)]),
        (("bd reopen bd-1",), []),
        (("bd close bd-1; bd reopen bd-1",), [("beads", ["bd-1"], True)]),
        (("bd show bd-1",), []),
        (("",), []),
        (("--", "--", "bd"), []),
        (("acme close 1 2",), [("acme", ["1", "2"], True)]),
        (("acme close 1 --dry-run",), []),
    ]:  # fmt: skip
        done = world.grove("tickets", "match", "--json", *words)
        assert matched(done) == closes, words
