"""What the documentation shows is well formed, and agrees with the code where it lists things.

The convention for fenced blocks, in docs/, README.md and CHANGELOG.md:

- ``sh`` is run by tests/real/docs, with bash and ``set -eu``, all blocks of a page in their order in one scratch home
  directory. A command that is meant to fail says so: ``grove … || echo "exit code $?"``.
- ``sh no-run`` is not run; its first line begins with what the tests here do not have (NOT_HERE),
  and the others, too, or with what needs that (AFTER_IT). The lines with which README.md and
  docs/how-to/install.md install grove are run by tests/real/packaging/test_installing.py. The page
  about memory servers finds programs that stand in for real ones (STAND_INS).
- ``console`` right after an ``sh`` block is what that block prints, stderr included. ``…`` stands for
  any text in a line, a line of ``…`` for any lines; learning ids, times and the scratch directory
  need not agree. Any other is only looked at by people.
- ``python``, ``json``, ``toml`` and ``yaml`` blocks must be of that language; ``json`` may hold
  ``…`` in texts.
- Anything else carries one of the OTHER_LANGUAGES.
"""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points  # noqa: TID253 - no hook runs this

import attrs
import pytest
import yaml
from pages import DOCS, PAGES, ROOT, TEXTS, blocks_of, name_of, prose_of

# What needs an index, the client, a checkout, or a shell that goes on.
NOT_HERE = ("pip ", "uv ", "pipx ", "npm ", "claude", "make ", "git clone", "sh plugin/install.sh")
# What only works once an installer has run: other people's programs, variables for them, and a
# check of a package that the block has installed. Our own commands run in blocks of their own.
AFTER_IT = (
    *("# ", "  ", "export ", "basic-memory ", "python -m pytest ", "pytest", "ruff ", "mypy"),
    *("grove plugins check ", "cp -r ", "mv ", "grep "),
)
OTHER_LANGUAGES = {"text", "markdown", "mermaid", "console", "sql"}

LINK = re.compile(r"\[(?:[^\[\]]|`[^`]*`)*\]\((?P<target>[^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(?P<title>.+?) *$", re.MULTILINE)


def anchors_of(page):
    """The anchors that hosts of git repositories and site generators give to headings."""
    found = []
    for match in HEADING.finditer(prose_of(page)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match["title"]).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        repeated = sum(1 for other in found if re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", other))
        found.append(f"{anchor}-{repeated}" if repeated else anchor)
    return set(found)


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_links_lead_somewhere(page):
    broken = []
    for match in LINK.finditer(re.sub(r"`[^`\n]*`", "", prose_of(page))):
        target, _, anchor = match["target"].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (page.parent / target).resolve() if target else page
        is_there = file.exists() and file.is_relative_to(ROOT)
        if not is_there or (anchor and anchor not in anchors_of(file)):
            broken.append(match["target"])
    assert not broken


def test_the_index_names_every_page():
    index = DOCS / "README.md"
    linked = {
        (DOCS / match["target"].partition("#")[0]).resolve()
        for match in LINK.finditer(prose_of(index))
    }
    assert {name_of(page) for page in PAGES if page not in linked} == {name_of(index)}


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_blocks_are_what_they_say(page):
    for block in blocks_of(page):
        match block.info.split():
            case ["sh"]:
                pass
            case ["sh", "no-run"]:
                assert block.body.startswith(NOT_HERE), "the first line could be run"
                runnable = [line for line in block.body.splitlines() if not is_excused(line)]
                assert not runnable, "put these lines into a block of their own, tagged sh"
            case ["python"]:
                ast.parse(block.body)
            case ["json"]:
                json.loads(block.body)
            case ["toml"]:
                tomllib.loads(block.body)
            case ["yaml"]:
                yaml.safe_load(block.body)
            case [language]:
                assert language in OTHER_LANGUAGES
            case _:
                pytest.fail(f"a block is tagged {block.info!r}")


def is_excused(line):
    """Whether a line of a block that is not run has a reason not to be."""
    return not line.strip() or line.startswith((*NOT_HERE, *AFTER_IT))


def test_generated_pages_are_fresh():
    words = [sys.executable, ROOT / "scripts" / "generate_reference.py", "--check"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pages_that_list_the_distributions_list_all():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["workspace"]
    for page in (DOCS / "dev" / "architecture.md", ROOT / "README.md"):
        listed = re.findall(r"^\| `(grove-[\w-]+)` \|", page.read_text(), re.MULTILINE)
        assert sorted(listed) == sorted(project["members"]), page
    uninstall = (DOCS / "how-to" / "install.md").read_text()
    (line,) = re.findall(r"^ *pip uninstall (.+)$", uninstall, re.MULTILINE)
    assert sorted(line.split()) == sorted(project["members"])


def test_the_number_of_closes_that_are_recognised_is_that_of_the_table():
    table = ROOT / "grove-tickets" / "tests" / "data" / "close-commands.tsv"
    closes = [line.split("\t")[1] != "-" for line in table.read_text().splitlines()[1:]]
    said = f"all of {len(closes)} commands and tool calls: {sum(closes)} that close"
    assert said in (ROOT / "README.md").read_text()
    assert f"holds {len(closes)} commands" in (DOCS / "explanation" / "gate.md").read_text()


CONFIGURATION = DOCS / "reference" / "configuration.md"
GROUPS = {"backends": "grove_memory_backends", "tickets": "grove_ticket_probes"}
ROW = re.compile(r"^\| (?P<keys>`(?:backends|tickets)\..*?) \| (?P<default>.*?) \|", re.MULTILINE)


def described():
    """Key and default of each row; a row may hold several keys of one section."""
    found = {}
    for row in ROW.finditer(CONFIGURATION.read_text()):
        first, *others = re.findall(r"`([^`]+)`", row["keys"])
        for key in (first, *(first.rpartition(".")[0] + other for other in others)):
            found[key] = row["default"]
    return found


def declared():
    """Key and default of each setting of grove's own plugins."""
    found = {}
    for kind, hook in GROUPS.items():
        for entry in entry_points(group=f"grove.{kind}"):
            if not entry.dist.name.startswith("grove-"):
                continue
            for spec in getattr(entry.load(), hook)():
                for field in attrs.fields(spec.settings) if spec.settings else ():
                    found[f"{kind}.{spec.name}.{field.name}"] = default_of(field)
    return found


def default_of(field):
    default = field.default
    return default.factory() if hasattr(default, "factory") else default


def test_the_keys_of_plugins_are_those_that_are_declared():
    assert set(described()) == set(declared())


def test_a_minimal_backend_is_small_and_uses_public_names_only():
    """Twelve lines of Python besides the backend class, and eight of TOML."""
    example = DOCS / "examples" / "grove-backend-jsonfile"
    for name, most in (("grove_backend_jsonfile/__init__.py", 12), ("pyproject.toml", 8)):
        assert sum(map(bool, map(str.strip, (example / name).read_text().splitlines()))) <= most
    assert not any("grove_core." in path.read_text() for path in example.rglob("*.py"))
