"""A PostgreSQL with all of its extensions, which the one of `tests/real/postgres` has not."""

import secrets
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from real_servers import FOLDER
from throwaway_server import free_port, other_user

USER = "grove"


def programs():
    """The folder of PostgreSQL's programs, or a reason to skip."""
    unpacked = FOLDER / "postgresql"
    for root in (Path("/usr/lib/postgresql"), unpacked / "usr" / "lib" / "postgresql"):
        for initdb in sorted(root.glob("*/bin/initdb"), reverse=True):
            return initdb.parent
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    missing = FOLDER / "postgresql.missing"
    reason = missing.read_text().strip() if missing.exists() else "run make real-tools"
    pytest.skip(f"no postgresql: {reason}")


@contextmanager
def throwaway_postgres():
    """The address of an empty database, `postgresql://...`, and its folder."""
    folder = Path(tempfile.mkdtemp(prefix="grove-postgres-"))
    own, port, password = other_user(), free_port(), secrets.token_hex(16)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
    libraries = sorted((FOLDER / "postgresql").glob("usr/lib/*/libpq.so.5"))
    if libraries:
        environment["LD_LIBRARY_PATH"] = str(libraries[0].parent)
    where = programs()

    def run(program, *words):
        done = subprocess.run(
            [str(where / program), *words], check=False, cwd=folder, env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, timeout=60, **own,
        )  # fmt: skip
        assert done.returncode == 0, (folder / "setup.log").read_text()

    try:
        (folder / "password").write_text(password)
        for path in (folder, folder / "password"):
            shutil.chown(path, own.get("user"), own.get("group")) if own else None
        with (folder / "setup.log").open("w") as log:
            data = folder / "data"
            run(
                "initdb", "-D", str(data), "-U", USER, "--pwfile", str(folder / "password"),
                "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync",
            )  # fmt: skip
            # Nothing here outlives the test, so nothing has to reach the disk.
            settings = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
            run("pg_ctl", "-D", str(data), "-w", "-l", str(folder / "log"), "-o", settings, "start")
            try:
                yield f"{USER}:{quote(password)}@127.0.0.1:{port}/postgres"
            finally:
                run("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop")
        assert not (data / "postmaster.pid").exists()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
