"""Every key that a command prints is documented, and every documented key is still one.

That what is printed is documented is asserted by the world that commands are called in, at each call
with `--json`.
"""

import json
import re
from pathlib import Path

import pytest
from documented import PACKAGES, documented, keys_of
from statistics_examples import rich_example

from grove_backend_postgres.commands import migrate_document
from grove_core.cli.main import COMMANDS
from grove_core.cli.stats import statistics_document
from grove_core.stats.insights import insights_of
from grove_core.storage.codec import to_jsonable

ROOT = Path(__file__).parents[2]
RUN_BY_OTHERS = {"hook", "serve", "statusline"}


def test_the_keys_of_statistics_are_those_of_a_project_where_everything_has_happened():
    statistics = rich_example()
    document = statistics_document(statistics, insights_of(statistics))
    known = documented()["grove stats"]
    assert keys_of(json.loads(json.dumps(to_jsonable(document))), known) == known


def test_a_migration_is_documented():
    assert set(migrate_document(["1 tables"], dry_run=True)) == {
        key.removesuffix("[]") for key in documented()["grove backends postgres migrate"]
    }


@pytest.mark.parametrize("title", documented())
def test_no_documented_key_is_unknown_to_the_code(title):
    folders = [path for name in PACKAGES for path in ROOT.glob(f"grove-*/src/{name}")]
    words = set()
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        words |= set(re.findall(r"\w+", path.read_text()))
    parts = (part for key in documented()[title] for part in key.split("."))
    assert {part.strip("[]{}").partition("@")[0] for part in parts} <= words


def test_evaluations_print_what_is_documented(world):
    collection = ROOT / "docs" / "examples" / "shop-and-blog"
    files = [f"--{name}={collection}/{name}.jsonl" for name in ("corpus", "queries")]
    judged = [*files, f"--qrels={collection}/qrels.tsv"]
    engines = ["--engine", "bm25", "--engine", "default"]
    for name, calls in (("run", [[*judged, *engines]]), ("noise", [files, judged])):
        known, keys = documented()[f"grove eval {name}"], set()
        for words in calls:
            keys |= keys_of(world.grove("eval", name, *words, "--json").json, known)
        assert keys == known


# Those that no other test calls for their document.
CALLS = (
    "add Prices-are-whole-cents --why Sums-of-floats-were-off", "edit {id}", "ref {id}", "page", "digest",
    "config get gate.session", "config get ticketing.discovery", "config path", "maintain index",
    "rm {id} --reason it-is-wrong", "maintain restore {id}", "pause 1h", "resume", "schema", "schema stats",
    "plugins check tissue",
)  # fmt: skip


def test_whoever_calls_grove_for_a_document_gets_what_is_documented(world):
    world.initialise()
    world.environment["EDITOR"] = "sed -i s/high/low/"
    world.agent().starts()
    name = world.learning("cl_20300102_aaaaaa", "Orders are paged")
    for call in CALLS:
        done = world.grove(*call.format(id=name).split(), "--json")
        assert done.code == 0, call
        assert "error" not in done.json


def test_every_command_has_a_section():
    # Of a group that does nothing by itself each command has one.
    covered = {title.split()[1] for title in documented()}
    assert COMMANDS.keys() - RUN_BY_OTHERS <= covered
