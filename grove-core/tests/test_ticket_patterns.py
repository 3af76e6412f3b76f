"""Commands of a team's own: what a pattern may say, which commands fit, and which ids they name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.hooks.fast import contains_word
from grove_core.ticket_patterns import CANCELLING, ids_closed_by, read_patterns

UNKNOWN = None


def pattern(command, *valued, name="acme"):
    (one,) = read_patterns([{"name": name, "command": command, "options_with_values": [*valued]}])
    return one


def ids(command, *words, valued=()):
    return ids_closed_by(pattern(command, *valued), words)


FITTING = [
    # the id
    ("acme close {id}", "acme close T-1", ("T-1",)),
    ("acme close TICKET={id}", "acme close TICKET=T-1", ("T-1",)),
    ("make close TICKET={id}", "make TICKET=T-1 close", None),
    ("acme close TICKET={id}", "acme close TICKET=", None),
    # several ids
    ("acme close {ids}", "acme close T-1 T-2 T-3", ("T-1", "T-2", "T-3")),
    ("acme close {ids}", "acme close", None),
    # no id at all
    ("acme close * --state=done", "acme close T-1 --state done", (UNKNOWN,)),
    # any word
    ("acme * close {id}", "acme board close T-1", ("T-1",)),
    # one of several
    ("acme finish|close {id}", "acme close T-1", ("T-1",)),
    ("acme|acm close {id}", "acm close T-1", ("T-1",)),
    # the program
    ("acme close {id}", "/opt/acme/bin/acme close T-1", ("T-1",)),
    ("acme close {id}", "ACME close T-1", None),
    # too few words, too many, and others
    ("acme close {id}", "acme close", None),
    ("acme close {id}", "acme close T-1 T-2", None),
    ("acme close {id} ...", "acme close T-1", ("T-1",)),
    ("acme close {id} ...", "acme close T-1 because it is done", ("T-1",)),
    ("acme close ...", "acme close this and that", (UNKNOWN,)),
    # options stand anywhere, and those that are not named do no harm
    ("acme close {id}", "acme -v --yes close --color T-1 -q", ("T-1",)),
    ("acme close {id}", "acme close -- -1", ("-1",)),
    ("acme close {id} ...", "acme close T-1 -- --help", ("T-1",)),
    # options that must be there
    ("acme edit {id} --done", "acme edit T-1 --done", ("T-1",)),
    ("acme edit {id} --done", "acme edit T-1", None),
    ("acme edit {id} --state=done", "acme edit T-1 --state=open", None),
    ("acme edit {id} --state=done", "acme edit T-1 --state", None),
    ("acme edit {id} --state=done", "acme edit T-1 --state=done --state=open", None),
    ("acme edit {id} -s=done", "acme edit T-1 -sdone", ("T-1",)),
    # a call that only tells what it would do
    *(("acme close {id}", f"acme close T-1 {flag}", None) for flag in sorted(CANCELLING)),
]  # fmt: skip


@pytest.mark.parametrize(("command", "words", "expected"), FITTING)
def test_which_commands_fit(command, words, expected):
    assert ids(command, *words.split()) == expected


def test_an_empty_word_is_no_ticket():
    assert ids("acme close {ids}", "acme", "close", "", "T-1", "") == ("T-1",)
    assert ids("acme close {ids}", "acme", "close", "") is None


VALUED = [
    ("acme close -reason done T-1", ("T-1",)),
    ("acme close --reason --help T-1", ("T-1",)),
    ("acme close --reason T-1", None),
    # A host and no help, as the pattern says itself.
    ("acme -h tickets close T-1", ("T-1",)),
]


@pytest.mark.parametrize(("words", "expected"), VALUED)
def test_options_with_values_hide_their_values(words, expected):
    valued = ("--reason", "-r", "-reason", "-h")
    assert ids("acme close {id}", *words.split(), valued=valued) == expected


CLOSE = "acme close {id}"
NEEDS_NAME = 'needs a name of lower-case letters, digits, - and _, such as "acme"'
NO_PROGRAM = "has a command whose program is not named by plain words"
MISTAKES = [
    ("text", "must be a table, not"),
    ({"name": "acme"}, "is wrong: command is missing"),
    (
        {"name": "acme", "command": CLOSE, "options_with_values": "--reason"},
        "is wrong: options_with_values must be a list",
    ),
    (
        {"name": "acme", "command": CLOSE, "system": "x"},
        "has a key that is not known, system; known: name, command, options_with_values",
    ),
    ({"name": "Acme", "command": CLOSE}, NEEDS_NAME),
    ({"name": "acme\n", "command": CLOSE}, NEEDS_NAME),
    (
        {"name": "acme", "command": CLOSE, "options_with_values": ["reason"]},
        '(acme) wants options in options_with_values, such as ["--reason"]',
    ),
    *(
        ({"name": "acme", "command": command}, f"(acme) {message}")
        for command, message in [
            (" \t\n", NO_PROGRAM),
            ("acme close 'T-1", "No closing quotation"),
            ("acme close {ID}", "has {ID} in its command; there may be one {id}"),
            ("acme close {id} {id}", "has {id}, {id} in its command; there may be one {id}"),
            ("acme close {id} --of={id}", "has {id}, --of={id} in its command"),
            ("acme close --tickets={ids}", "has --tickets={ids} in its command"),
            ("acme close {id", "has {id in its command"),
            ("acme ... close", "has words behind ..., which stands for all that follow"),
            ("* close {id}", NO_PROGRAM),
            ("完了 close {id}", NO_PROGRAM),
            ("acme close -- {id}", "has --, which is no option"),
            ("acme close --{id}", "has --{id}, which is no option"),
            ("cd app && acme close {id}", "has && in its command; write the one command that closes"),
        ]
    ),
]  # fmt: skip


@pytest.mark.parametrize(("table", "message"), MISTAKES)
def test_mistakes_are_named_with_their_place(table, message):
    good = {"name": "good", "command": "good close {id}"}
    with pytest.raises(ValueError) as caught:
        read_patterns([good, table, good])
    said = str(caught.value)
    assert said.startswith(f"holds a wrong pattern: number 2 {message}")
    assert said.endswith("; all 3 are left out until it is corrected")


@pytest.mark.parametrize(
    ("command", "literals"),
    [
        ("acme close {id}", ("acme",)),
        ("acme|acm-2|a_b close {id}", ("acme", "acm-2", "a_b")),
        ("acmé close {id}", ("acm",)),
    ],
)
def test_literals_are_the_programs_words(command, literals):
    assert pattern(command).literals == literals


PROGRAMS = st.text("acme-_./é|完 2", min_size=1, max_size=8)


@settings(max_examples=50, deadline=None)
@given(program=PROGRAMS, path=st.sampled_from(["", "/usr/bin/", "./"]))
def test_every_command_that_fits_holds_the_words_of_a_literal(program, path):
    """Else the short way of a hook would pass over a close."""
    try:
        one = pattern(f"'{program}' close {{id}}")
    except ValueError:
        return
    for name in one.programs:
        words = (f"{path}{name}", "close", "T-1")
        assert ids_closed_by(one, words) == ("T-1",)
        data = f'"{" ".join(words)}"'.encode()
        assert any(
            all(contains_word(data, word.encode(), 0) for word in literal.split(" "))
            for literal in one.literals
        )


PIECES = st.sampled_from(
    ["acme", "close", "{id}", "{ids}", "*", "...", "|", "--x", "=", "-", " ", "'", "{", "}", "/", "T-1"]
)  # fmt: skip
COMMANDS = st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=12)
VALUES = st.none() | st.integers() | COMMANDS | st.lists(COMMANDS, max_size=3)
TABLES = VALUES | st.dictionaries(
    st.sampled_from(["name", "command", "options_with_values", "x"]), VALUES, max_size=4
)
WORDS = st.lists(st.none() | COMMANDS, max_size=6)


@settings(max_examples=50, deadline=None)
@given(tables=st.lists(TABLES, max_size=3), words=WORDS)
def test_nothing_raises_but_a_named_mistake(tables, words):
    message = ""
    try:
        patterns = read_patterns(tables)
    except ValueError as error:
        patterns, message = (), str(error)
    assert len(patterns) == len(tables) or message.startswith("holds a wrong pattern: number ")
    for one in patterns:
        assert one.literals
        ids_closed_by(one, words)
