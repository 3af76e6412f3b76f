"""Installing grove as people do: with uv, pipx or pip, into a home of its own, and out of it again.

The lines are those of docs/how-to/install.md and README.md, to the letter: whoever changes one there
or here has to change the other. Each journey goes through a whole loop of the gate with an upgrade in
the middle. Homes lie in a folder whose name holds a space and letters beyond ASCII.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from attrs import define
from core_worlds import run_program
from scale import turned_up

import grove_core

ROOT = Path(__file__).parents[3]
USUAL = ("grove-core", "grove-backend-markdown", "grove-tickets", "grove-hosts")
CORE, WHAT = "grove-core", "'grove-core[markdown,tickets,hosts]'"
SOMEBODY = "grove-backend-of-somebody"
VERSION = grove_core.__version__
NEXT = re.sub(r"\d+$", lambda last: str(int(last[0]) + 1), VERSION)
NOT_OURS = (
    *("GROVE_", "PYTHON", "VIRTUAL_ENV", "UV_PROJECT", "UV_TOOL", "UV_COMPILE", "XDG_", "PIPX_"),
    "CLAUDE",
)
INSTALLERS = re.compile(r"(?:uvx?|pipx?) ")
PAGES = (ROOT / "README.md", ROOT / "docs" / "how-to" / "install.md")
PEOPLE_READ = sorted(
    page
    for page in {*PAGES, ROOT / "plugin" / "README.md", *(ROOT / "docs").rglob("*.md")}
    if "grove-core" in page.read_text()
)
EXTRAS = re.compile(r"grove-core\[([\w,-]+)\]")
BARE_CORE = re.compile(r"\b(?:pip|pipx|uv tool) install\b[^\n`]*(?<!\./)\bgrove-core(?!\[)[^\n`]*")
INSTALL = {name: f"{name} install {WHAT}" for name in ("uv tool", "pipx", "pip")}
UPGRADE = {
    "uv tool": "uv tool upgrade grove-core",
    "pipx": "pipx upgrade --include-injected grove-core",
    "pip": f"pip install --upgrade {WHAT}",
}
ADD = {
    "uv tool": f"uv tool install 'grove-core[markdown,tickets,hosts,mcp]' --with {SOMEBODY}",
    "pipx": f"pipx inject grove-core grove-backend-mcp {SOMEBODY}",
    "pip": f"pip install grove-backend-mcp {SOMEBODY}",
}
DOWNLOAD = f"pip download --dest wheels {WHAT}"
FROM_WHEELS = [
    f"{name} install --no-index --find-links wheels {WHAT}" for name in ("uv tool", "pip")
]
FROM_CHECKOUT = [f"{name} install --find-links dist {WHAT}" for name in ("uv tool", "pip")]
FROM_FOLDERS = "uv tool install ./grove-core --with ./grove-backend-markdown --with ./grove-tickets --with ./grove-hosts"
TRY = f"uvx --from {WHAT} grove --help"
# Each loads the script of completion, and complains of nothing.
SHELLS = {
    "bash": (
        "--norc",
        "-c",
        'eval "$(_GROVE_COMPLETE=bash_source grove)"; complete -p grove > /dev/null',
    ),
    "zsh": (
        *("-f", "-c"),
        'autoload -U compinit; compinit -D; eval "$(_GROVE_COMPLETE=zsh_source grove)"',
    ),
    "fish": (
        *("--no-config", "-c"),
        "_GROVE_COMPLETE=fish_source grove | source; complete -c grove > /dev/null",
    ),
}


@pytest.fixture(scope="session")
def next_wheels(once, uv):
    """The folder of the wheels of the version after this one."""

    def build(folder):
        for package in USUAL:
            source = folder / "source" / package
            shutil.copytree(ROOT / package, source, ignore=shutil.ignore_patterns("__pycache__"))
            for path in (source / "pyproject.toml", *source.glob("src/*/__init__.py")):
                path.write_text(path.read_text().replace(f'{VERSION}"', f'{NEXT}"'))
            uv("build", "--wheel", "--out-dir", folder, source)

    return once("next wheels", build)


@pytest.fixture(scope="session")
def pipx(once, new_environment):
    folder = once("pipx", lambda folder: new_environment(folder, "pipx"))
    return folder / "bin" / "pipx"


@define(slots=False)
class Machine:
    """A person's machine: a home, and what is on PATH."""

    project: object  # of conftest.py
    programs: Path
    variables: dict

    def run(self, *words, code=0, **variables):
        done = run_program(
            list(map(str, words)),
            cwd=self.project.project,
            env={**self.variables, **variables},
            timeout=900,
        )
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def left(self):
        """What is there of grove's, apart from what belongs to the person or to an installer."""
        paths = [path for path in self.project.home.rglob("*grove*") if path.suffix != ".lock"]
        return [path for path in paths if not path.is_relative_to(self.project.grove_home)]


