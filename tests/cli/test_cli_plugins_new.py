"""`grove plugins new`: what it writes, and the names and folders that it refuses."""

import ast
import json
import re
import shlex
import subprocess
import sys
import tomllib

import pytest
import yaml

from grove_core import __version__

KINDS = {"backend": "grove-backend-", "ticket": "grove-tickets-"}
LONGEST = "an-acme-of-thirty-characters-x"


@pytest.fixture
def desk(world):
    """A folder that tests may write to, with a blank and letters beyond ASCII in its name."""
    folder = world.others / "größere desk"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def new(world, desk):
    def new(*words, **variables):
        return world.grove("plugins", "new", *words, cwd=desk, **variables)

    return new


def files_in(folder):
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def code_lines(text):
    return [line for line in text.splitlines() if line.strip()]


# --- what is written ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_project_is_written_and_what_to_do_next_is_said(new, desk, kind):
    done = new(kind, "acme-notes")
    assert (done.code, done.stderr) == (0, "")
    distribution = f"{KINDS[kind]}acme-notes"
    module = distribution.replace("-", "_")
    written = files_in(desk / distribution)
    main = "backend.py" if kind == "backend" else "tracker.py"
    assert set(written) == {
        ".github/workflows/ci.yml",
        ".gitignore",
        "README.md",
        "pyproject.toml",
        f"src/{module}/__init__.py",
        f"src/{module}/{main}",
        f"src/{module}/py.typed",
        "tests/test_contract.py",
    }
    lines = done.stdout.splitlines()
    assert [line.removeprefix("wrote ") for line in lines if line.startswith("wrote ")] == sorted(
        f"{distribution}/{name}" for name in written
    )
    assert [line.strip() for line in lines if line.startswith("  ")] == [
        f"python -m pip install -e ./{distribution}'[dev]'",
        f"python -m pytest ./{distribution}",
        f"grove plugins check {distribution}",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_text_is_of_its_language_with_nothing_left_to_fill_in(new, desk, kind):
    assert new(kind, "acme").code == 0
    distribution = f"{KINDS[kind]}acme"
    for name, text in files_in(desk / distribution).items():
        assert "%{" not in text, name
        assert "MODULE" not in text, name
        assert text.endswith("\n") or not text, name
        if name.endswith(".py"):
            ast.parse(text)
            assert not re.search(r"(from|import) grove_core\.(?!testing import)", text), name
    written = files_in(desk / distribution)
    project = tomllib.loads(written["pyproject.toml"])["project"]
    assert project["name"] == distribution
    group = {"backend": "grove.backends", "ticket": "grove.tickets"}[kind]
    module = distribution.replace("-", "_")
    assert project["entry-points"] == {group: {"acme": module}}
    major, minor, _ = __version__.split(".")
    assert f"grove-core>={major}.{minor},<{major}.{int(minor) + 1}" in project["dependencies"]
    assert "grove-core[testing]" in project["optional-dependencies"]["dev"]
    jobs = yaml.safe_load(written[".github/workflows/ci.yml"])["jobs"]
    steps = [step.get("run") for step in jobs["test"]["steps"]]
    assert f"grove plugins check {distribution}" in steps
    assert "${{ matrix.python }}" in written[".github/workflows/ci.yml"]
    assert "licence" in written["README.md"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("folder", ["src", "tests"])
def test_its_own_checks_find_what_has_no_type(new, desk, kind, folder):
    assert new(kind, "acme").code == 0
    project = desk / f"{KINDS[kind]}acme"
    (project / folder / "untyped.py").write_text("def untyped(one):\n    return one\n")
    for words in (["ruff", "check", "--no-cache"], ["mypy", "--cache-dir", str(desk / "cache")]):
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=project, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1, done.stdout + done.stderr
        assert f"{folder}/untyped.py:1" in done.stdout
    steps = yaml.safe_load((project / ".github/workflows/ci.yml").read_text())["jobs"]["test"]
    commands = [step.get("run") for step in steps["steps"]]
    assert "mypy" in commands
    assert "ruff check && ruff format --check" in commands


def test_what_makes_it_a_plugin_is_small(new, desk):
    """Twelve lines of Python besides the class, eight of TOML that are needed."""
    assert new("backend", "acme").code == 0
    written = files_in(desk / "grove-backend-acme")
    assert len(code_lines(written["src/grove_backend_acme/__init__.py"])) <= 12
    optional = r"(description|readme|requires-python|optional-dependencies\.dev) ="
    before_tools = written["pyproject.toml"].partition("[tool.")[0]
    needed = [line for line in code_lines(before_tools) if not re.match(optional, line)]
    assert len(needed) <= 8


@pytest.mark.parametrize("kind", KINDS)
def test_each_contract_takes_six_lines(new, desk, kind):
    """A store that cannot be written comes on top, for those who can make one."""
    assert new(kind, "acme").code == 0
    text = files_in(desk / f"{KINDS[kind]}acme")["tests/test_contract.py"]
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            body = [one for one in node.body if getattr(one, "name", "") != "broken_backend"]
            node.body = body
            assert len(code_lines(ast.unparse(node))) <= 6, node.name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["acme", LONGEST])
def test_the_code_is_clean_whatever_the_name(new, desk, kind, name):
    assert new(kind, name).code == 0
    project = desk / f"{KINDS[kind]}{name}"
    checks = [
        ["ruff", "check", "--no-cache", "."],
        ["ruff", "format", "--no-cache", "--check", "."],
    ]
    if name == "acme":
        # As its own CI does, by its own configuration.
        checks.append(["mypy", "--cache-dir", str(desk / "cache")])
    for words in checks:
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=project, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_folder_can_be_named(new, desk):
    (desk / "empty").mkdir()
    for folder in ("empty", "not there yet/at all"):
        done = new("backend", "acme", "--into", folder)
        assert done.code == 0, done.stderr
        assert (desk / folder / "pyproject.toml").exists()
    assert "pip install -e './not there yet/at all''[dev]'" in done.stdout
    absolute = new("ticket", "acme", "--into", desk / "elsewhere")
    assert f"pip install -e '{desk}/elsewhere''[dev]'" in absolute.stdout


@pytest.mark.parametrize(
    ("receipt", "begin", "option", "python"),
    [
        (
            "uv-receipt.toml",
            "uv tool install grove-core --with",
            "--with-editable",
            sys.executable,
        ),
        ("pipx_metadata.json", "pipx inject grove-core ", "-e", sys.executable),
        ("none", "python -m pip install ", "-e", "python"),
    ],
)
def test_what_brought_grove_is_what_brings_the_plugin(world, new, receipt, begin, option, python):
    place = world.others / "tool environment"
    place.mkdir(parents=True)
    (place / receipt).touch()
    site = world.others / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(f"import sys\nsys.prefix = {str(place)!r}\n")
    project = "./grove-backend-acme"
    install, test, check = new("backend", "acme", "--json", PYTHONPATH=site).json["next"]
    assert install.startswith(begin)
    assert install.endswith(f" {option} {project}'[dev]'")
    # What is installed already stays with uv only if it is named again.
    assert ("/grove-tickets" in install) == ("uv" in receipt)
    assert test == f"{shlex.quote(python)} -m pytest {project}"
    assert check == "grove plugins check grove-backend-acme"


@pytest.mark.parametrize("kind", KINDS)
def test_where_to_see_whether_the_name_is_free_is_said(new, desk, kind):
    done = new(kind, "acme")
    page = f"https://pypi.org/project/{KINDS[kind]}acme/"
    assert page in done.stdout.splitlines()[-1]
    assert page in (desk / f"{KINDS[kind]}acme" / "README.md").read_text()


def test_json_and_quiet_name_the_same(new, desk):
    document = new("backend", "acme", "--json").json
    assert set(document) == {"distribution", "folder", "written", "next"}
    assert document["distribution"] == "grove-backend-acme"
    assert document["folder"] == str(desk / "grove-backend-acme")
    quiet = new("backend", "acme", "--quiet", "--into", "again").stdout.splitlines()
    assert [one.replace("again", "grove-backend-acme", 1) for one in quiet] == document["written"]


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "", " ", "Acme", "1acme", "-acme", "acme-", "ac--me", "ac_me", "ac me", "acmé", "ac.me",
        "../acme", "/tmp/acme", "ac/me", "acme\n", "$(id)", "%{name}", "a" * 31, "acme[x]", "ａcme",
    ],
)  # fmt: skip
def test_a_name_that_does_not_do_is_refused_with_the_rule(new, desk, name):
    done = new("backend", "--", name)
    assert (done.code, done.stdout) == (1, "")
    assert "does not do as a name" in done.stderr
    assert list(desk.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("backend", "markdown", "a backend called markdown is installed"),
        ("ticket", "beads", "a ticket called beads is installed"),
        ("backend", "grove-backend-acme", "such as acme:"),
        ("backend", "grove-acme", "such as acme:"),
        ("ticket", "grove-tickets-acme", "such as acme:"),
        ("backend", "primary", "a word of grove's own configuration"),
        ("backend", "overrides", "a word of grove's own configuration"),
        ("backend", "config", "a word of grove's own configuration"),
    ],
)
def test_a_name_that_is_taken_is_refused(new, desk, kind, name, said):
    done = new(kind, name)
    assert (done.code, done.stdout) == (1, "")
    assert said in done.stderr
    assert list(desk.iterdir()) == []


