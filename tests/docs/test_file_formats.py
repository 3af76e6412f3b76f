"""The page about files says what lies on the disk: names, fields, limits; both ways."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from grove_core.flow.merge_driver import MERGED_FILES
from grove_core.model.learning import Category, Confidence, Criterion, LearningStatus, Scope

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "file-formats.md"
TEXT = PAGE.read_text()
SOURCES = "\n".join(path.read_text() for path in sorted(ROOT.glob("grove-*/src/**/*.py")))
IN_A_PROJECT, IN_A_CLIENT = "In a project: `.grove/`", "In a project: `.claude/`"
IN_HOME = "In `GROVE_HOME` (`~/.grove`)"
VALUES = {
    "Category": Category,
    "Scope": Scope,
    "Confidence": Confidence,
    "Status": LearningStatus,
    "Criteria": Criterion,
}
VARIABLE = r"\b(?:ID|KEY|NAME|TIME|N|DIGEST|SESSION)\b"
LOGGED_ID = "cl_20260206_k3f9a2"


def section(title):
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def block(title, language, number=0):
    return re.findall(rf"^```{language}\n(.*?)^```$", section(title), re.DOTALL | re.MULTILINE)[
        number
    ]


def first_cells(title):
    """The names in a section's tables; a cell may hold several."""
    cells = re.findall(r"^\| (`.*?) \|", section(title), re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def pattern_of(name):
    """A name of the page as a regular expression: words in capitals stand for something."""
    inside = ".*" if name.endswith("/") else ""
    parts = re.split(VARIABLE, name)
    return re.compile("[^/]+".join(map(re.escape, parts)) + inside)


def files_below(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


# --- names ----------------------------------------------------------------------------------------


@pytest.fixture
def used(beads, candidate):
    """A project in which much has happened."""
    beads.make_git()
    beads.lent.append(beads.project / ".claude")
    assert beads.grove("init", "--hooks", "--rules").code == 0
    beads.start_ticket("bd-1")
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    personal = candidate(2, scope="personal")
    assert agent.reflects(candidate(1), personal).code == 0
    agent.is_let_go()
    agent.ends()
    beads.agent("session-2").starts()
    return beads


def undocumented(folder, *titles):
    patterns = [pattern_of(name) for title in titles for name in first_cells(title)]
    return {
        name for name in files_below(folder) if not any(one.fullmatch(name) for one in patterns)
    }


def test_every_file_is_on_the_page(used):
    assert undocumented(used.project / ".grove", IN_A_PROJECT) == set()
    assert undocumented(used.grove_home, IN_HOME) == set()
    assert undocumented(used.project / ".claude", IN_A_CLIENT) == set()
    assert len(files_below(used.grove_home)) > 5


@pytest.mark.parametrize("layout", ["single", "spread"])
def test_names_of_a_layout_are_on_the_page(beads, candidate, layout):
    beads.make_git()
    (beads.project / ".grove" / "config.toml").write_text(f'[storage]\nlayout = "{layout}"\n')
    agent = beads.agent()
    agent.starts()
    agent.reflects(candidate(1))
    assert undocumented(beads.project / ".grove", IN_A_PROJECT) == set()


@pytest.mark.parametrize("title", [IN_A_PROJECT, IN_A_CLIENT, IN_HOME])
def test_every_file_on_the_page_is_one_of_the_codes(title):
    """What a page's name keeps when its variable parts are taken away stands in the code."""
    for name in first_cells(title):
        for piece in name.strip("/").split("/"):
            for word in re.split(rf"-?{VARIABLE}|\.(?=corrupt)|\.1$", piece):
                assert word in SOURCES, (name, word)


def test_git_attributes_are_those_that_are_written():
    assert block(IN_A_PROJECT, "text").splitlines() == list(MERGED_FILES)


# --- a learning in markdown -----------------------------------------------------------------------


def test_the_learning_on_the_page_is_read_as_it_says(beads):
    beads.learnings_file.write_text(block("A learning in markdown", "markdown"))
    shown = beads.grove("show", LOGGED_ID, "--json").json
    assert shown["summary"].startswith("OrderReport.rows() runs one query")
    assert shown["detail"].count("\n") == 1
    assert (shown["category"], shown["scope"], shown["confidence"]) == (
        "pitfall",
        "project",
        "high",
    )
    assert (shown["tags"], shown["context_files"]) == (
        ["orders", "n-plus-one"],
        ["reports/orders.py"],
    )
    assert (shown["ticket_id"], shown["session_id"]) == ("shop-1", "monday")
    assert shown["timestamp"] == "2026-02-06T10:00:00Z"


def test_an_entry_has_the_fields_of_the_page(beads, candidate):
    agent = beads.agent()
    agent.starts()
    stored = agent.reflects(candidate(1)).json["accepted"][0]["id"]
    agent.reflects(candidate(3, supersedes=[stored], context_files=["a.py"]))
    written = set(re.findall(r"^- \*\*(\w+):\*\*", beads.learnings_file.read_text(), re.MULTILINE))
    fields = section("A learning in markdown").split("| part | form |")[1]
    told = set(
        re.findall(r"`([A-Z]\w+)`", "\n".join(re.findall(r"^\| (.*?) \|", fields, re.MULTILINE)))
    )
    assert written == told


@pytest.mark.parametrize("name", VALUES)
def test_values_of_a_field_are_those_of_the_code(name):
    cell = re.search(rf"^\| `{name}` \| (.*) \|$", section("A learning in markdown"), re.MULTILINE)[
        1
    ]
    assert re.findall(r"`([^`]+)`", cell) == [member.value for member in VALUES[name]]


def limits_of(schema, field):
    found = schema["$defs"]["candidate"]["properties"][field]
    return found["minLength"], found["maxLength"]


def test_limits_are_those_of_the_schema(beads):
    schema = beads.grove("reflect", "--schema").json
    words = section("A learning in markdown")
    for field, pattern in {
        "summary": r"the summary: ([\d,]+) to ([\d,]+) characters",
        "detail": r"the detail: ([\d,]+) to ([\d,]+) characters",
    }.items():
        told = re.search(pattern, words).groups()
        assert tuple(int(one.replace(",", "")) for one in told) == limits_of(schema, field)


# --- other forms ----------------------------------------------------------------------------------


def test_the_entry_of_total_recall_is_read_as_it_says(total_recall):
    log = total_recall.project / "memory" / "daily" / "2026-02-06.md"
    entry = block("A daily log of Total Recall", "markdown")
    log.write_text(f"# 2026-02-06\n\n## Learnings\n\n{entry}")
    shown = total_recall.grove("show", LOGGED_ID, "--json").json
    assert shown["supersedes"] == ["cl_20251130_p7m2xq"]
    assert (shown["scope"], shown["confidence"], shown["ticket_id"]) == ("team", "high", "shop-1")
    assert (shown["tags"], shown["context_files"]) == (
        ["orders", "n-plus-one"],
        ["reports/orders.py"],
    )


def test_the_input_on_the_page_is_what_the_schema_allows(beads):
    schema = beads.grove("reflect", "--schema").json
    given = json.loads(block("The input of `grove reflect`", "json"))
    jsonschema.validate(given, schema)
    assert set(given) == set(schema["$defs"]["submission"]["properties"])
    candidate = schema["$defs"]["candidate"]
    assert set(given["candidates"][0]) == set(candidate["properties"])
    needed = re.search(r"Needed are (.*?)\. ", section("The input of `grove reflect`"))[1]
    assert set(re.findall(r"`(\w+)`", needed)) == set(candidate["required"])


def test_scopes_are_those_of_the_code():
    routed = section("The input of `grove reflect`").split("| scope | goes to |")[1]
    cells = re.findall(r"^\| (`.*?) \|", routed, re.MULTILINE)
    told = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert told == {scope.value for scope in Scope}
