"""The commands that the documentation shows run, and print what is shown (tests/docs says how)."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path

import pytest
from core_worlds import run_program, write_program
from pages import DOCS, ROOT, TEXTS, blocks_of, name_of

from grove_core.quotation import NOTE

EXAMPLE = DOCS / "examples" / "grove-backend-jsonfile"
COLLECTION = DOCS / "examples" / "shop-and-blog"
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
USES_DATABASE = {"share-learnings-in-postgres.md"}
POSTGRES = ROOT / "tests" / "real" / "postgres" / "harness"
HOME = "/home/you"


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
        write_program(folder / name, f'exec {words} "{store}"')
    return folder


@contextmanager
def team_database(page):
    """The database that a page has its administrator make; libpq finds it in the environment."""
    if page.name not in USES_DATABASE:
        yield {}
        return
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
    # Pages show a terminal, where nothing is quoted that commands quote into files and pipes.
    text = re.sub(r"(?m)[ \t]+(?:> )?|^> ?", " ", text.replace(f"{NOTE}\n", ""))
    text = re.sub(r"(?m)^ | $", "", text)
    text = re.sub(r"cl_\d{8}_[a-z0-9]{6}", "cl_ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)
    return re.sub(r"\b\d{4}-\d\d-\d\d\b", "DAY", text)


def with_commands():
    """The pages whose commands are run."""
    for page in TEXTS:
        if any(block.info == "sh" for block in blocks_of(page)):
            yield pytest.param(page, id=name_of(page))


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
    with team_database(page) as variables:
        done = run_program(
            ["bash", "-c", "\n".join(script)],
            cwd=home,
            env={**environment, **variables},
            stdin=subprocess.DEVNULL,
            timeout=600,
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


SCRIPTS = ["screenshots.py", "measure_lessons.py"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_scripts_have_written_into_pages_is_true(script):
    done = run_program([sys.executable, ROOT / "scripts" / script, "--check"])
    assert done.returncode == 0, done.stdout + done.stderr
