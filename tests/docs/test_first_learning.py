"""The tutorial keeps its promise: a newcomer is shown the first learning within a few commands."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "first-learning.md"
PROMISE = re.compile(r"\btwenty commands\b")
MOST = 20
"""Commands, at a quarter of a minute each with reading: five minutes."""


def runs_and_outputs():
    """Give the pairs of what the tutorial runs and what it shows of that, in their order."""
    found = re.findall(
        r"^```sh\n(.*?)^```\n(?:```console\n(.*?)^```)?", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    assert len(found) > 1
    return found


def commands(block):
    """Count the commands of a block; what stands in a here-document is none."""
    without_documents = re.sub(r"<<'EOF'\n.*?\nEOF\n\)?\"?", "", block, flags=re.DOTALL)
    return len([line for line in without_documents.splitlines() if line.strip()])


def test_a_learning_is_shown_within_the_commands_that_are_promised():
    counted = 0
    for block, shown in runs_and_outputs():
        counted += commands(block)
        if "additionalContext" in shown:
            break
    else:
        raise AssertionError
    assert counted <= MOST
    assert PROMISE.search(PAGE.read_text())


def test_what_is_shown_is_what_was_reflected_on():
    pairs = runs_and_outputs()
    summary = next(
        found[1] for block, _ in pairs if (found := re.search(r'"summary": "(.*)"', block))
    )
    shown = next(shown for _, shown in pairs if "additionalContext" in shown)
    assert summary in shown


def test_nothing_but_a_shell_and_git_is_needed():
    """Every program that the tutorial runs is one that each machine with git has."""
    words = {
        line.split()[0]
        for block, _ in runs_and_outputs()
        for line in re.sub(r"<<'EOF'\n.*?\nEOF\n\)?\"?", "", block, flags=re.DOTALL).splitlines()
        if line.strip()
    }
    programs = {word for word in words if "=" not in word}
    assert programs <= {"cd", "echo", "git", "grove", "mkdir", "tail"}
