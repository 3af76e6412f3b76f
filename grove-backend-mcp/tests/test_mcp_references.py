"""References to the environment, and how a server is reached from what is written down."""

import os
import re

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.finding.references import expand, resolve
from grove_backend_mcp.servers import Origin, ServerEntry, Transport

SECRET = "s3cret-of-the-environment"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("${A}", "one"),
        ("x${A}y${A}z", "xoneyonez"),
        ("${A:-default}", "one"),
        ("${EMPTY}", ""),
        ("${EMPTY:-default}", ""),
        ("${NONE:-default}", "default"),
        ("${NONE:-}", ""),
        ("${NONE:-a:-b}", "a:-b"),
        ("$A", "$A"),
        ("$A ${A}", "$A one"),
        ("${A", "${A"),
        ("${}", "${}"),
        ("${1A}", "${1A}"),
        ("${env:A}", "${env:A}"),
        ("${NESTED}", "${A}"),
        ("$${A}", "$one"),
    ],
)
def test_expansion(text, expected):
    environment = {"A": "one", "EMPTY": "", "NESTED": "${A}"}
    assert expand(text, environment) == expected


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(ServerFaultError, match="variable NONE is not set"):
        expand("a ${A:-x} ${NONE}", {})


NAMES = st.from_regex(r"[A-Z_][A-Z0-9_]{0,6}", fullmatch=True)
LITERAL = st.text(alphabet=st.characters(exclude_characters="$"), max_size=8)
DEFAULT = st.text(alphabet=st.characters(exclude_characters="}"), max_size=8)


@given(
    st.lists(
        st.one_of(
            LITERAL.map(lambda text: ("text", text, None)),
            st.tuples(st.just("reference"), NAMES, st.one_of(st.none(), DEFAULT)),
        ),
        max_size=6,
    ),
    st.dictionaries(NAMES, st.text(max_size=8)),
)
def test_whatever_is_referred_to_is_put_in_once(parts, environment):
    text = expected = ""
    missing = False
    for kind, name, default in parts:
        if kind == "text":
            text, expected = text + name, expected + name
            continue
        text += f"${{{name}}}" if default is None else f"${{{name}:-{default}}}"
        missing = missing or (name not in environment and default is None)
        expected += environment.get(name, default or "")
    if missing:
        with pytest.raises(ServerFaultError, match="is not set"):
            expand(text, environment)
    else:
        assert expand(text, environment) == expected


@given(st.text(), st.dictionaries(st.text(max_size=3), st.text(max_size=3)))
def test_any_text_is_expanded_or_refused(text, environment):
    try:
        expanded = expand(text, environment)
    except ServerFaultError:
        assert "${" in text
    else:
        assert expanded == text or "${" in text


@pytest.fixture
def place(tmp_path):
    """A project, a home and a directory of programs."""
    for name in ("project", "home", "bin"):
        (tmp_path / name).mkdir()
    for name in ("mem-server", "npx", "uvx", "node", "python3"):
        make_program(tmp_path / "bin" / name)
    return tmp_path