class Way:
    """One way to install grove."""

    def __init__(self, machine, program):
        self.machine, self.program = machine, program

    def run(self, *words, **variables):
        return self.machine.run(self.program, *words, **variables)

    def does(self, line, wheels):
        """Does what is said; the index that knows grove's packages is this folder."""
        words = shlex.split(line)
        assert words[0] == Path(self.program).name
        self.run(*words[1:], UV_FIND_LINKS=str(wheels), PIP_FIND_LINKS=wheels.as_uri())

    def install(self, wheels, what=WHAT):
        self.does(INSTALL[self.name].replace(WHAT, what), wheels)

    def upgrade(self, wheels):
        self.does(UPGRADE[self.name], wheels)


class WithUv(Way):
    name = "uv tool"

    def remove(self):
        self.run("tool", "uninstall", CORE)


class WithPipx(Way):
    name = "pipx"

    def install(self, wheels, what=WHAT):
        super().install(wheels, f"--python '{sys.executable}' {what}")

    def remove(self):
        self.run("uninstall", CORE)


class WithPip(Way):
    name = "pip"

    def install(self, wheels, what=WHAT):
        if not Path(self.program).exists():
            self.machine.run(sys.executable, "-m", "venv", self.machine.programs.parent)
        super().install(wheels, what)

    def remove(self):
        self.run("uninstall", "--yes", *USUAL)


