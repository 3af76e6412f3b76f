"""The reader of shell text against a real bash, and its limits."""

import pytest
from hard_texts import NESTED, REPEATED, SPECIAL, check, nested, repeated
from random_scripts import try_scripts

from grove_tickets.shell import commands


# All of them, in more sizes, are in tests/real/tickets.
@pytest.mark.parametrize("unit", REPEATED[::4])
def test_one_thing_very_often(unit):
    check(repeated(unit, 4000))


@pytest.mark.parametrize(("opener", "closer"), NESTED[::2])
def test_deep_syntax(opener, closer):
    check(nested(opener, closer, 20))


@pytest.mark.parametrize("text", SPECIAL, ids=range(len(SPECIAL)))
def test_special_texts(text):
    check(text)


def test_of_a_text_that_is_too_large_the_beginning_counts():
    found = commands("t 1; t 2\n" + "t 3;" * 50_000)
    assert [command.words for command in found] == [("t", "1"), ("t", "2")]


def test_of_a_text_that_is_too_deep_what_stands_before_counts():
    assert [command.words for command in commands("t 1\n" + "(" * 500 + "t" + ")" * 500)] == [
        ("t", "1")
    ]


LINES = 'it\'s "a" line (of text) $X `no` $(no) # {\n' * 2000
JSON = '{"a": ["b", "c d"]}, ' * 5000


@pytest.mark.parametrize(
    "before",
    [
        f"git commit -F- <<'EOF'\n{LINES}EOF\n",
        f"git commit -m \"$(cat <<'EOF'\n{LINES}EOF\n)\"; ",
        f"python3 - <<'EOF' | tail\n{LINES}EOF\n",
        f"cat > notes.md <<EOF\n{'plain text of notes' * 3000}\nEOF\n",
        f"curl -d '{JSON}' x && ",
        "x=" + "a" * 20_000 + "; ",
        "make test && git add -A && git commit -m 'x'\n" * 150,
    ],
    ids=range(7),
)
def test_long_commands_are_understood(before):
    assert commands(before + "t a")[-1].words == ("t", "a")


def test_results_are_kept_for_the_next_one_who_asks():
    text = "X=1; t a"
    first = commands(text)
    assert commands(text) is first
    with pytest.raises(TypeError):
        first[0].environment["X"] = "2"


def test_what_bash_runs_is_found(tmp_path):
    # Thousands are tried in tests/real/tickets.
    try_scripts(25, tmp_path)