def make_program(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\nexit 0\n")
    path.chmod(0o755)


def environment_of(place, **more):
    return {"HOME": f"{place}/home", "PATH": f"{place}/bin", **more}


def entry_of(**fields):
    transport = Transport.HTTP if "url" in fields else Transport.STDIO
    named = {"name": "memory", "origin": Origin.USER, "source": "here", "transport": transport}
    return ServerEntry(**named | fields)


def reach(place, entry, passed=(), **more):
    return resolve(entry, environment_of(place, **more), place / "project", passed)


def test_a_program_is_found_and_given_little_of_the_environment(place):
    entry = entry_of(
        command="mem-server",
        args=("--db", "${HOME}/x", "$TOKEN"),
        env={"API": "Bearer ${TOKEN}", "MODE": "${MODE:-fast}"},
        extra={"CLAUDE_PLUGIN_ROOT": "/plugins/x"},
    )
    found = reach(
        place,
        entry,
        ("WANTED",),
        TOKEN=SECRET,
        WANTED="w" * 9,
        OTHER="no",
        LC_ALL="C.UTF-8",
        TMPDIR="/t",
        AWS_SECRET_ACCESS_KEY="never",
        CLAUDE_PROJECT_DIR="/elsewhere",
    )
    assert found.words == (f"{place}/bin/mem-server", "--db", f"{place}/home/x", "$TOKEN")
    assert found.environment == {
        "HOME": f"{place}/home",
        "PATH": f"{place}/bin",
        "LC_ALL": "C.UTF-8",
        "TMPDIR": "/t",
        "WANTED": "w" * 9,
        "API": f"Bearer {SECRET}",
        "MODE": "fast",
        "CLAUDE_PROJECT_DIR": f"{place}/project",
        "CLAUDE_PLUGIN_ROOT": "/plugins/x",
    }
    assert found.cwd == f"{place}/home"
    assert set(found.secrets) == {SECRET, "w" * 9}
    assert SECRET not in repr(found)


def test_a_secret_that_stands_in_a_file_of_the_client_works_and_is_never_shown(place):
    entry = entry_of(command="mem-server", env={"API_KEY": SECRET, "MODE": "semantic"})
    found = reach(place, entry)
    assert found.environment["API_KEY"] == SECRET
    assert found.secrets == (SECRET,)


def test_what_is_too_short_to_be_a_secret_is_not_masked(place):
    entry = entry_of(command="mem-server", args=("${LEVEL}",), env={"API_KEY": "abc"})
    assert reach(place, entry, LEVEL="1").secrets == ()


def test_a_proxy_with_a_password_is_a_secret(place):
    proxy = f"http://me:{SECRET}@proxy:3128"
    found = reach(place, entry_of(command="mem-server"), HTTPS_PROXY=proxy, NO_PROXY="localhost")
    assert found.environment["NO_PROXY"] == "localhost"
    assert found.secrets == (proxy, SECRET)


def test_what_an_option_is_given_as_a_secret_is_one(place):
    args = ("--api-key", SECRET, "--database", "postgres://me:hunter22@db/x", "--name=shop")
    found = reach(place, entry_of(command="mem-server", args=args))
    assert set(found.secrets) == {SECRET, "hunter22", "postgres://me:hunter22@db/x"}


def test_credentials_in_other_places_are_secrets(place):
    args = ("--header", f"Authorization: Bearer {SECRET}", "https://h/mcp?api_key=in-the-address")
    found = reach(place, entry_of(command="mem-server", args=args))
    assert {SECRET, "in-the-address"} <= set(found.secrets)
    entry = entry_of(url="https://h/mcp", headers={"X-Upstream": f"Bearer {SECRET}"})
    assert reach(place, entry).secrets == (SECRET,)
    entry = entry_of(command="mem-server", env={"DB": "postgres://me:pw%2F99x@db/x"})
    assert {"pw%2F99x", "pw/99x"} <= set(reach(place, entry).secrets)


def test_what_is_put_in_and_no_secret_is_not_masked(place):
    entry = entry_of(command="mem-server", env={"TEAM_SPACE": "${TEAM_SPACE}"})
    assert reach(place, entry, TEAM_SPACE="grove").secrets == ()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"command": "nowhere-to-be-found"}, "is not there"),
        ({"command": "/nowhere/at/all"}, "is not there"),
        ({"command": ""}, "is not there"),
        ({"command": "."}, "is not there"),
        ({"command": "mem\0server"}, "no process can be given"),
        ({"command": "${NONE}"}, "variable NONE is not set"),
        ({"command": "mem-server", "args": ("${NONE}",)}, "variable NONE is not set"),
        ({"command": "mem-server", "env": {"A": "${NONE}"}}, "variable NONE is not set"),
        ({"command": "mem-server", "args": ("a\0b",)}, "no process can be given"),
        ({"command": "mem-server", "args": ("\ud800",)}, "no process can be given"),
        ({"command": "mem-server", "env": {"A=B": "c"}}, "no process can be given"),
        ({"command": "mem-server", "env": {"": "c"}}, "no process can be given"),
        ({"command": "mem-server", "env": {"PATH": "/a\0b"}}, "no process can be given"),
        ({"command": "./tool"}, "would be the project's"),
        ({"command": "tools/tool"}, "would be the project's"),
        ({"command": "project-tool"}, "is not there"),
        ({"command": "linked-tool"}, "is not there"),
        ({"command": "${TOKEN}"}, "is not there"),
    ],
)
def test_a_program_that_cannot_be_started(place, fields, words):
    for name in ("tool", "tools/tool", "node_modules/.bin/project-tool", "linked"):
        make_program(place / "project" / name)
    (place / "bin" / "linked-tool").symlink_to(place / "project" / "linked")
    path = f".:node_modules/.bin:{place}/project/node_modules/.bin:{place}/bin"
    with pytest.raises(ServerFaultError, match=re.escape(words)) as caught:
        reach(place, entry_of(**fields), PATH=path, TOKEN=SECRET)
    assert caught.value.kind is FaultKind.NOT_STARTED
    assert SECRET not in caught.value.detail


def test_programs_of_the_project_do_not_stand_in_for_the_users(place):
    make_program(place / "project/bin/mem-server")
    path = f"{place}/project/bin:.:{place}/bin"
    found = reach(place, entry_of(command="mem-server"), PATH=path)
    assert found.words == (f"{place}/bin/mem-server",)
    assert found.environment["PATH"] == f"{place}/bin"


@pytest.mark.parametrize("origin", [Origin.LOCAL, Origin.PROJECT])
def test_what_is_meant_for_the_project_may_be_in_it(place, origin):
    make_program(place / "project/tools/mem")
    make_program(place / "project/bin/npx")
    path = f"{place}/project/bin:{place}/bin"
    found = reach(place, entry_of(command="./tools/mem", origin=origin))
    assert found.words == (f"{place}/project/tools/mem",)
    found = reach(place, entry_of(command="npx", origin=origin), PATH=path)
    assert (found.words, found.cwd) == ((f"{place}/project/bin/npx",), f"{place}/project")