def lines_of(page):
    """What a page has people do with an installer."""
    blocks = re.findall(r"^```sh no-run\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line.partition("  #")[0].rstrip() for block in blocks for line in block.splitlines()]
    return {line for line in lines if INSTALLERS.match(line)}


def test_these_are_the_lines_that_people_read():
    ours = {*INSTALL.values(), *UPGRADE.values(), *ADD.values(), DOWNLOAD}
    ours |= {*FROM_WHEELS, *FROM_CHECKOUT, FROM_FOLDERS}
    assert set().union(*map(lines_of, PAGES)) == ours


@pytest.mark.parametrize("page", PEOPLE_READ, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_install_our_packages_by_extras_that_core_has(page):
    """One style everywhere: an extra asks for the version that fits, `--with` for any."""
    project = tomllib.loads((ROOT / CORE / "pyproject.toml").read_text())["project"]
    text = page.read_text()
    named = {name for extras in EXTRAS.findall(text) for name in extras.split(",")}
    assert named <= set(project["optional-dependencies"])
    assert BARE_CORE.findall(text) == []
    assert re.findall(r"--with (grove-(?:tickets|backend-(?!of-somebody))\S*)", text) == []


@pytest.fixture(scope="session")
def person(uv_program):
    """The variables of a person's shell, but for home and PATH; what is downloaded is kept."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(NOT_OURS)}
    cache = subprocess.run(
        [uv_program, "--no-config", "cache", "dir"], capture_output=True, text=True, check=True
    )
    return {
        **kept,
        "LANG": "C.UTF-8",
        "UV_CACHE_DIR": cache.stdout.strip(),
        "UV_PYTHON": sys.executable,
        "UV_PYTHON_DOWNLOADS": "never",
    }


@pytest.fixture
def machine(person, project_of, tmp_path):
    """Makes a machine on which nothing of grove's is installed."""

    def make(folder):
        home = tmp_path.resolve() / "größere machine" / "home"
        project = project_of(SimpleNamespace(folder=home / folder), "größere machine")
        programs = project.home / folder / "bin"
        path = os.pathsep.join([str(programs), "/usr/bin", "/bin"])
        return Machine(project, programs, {**person, "HOME": str(project.home), "PATH": path})

    return make


WAYS = [WithUv, *turned_up([], [WithPipx]), WithPip]


@pytest.fixture(params=WAYS, ids=lambda way: way.name)
def way(request, machine, uv_program):
    if request.param is WithPip:
        mine = machine("shop-tools")
        return WithPip(mine, mine.programs / "pip")
    program = request.getfixturevalue("pipx") if request.param is WithPipx else uv_program
    return request.param(machine(".local"), program)


def active(project):
    done = project.grove("plugins", "--json")
    assert (done.code, done.stderr) == (0, ""), done
    plugins = done.json["plugins"]
    assert {one["state"] for one in plugins} == {"loaded"}
    return {(one["name"], one["version"]) for one in plugins}


def registered(project):
    """The programs that the client would start."""
    settings = json.loads((project.project / ".claude" / "settings.local.json").read_text())
    groups = [group for event in settings["hooks"].values() for group in event]
    return {shlex.split(hook["command"])[0] for group in groups for hook in group["hooks"]}


def completes(way):
    """Load the script of completion in each shell that is here."""
    for shell, words in SHELLS.items():
        if found := shutil.which(shell):
            assert way.machine.run(found, *words) == ""


def test_a_journey(way, wheels, next_wheels, candidate):
    project = way.machine.project
    way.install(wheels)
    program = way.machine.programs / "grove"
    assert way.machine.run("grove", "--version") == f"grove {VERSION}\n"
    assert {("markdown", VERSION), ("tissue", VERSION)} <= active(project)
    completes(way)

    project.use_beads()
    project.start_ticket("shop-1", title="Orders report takes 40 seconds")
    done = project.grove("init", "--hooks")
    assert (done.code, done.stderr) == (0, ""), done
    assert (project.grove_home / "program").read_text() == f"{next(iter(registered(project)))}\n"
    for command in registered(project):
        assert os.access(command, os.X_OK)
    agent = project.agent("monday")
    agent.starts()

    way.upgrade(next_wheels)
    assert way.machine.run(program, "--version") == f"grove {NEXT}\n"
    assert {("markdown", NEXT), ("tissue", NEXT)} <= active(project)
    for command in registered(project):
        assert way.machine.run(command, "--version") == f"grove {NEXT}\n"

    agent.closes("shop-1")
    agent.is_blocked()
    assert agent.reflects(candidate()).code == 0
    agent.is_let_go(active=True)
    agent.ends()
    project.start_ticket("shop-2", title="Orders export is slow, too")
    assert candidate()["summary"] in project.agent("tuesday").starts()

    (learning,) = (project.project / ".grove" / "learnings").iterdir()
    kept = learning.read_bytes()
    assert project.grove("init", "--uninstall").code == 0
    way.remove()
    assert not os.path.lexists(program)
    assert way.machine.left() == []
    assert not (project.project / ".claude").exists()
    assert learning.read_bytes() == kept
    assert candidate()["summary"].encode() in kept


def test_one_line_installs_a_clone(machine, uv_program):
    mine = machine(".local")
    words = FROM_FOLDERS.replace("./", f"{ROOT}/")
    mine.run(uv_program, *shlex.split(words)[1:])
    assert {("markdown", VERSION), ("tissue", VERSION)} <= active(mine.project)


def test_the_one_liner_needs_no_installation(machine, uv_program, wheels):
    mine = machine(".local")
    uvx = (uv_program, "tool", "run", "--find-links", wheels)
    words = shlex.split(TRY)
    assert "Usage: grove" in mine.run(*uvx, *words[1:])
    line = (*uvx, *words[1:-1])
    assert mine.run(*line, "--version") == f"grove {VERSION}\n"
    assert "grove-backend-markdown" in mine.run(*line, "plugins")
    assert mine.left() == []
    # uv clears its cache: nothing that has to be there tomorrow may name this program.
    assert "runs from the cache" in mine.run(*line, "init")
    assert not (mine.project.grove_home / "program").exists()
    assert "uv tool install" in mine.run(*line, "init", "--dry-run")
    refused = mine.run(*line, "init", "--hooks", code=1)
    assert "there is no program grove for hooks to run. Install grove where it stays" in refused
    assert not (mine.project.project / ".claude").exists()


def test_from_a_folder_of_wheels_without_a_network(machine, uv_program, wheels):
    """What `pip download` has brought is enough."""
    mine = machine(".local")
    venv = mine.project.home / "venv" / "bin"
    mine.run(sys.executable, "-m", "venv", venv.parent)
    with_pip, with_uv = WithPip(mine, venv / "pip"), WithUv(mine, uv_program)
    with_pip.does(DOWNLOAD, wheels)
    for way, line in ((with_uv, FROM_WHEELS[0]), (with_pip, FROM_WHEELS[1])):
        words = shlex.split(line)
        way.run(*words[1:], UV_OFFLINE="1", UV_CACHE_DIR=str(mine.project.home / "cache"))
    for program in ("grove", venv / "grove"):
        assert mine.run(program, "--version") == f"grove {VERSION}\n"


def test_core_alone_is_told_what_it_lacks_and_that_mends_it(way, wheels):
    """The mistake that people make first."""
    project = way.machine.project
    way.install(wheels, CORE)
    assert project.grove("init").code == 0
    told = ["memory backends", "primary backend", "ticket systems"]
    for lacking in (["clients", *told], told, ["ticket systems"], []):
        broken = {one["name"]: one for one in doctor(project) if one["status"] == "broken"}
        assert sorted(broken) == lacking
        if lacking:
            way.does(broken[lacking[0]]["fix"], wheels)
            assert project.grove("init", "--hooks").code == 0
    # Somebody's backend, as far as an installer can tell.
    way.does(ADD[way.name].replace(SOMEBODY, "grove-backend-postgres"), wheels)
    assert {"mcp", "postgres"} <= {name for name, _ in active(project)}
    assert project.grove("init", "--hooks").code == 0
    left = {one["name"] for one in doctor(project) if one["status"] != "ok"}
    assert left == {"hooks running"}


def doctor(project):
    return project.grove("doctor", "--json").json["checks"]
