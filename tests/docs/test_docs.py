"""The documentation says what is true: links lead somewhere, commands run, generated parts are fresh.

The convention for fenced blocks, in docs/, README.md and CHANGELOG.md:

- ``sh`` is run, with bash and ``set -eu``, all blocks of a page in their order in one scratch home
  directory. A command that is meant to fail says so: ``grove … || echo "exit code $?"``.
- ``sh no-run`` is not run; its first line begins with what the tests here do not have (NOT_HERE),
  and the others, too, or with what needs that (AFTER_IT). The lines with which README.md and
  docs/how-to/install.md install grove are run by tests/packaging/test_installing.py. Pages about
  memory servers find programs, or a server over HTTP, that stand in for real ones (STAND_INS).
- ``console`` right after an ``sh`` block is what that block prints, stderr included. ``…`` stands for
  any text in a line, a line of ``…`` for any lines; learning ids, times and the scratch directory
  need not agree. That of the README is what `make demo` prints (test_readme.py); any other is only
  looked at by people.
- ``python``, ``json``, ``toml`` and ``yaml`` blocks must be of that language; ``json`` may hold
  ``…`` in texts.
- Anything else carries one of the OTHER_LANGUAGES.
"""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLE = DOCS / "examples" / "grove-backend-jsonfile"
COLLECTION = DOCS / "examples" / "shop-and-blog"
SOURCE = ROOT / "grove-core" / "src" / "grove_core"
PAGES = sorted(page for page in DOCS.rglob("*.md") if not page.is_relative_to(DOCS / "examples"))
TEXTS = [*PAGES, *(ROOT / name for name in ("README.md", "CHANGELOG.md") if (ROOT / name).exists())]
# What needs an index, the client, a checkout, or a shell that goes on.
NOT_HERE = (
    *(
        "pip ",
        "uv ",
        "uvx ",
        "pipx ",
        "npm ",
        "claude",
        "make ",
        "git clone",
        "sh plugin/install.sh",
    ),
    "alias ",
)
# What only works once an installer has run: other people's programs, variables for them, and a
# check of a package that the block has installed. Our own commands run in blocks of their own.
AFTER_IT = (
    *("# ", "  ", "export ", "basic-memory ", "python -m pytest ", "pytest", "ruff ", "mypy"),
    "grove plugins check ",
)
OTHER_LANGUAGES = {"text", "markdown", "mermaid", "console", "sql"}
PYTHON_PATH = {"write-a-backend.md"}
IN_A_PROJECT = {ROOT / "README.md"}
USES_COLLECTION = {"evaluate-retrieval.md"}
MEMORY_SERVER = ROOT / "grove-backend-mcp" / "tests" / "servers" / "fake_memory.py"
# What stands in for the programs of real servers, with what it is like and where it keeps things.
STAND_INS = {
    "use-an-mcp-memory-server.md": {
        "node": ("graph", "$MEMORY_FILE_PATH"),
        "thought-server": ("thoughts", "$HOME/thoughts.json"),
    }
}
USES_TEAM_SERVER = {"share-a-memory-server.md"}
USES_DATABASE = {"share-learnings-in-postgres.md"}
POSTGRES = ROOT / "tests" / "postgres" / "harness"
SERVER_SECONDS = 30
HOME = "/home/you"

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE
)
LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|`[^`]*`)*\]\((?P<target>[^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(?P<title>.+?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    info: str
    body: str
    follows_directly: bool


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    found = []
    end = 0
    for match in FENCE.finditer(text):
        width = len(match["indent"])
        body = "".join(line[width:] for line in match["body"].splitlines(keepends=True))
        between = text[end : match.start()].strip()
        found.append(Block(match["info"].strip(), body, follows_directly=not between and end > 0))
        end = match.end()
    return found


def prose_of(page):
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def name_of(page):
    return str(page.relative_to(ROOT))


# --- links --------------------------------------------------------------------------------------


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


# --- blocks -------------------------------------------------------------------------------------


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


def environment_for(scratch, page):
    home = scratch / HOME.lstrip("/")
    home.mkdir(parents=True)
    environment = {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "init.defaultBranch",
        "GIT_CONFIG_VALUE_0": "main",
        "GIT_AUTHOR_NAME": "you",
        "GIT_AUTHOR_EMAIL": "you@example.invalid",
        "GIT_COMMITTER_NAME": "you",
        "GIT_COMMITTER_EMAIL": "you@example.invalid",
    }
    if page.name in PYTHON_PATH:
        environment["PYTHONPATH"] = str(install_example(scratch / "site"))
    if page in IN_A_PROJECT:
        (home / "shop").mkdir()
    if page.name in USES_COLLECTION:
        shutil.copytree(COLLECTION, home / COLLECTION.name)
    if page.name in STAND_INS:
        programs = install_stand_ins(scratch / "programs", STAND_INS[page.name])
        environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    return home, environment


def install_stand_ins(folder, programs):
    """Programs that behave as memory servers do that the tests may not have."""
    folder.mkdir()
    for name, (kind, store) in programs.items():
        words = shlex.join([sys.executable, str(MEMORY_SERVER), kind])
        (folder / name).write_text(f'#!/bin/sh\nexec {words} "{store}"\n')
        (folder / name).chmod(0o755)
    return folder


@contextmanager
def team_server(page, scratch):
    """What a page finds in its environment: a server over HTTP, where it is about one."""
    if page.name in USES_DATABASE:
        with team_database(page) as variables:
            yield variables
        return
    if page.name not in USES_TEAM_SERVER:
        yield {}
        return
    port = scratch / "port"
    words = [MEMORY_SERVER, "notes", scratch / "notes.json", "--http", port]
    server = subprocess.Popen([sys.executable, *words], stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + SERVER_SECONDS
        while not port.exists():
            assert server.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        yield {"TEAM_MEMORY_URL": f"http://127.0.0.1:{port.read_text()}/mcp"}
    finally:
        server.kill()
        server.wait()


@contextmanager
def team_database(page):
    """The database that a page has its administrator make; libpq finds it in the environment."""
    sys.path.insert(0, str(POSTGRES))
    from throwaway_server import installations, running_server, why_none

    if not (found := installations()):
        pytest.skip(f"no postgresql: {why_none()}")
    statements = "".join(block.body for block in blocks_of(page) if block.info == "sql")
    with running_server(found[0]) as server:
        for statement in filter(str.strip, statements.split(";")):
            server.ask(statement)
        yield {"PGHOSTADDR": "127.0.0.1", "PGPORT": str(server.port), "PGPASSWORD": "…"}


def install_example(site):
    """What `pip install` of the example leaves behind, without an index or a build."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    metadata = site / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for package in EXAMPLE.glob("*/__init__.py"):
        shutil.copytree(package.parent, site / package.parent.name)
    return site


def pattern_of(shown):
    """Turn a `console` block into a regular expression for the output."""
    lines = []
    for line in shown.rstrip("\n").split("\n"):
        if line.strip() == "…":
            lines.append(r"(?:[^\n]*\n)*?")
        else:
            parts = (re.escape(part) for part in normalised(line.rstrip()).split("…"))
            lines.append(r"[^\n]*?".join(parts) + r"\n")
    return "".join(lines)


def normalised(text):
    text = re.sub(r"cl_\d{8}_[a-z0-9]{6}", "cl_ID", text)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)


def with_commands():
    """The pages whose commands are run."""
    for page in TEXTS:
        if any(block.info == "sh" for block in blocks_of(page)):
            marks = [pytest.mark.postgres] if page.name in USES_DATABASE else []
            yield pytest.param(page, marks=marks, id=name_of(page))


@pytest.mark.parametrize("page", [*with_commands()])
def test_commands_run_and_print_what_is_shown(page, tmp_path):
    home, environment = environment_for(tmp_path, page)
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    script = ["set -eu"]
    expected = {}
    number = 0
    previous = ""
    for block in blocks_of(page):
        if block.info == "sh":
            number += 1
            script += [f"exec > {shlex.quote(str(outputs))}/{number} 2>&1", block.body]
        elif block.info == "console" and previous == "sh" and block.follows_directly:
            expected[number] = block.body
        previous = block.info
    with team_server(page, tmp_path) as variables:
        done = subprocess.run(
            ["bash", "-c", "\n".join(script)],
            cwd=home,
            env={**environment, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    printed = {
        int(file.name): file.read_text().replace(str(tmp_path), "") for file in outputs.iterdir()
    }
    assert done.returncode == 0, f"block {max(printed, default=0)}: {printed}"
    for position, shown in expected.items():
        actual = "".join(f"{line.rstrip()}\n" for line in printed[position].splitlines())
        agrees = re.fullmatch(pattern_of(shown), normalised(actual)) is not None
        assert agrees, f"the page shows:\n{shown}\nreally printed:\n{actual}"


def test_the_page_about_backends_shows_the_whole_example():
    page = (DOCS / "tutorial" / "write-a-backend.md").read_text()
    files = [file for file in EXAMPLE.rglob("*") if file.suffix in {".py", ".toml"}]
    assert len(files) > 1
    for file in files:
        assert f"\n{file.read_text()}```\n" in page, file.name


