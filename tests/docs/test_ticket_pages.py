"""Every ticket system that comes with grove has a page, of one shape, and one row in both tables."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to"
CHOOSING = HOW_TO / "choose-ticket-systems.md"
README = ROOT / "grove-tickets" / "README.md"
PROJECT = tomllib.loads((ROOT / "grove-tickets" / "pyproject.toml").read_text())["project"]
OURS = sorted(PROJECT["entry-points"]["grove.tickets"])
SECTIONS = {
    "What closes a ticket",
    "The ticket in progress",
    "How a close is confirmed",
    "What is not seen",
}
OF_SESSIONS = {"Try it", "What counts as a change", "Ask less, or more", "What is not seen"}
"""Sessions have no tickets."""

ROW = re.compile(r"^\| (?:\[`(\w+)`\]\((\S+)\)|`(\w+)`) \| (.*) \|$", re.MULTILINE)


def rows(page):
    """Give the rows of the table of systems: by name the page that it links to, and the rest."""
    text = page.read_text().partition("| system |")[2].partition("\n\n")[0]
    return {linked or plain: (target, rest) for linked, target, plain, rest in ROW.findall(text)}


def headings(page):
    return set(re.findall(r"^## (.+)$", page.read_text(), re.MULTILINE))


def test_both_tables_name_every_system_and_agree():
    choosing, readme = rows(CHOOSING), rows(README)
    assert sorted(choosing) == sorted(readme) == OURS
    differing = [name for name in OURS if choosing[name][1] != readme[name][1]]
    assert not differing


@pytest.mark.parametrize("system", OURS)
def test_a_system_has_a_page_of_the_usual_shape(system):
    page = HOW_TO / rows(CHOOSING)[system][0]
    wanted = OF_SESSIONS if system == "session" else SECTIONS
    assert wanted - headings(page) == set()
    assert re.search(rf"^{system} +active ", page.read_text(), re.MULTILINE)


def test_no_two_systems_share_a_page_and_no_page_is_left_over():
    linked = [(HOW_TO / target).resolve() for target, _ in rows(CHOOSING).values()]
    assert sorted(linked) == sorted((HOW_TO / "ticket-systems").resolve().glob("*.md"))