def test_the_user_can_name_a_program_in_the_project(place):
    make_program(place / "project/tools/mem")
    entry = entry_of(command="${CLAUDE_PROJECT_DIR}/tools/mem", origin=Origin.CONFIGURED)
    assert reach(place, entry).words == (f"{place}/project/tools/mem",)


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("mem-server", ()),
        ("node", ("/opt/server/index.js",)),
        ("python3", ("-m", "mcp_server_qdrant")),
        ("npx", ("-y", "mcp-memory-keeper")),
        # Wrappers hide what looks for code, and for a file of settings, where it runs.
        ("/usr/bin/env", ("python3", "-m", "mcp_server_qdrant")),
        ("/usr/bin/nice", ("npx", "mcp-memory-keeper")),
    ],
)
@pytest.mark.parametrize("origin", Origin)
def test_only_what_is_of_the_project_runs_in_it(place, command, args, origin):
    found = reach(place, entry_of(command=command, args=args, origin=origin))
    is_of_it = origin in {Origin.LOCAL, Origin.PROJECT}
    assert found.cwd == str(place / ("project" if is_of_it else "home"))


@pytest.mark.parametrize("home", ["/nowhere/at/all", "", "project"])
def test_without_a_home_it_runs_nowhere_in_particular(place, home):
    home = f"{place}/project" if home == "project" else home
    assert reach(place, entry_of(command="npx"), HOME=home).cwd == "/"


@pytest.mark.parametrize(
    "url",
    [
        "https://memory.example/mcp",
        "https://memory.example:8443/mcp?team=a",
        "http://localhost:8765/mcp",
        "http://127.0.0.1/mcp",
        "http://127.8.9.1:1/mcp",
        "http://[::1]:8000/mcp",
        "HTTPS://memory.example/",
    ],
)
def test_addresses(place, url):
    assert reach(place, entry_of(url=url)).url == url


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://memory.example/mcp", "use https"),
        ("http://localhost.example/mcp", "use https"),
        ("http://127.0.0.1.example/mcp", "use https"),
        ("http://0.0.0.0/mcp", "use https"),
        ("http://2130706433/mcp", "use https"),
        ("ftp://localhost/mcp", "no http or https address"),
        ("file:///etc/passwd", "no http or https address"),
        ("https://", "no http or https address"),
        ("https://a b/", "no http or https address"),
        ("https://a/\r\nX: y", "no http or https address"),
        ("https://a:port/", "no http or https address"),
        ("https://[::1/", "no http or https address"),
        ("memory.example/mcp", "no http or https address"),
        (f"https://me:{SECRET}@memory.example/", "holds a user or password"),
        ("https://memory.example/${NONE}", "variable NONE is not set"),
        ("${NONE}", "variable NONE is not set"),
    ],
)
def test_addresses_that_are_not_used(place, url, words):
    with pytest.raises(ServerFaultError, match=words) as caught:
        reach(place, entry_of(url=url))
    assert SECRET not in caught.value.detail


def test_headers_are_expanded_and_secret(place):
    entry = entry_of(
        url="https://memory.example/${TEAM}?api_key=in-the-file&page=first",
        headers={"Authorization": "Bearer ${TOKEN}", "X-Key": "as-it-is"},
    )
    found = reach(place, entry, TOKEN=SECRET, TEAM="core-team")
    assert found.headers == {"Authorization": f"Bearer {SECRET}", "X-Key": "as-it-is"}
    assert found.url == "https://memory.example/core-team?api_key=in-the-file&page=first"
    # What is no secret by its name is not masked: it may stand in any answer.
    assert set(found.secrets) == {SECRET, f"Bearer {SECRET}", "as-it-is", "in-the-file"}
    assert list(found.secrets) == sorted(found.secrets, key=len, reverse=True)


@pytest.mark.parametrize(
    "headers", [{"A": "${LINES}"}, {"A b": "c"}, {"": "c"}, {"A": "\x00"}, {"A:": "c"}]
)
def test_headers_that_would_be_more_than_one_are_refused(place, headers):
    with pytest.raises(ServerFaultError, match="no header may"):
        reach(place, entry_of(url="https://a/", headers=headers), LINES="a\r\nHost: b")


def test_nothing_is_taken_from_the_processes_own_environment(place, monkeypatch):
    monkeypatch.setenv("TOKEN_OF_THE_PROCESS", SECRET)
    with pytest.raises(ServerFaultError, match="is not set"):
        reach(place, entry_of(command="${TOKEN_OF_THE_PROCESS}"))
    found = reach(place, entry_of(command="mem-server"), ("TOKEN_OF_THE_PROCESS",))
    assert "TOKEN_OF_THE_PROCESS" not in found.environment
    assert os.environ["TOKEN_OF_THE_PROCESS"] == SECRET


def test_the_digest_is_of_what_is_written_down():
    entry = entry_of(command="x", args=("${A}",), env={"B": "c"})
    assert entry.digest == evolve(entry, name="other", source="there").digest
    for changed in ({"args": ("${A}", "y")}, {"env": {}}, {"command": "y"}, {"extra": {"A": "b"}}):
        assert evolve(entry, **changed).digest != entry.digest