# --- the code agrees ----------------------------------------------------------------------------


def test_generated_pages_are_fresh():
    script = ROOT / "scripts" / "generate_reference.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def generator():
    """The constants of the generator, without running it."""
    tree = ast.parse((ROOT / "scripts" / "generate_reference.py").read_text())
    found = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call):
            found[node.target.id] = {each.value for each in ast.walk(node) if is_text(each)}
    return found


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def code_of_core():
    return {file: file.read_text() for file in SOURCE.rglob("*.py")}


def attributes_in(code):
    """Pairs such as `gate.session` that the code reads, whatever stands before them."""
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)]
    owners = {
        id(node): getattr(node.value, "attr", getattr(node.value, "id", "")) for node in nodes
    }
    return {f"{owners[id(node)]}.{node.attr}" for node in nodes}


def test_every_key_is_read_somewhere():
    """A key is read as an attribute of its section: `config.gate.session`, `auto_skip.enabled`."""
    from grove_core.config.schema import config_keys

    read = set().union(*map(attributes_in, code_of_core().values()))
    assert [key for key in config_keys() if ".".join(key.split(".")[-2:]) not in read] == []


def test_events_that_are_not_written_are_just_those_that_nothing_makes():
    from grove_core.model.events import EVENT_TYPES

    code = "\n".join(text for file, text in code_of_core().items() if file.name != "events.py")
    unwritten = {
        name
        for name, kind in EVENT_TYPES.items()
        if not re.search(rf"(?<!case )\b{kind.__name__}\(\n? *[a-z]", code)
    }
    assert unwritten == generator()["NOT_WRITTEN"]


