"""The page about the older program's faults names tests that exist, in every row."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "older-program.md"
FAULTS = "tests/hooks/test_older_faults.py"
ROW = re.compile(r"^\| (?P<fault>.+?) \| (?P<instead>.+?) \| (?P<test>.+?) \|$")
# What follows a `[` is the id of a parameter.
REFERENCE = re.compile(r"`(?P<path>[\w./-]+\.py)::(?P<name>(?:Test\w+::)?test_\w+)(?:\[[^\]]+\])?`")
# A row without a test says why there is none.
WITHOUT_TEST = re.compile(r"none: .{15,}")
FEWEST_ROWS = 60


def rows():
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    matches = [ROW.match(line) for line in lines if not line.startswith("|---")]
    assert all(matches), "a row has not three cells"
    return [match for match in matches if match["test"] != "test"]


def references():
    return {
        (match["path"], match["name"])
        for row in rows()
        for match in REFERENCE.finditer(row["test"])
    }


@cache
def names_in(path):
    """The names of a file's tests; those in a class have its name before theirs."""
    file = ROOT / path
    if not file.is_file() or ".." in file.parts:
        return frozenset()
    found = set()
    for node in ast.parse(file.read_text()).body:
        inside = [node] if isinstance(node, ast.FunctionDef) else []
        prefix = ""
        if isinstance(node, ast.ClassDef):
            inside, prefix = node.body, f"{node.name}::"
        names = (one.name for one in inside if isinstance(one, ast.FunctionDef))
        found.update(prefix + name for name in names if name.startswith("test_"))
    return frozenset(found)


def test_every_row_names_a_test_or_says_why_not():
    assert len(rows()) >= FEWEST_ROWS
    for row in rows():
        rest = REFERENCE.sub("", row["test"]).replace(", ", "")
        named = REFERENCE.search(row["test"]) and not rest
        assert named or WITHOUT_TEST.fullmatch(row["test"]), row["fault"]


def test_every_test_that_is_named_exists():
    missing = {f"{path}::{name}" for path, name in references() if name not in names_in(path)}
    assert missing == set()


def test_every_test_of_older_faults_is_named():
    assert {name for path, name in references() if path == FAULTS} == names_in(FAULTS)