@pytest.mark.parametrize("name", ["done", "if", "cd", "sudo"])
def test_a_ticket_system_is_no_word_of_the_shell(new, desk, name):
    done = new("ticket", name)
    assert (done.code, done.stdout) == (1, "")
    assert f"{name} is a word of the shell: choose another name" in done.stderr
    assert new("backend", name).code == 0


def test_a_package_that_grove_can_bring_is_taken_though_it_is_not_installed(world, new, desk):
    """Its name stands in the metadata of grove-core alone."""
    site = world.others / "site"
    metadata = site / "grove_core-9.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: grove-core\nVersion: 9.0\n"
        "Provides-Extra: shelf\nRequires-Dist: Grove_Backend.Shelf==9.0; extra == 'shelf'\n"
    )
    done = new("backend", "shelf", PYTHONPATH=site)
    assert (done.code, done.stdout) == (1, "")
    assert "there is a package grove-backend-shelf already: choose another name" in done.stderr
    assert list(desk.iterdir()) == []
    assert new("backend", "she", PYTHONPATH=site).code == 0


def test_an_installed_package_is_taken_whatever_its_plugins_are_called(world, new, desk):
    world.install_plugin("grove-backend-acme", "grove_api = 1\n")
    entry_points = world.others / "site/grove-backend-acme-1.0.dist-info/entry_points.txt"
    entry_points.write_text("[grove.backends]\ncupboard = cupboard\n")
    done = new("backend", "acme")
    assert (done.code, done.stdout) == (1, "")
    assert "there is a package grove-backend-acme already" in done.stderr