def test_pages_that_list_the_distributions_list_all():
    workspace = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["workspace"]
    for page in (DOCS / "explanation" / "architecture.md", ROOT / "README.md"):
        listed = re.findall(r"^\| `(grove-[\w-]+)` \|", page.read_text(), re.MULTILINE)
        assert sorted(listed) == sorted(workspace["members"]), page
    uninstall = (DOCS / "how-to" / "uninstall.md").read_text()
    (line,) = re.findall(r"^ *pip uninstall (.+)$", uninstall, re.MULTILINE)
    assert sorted(line.split()) == sorted(workspace["members"])


def test_the_architecture_names_every_module():
    text = (DOCS / "explanation" / "architecture.md").read_text()
    missing = []
    for package in sorted(ROOT.glob("grove-*/src/*")):
        for file in package.rglob("*.py"):
            name = file.relative_to(package).as_posix()
            if file.name != "__init__.py" and f"`{name}`" not in text:
                missing.append(f"{package.name}: {name}")
    assert not missing


def test_decisions_of_time_limits_agree_with_the_code():
    from grove_core.memory import available, library
    from grove_core.plugins.limits import TimeLimits
    from grove_core.ticketing import systems as ticketing

    text = (DOCS / "reference" / "hooks.md").read_text()
    for name, seconds in {
        "TicketProbe.detect": ticketing.DETECT_SECONDS,
        "TicketProbe.current_ticket": ticketing.CURRENT_TICKET_SECONDS,
        "CloseMatcher.match": ticketing.MATCH_SECONDS,
        "CloseMatcher.confirm": ticketing.CONFIRM_SECONDS,
        "BackendSpec.open": available.OPEN_SECONDS,
    }.items():
        assert re.search(rf"`{re.escape(name)}`.*\| {seconds:g}\b", text), name
    assert library.READ_SECONDS == library.WRITE_SECONDS == 5
    limits = TimeLimits()
    assert (limits.load, limits.registration, limits.life_cycle) == (1.0, 0.5, 0.5)