def test_a_name_of_the_other_kind_is_free(new):
    assert new("ticket", "markdown").code == 0
    assert new("backend", "beads").code == 0


def test_a_folder_that_is_not_empty_stays_as_it_is(new, desk):
    (desk / "grove-backend-acme").mkdir()
    (desk / "grove-backend-acme" / ".hidden").write_text("mine\n")
    done = new("backend", "acme")
    assert (done.code, done.stdout) == (1, "")
    assert "grove-backend-acme is not empty: name another folder with --into" in done.stderr
    assert files_in(desk / "grove-backend-acme") == {".hidden": "mine\n"}


def test_what_cannot_be_a_folder_is_refused(new, desk):
    (desk / "file").write_text("mine\n")
    assert new("backend", "acme", "--into", "file").code == 2
    below = new("backend", "acme", "--into", "file/below")
    assert below.code == 1
    assert "file/below" in below.stderr
    (desk / "loop").symlink_to("loop")
    loop = new("backend", "acme", "--into", "loop")
    assert loop.code in (1, 2)
    assert "Traceback" not in below.stderr + loop.stderr


def test_what_is_neither_kind_is_a_usage_error(new):
    done = new("engine", "acme")
    assert done.code == 2
    for word in ("engine", "backend", "ticket"):
        assert word in done.stderr


def test_the_group_still_lists_the_plugins(world):
    listed = world.grove("plugins", "--json")
    assert {"plugins", "own", "problems"} == set(json.loads(listed.stdout))
    helped = world.grove("plugins", "--help")
    assert "check" in helped.stdout
    assert "new" in helped.stdout
