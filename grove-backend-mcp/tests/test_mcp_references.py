"""References to the environment, and how a server is reached from what is written down."""

import re

import pytest
from core_worlds import write_program

from grove_backend_mcp.discovery.references import expand, resolve
from grove_backend_mcp.servers import FaultKind, Origin, ServerEntry, ServerFaultError
from grove_core import BackendContext

SECRET = "s3cret-of-the-environment"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("${A}", "one"),
        ("${A:-default}", "one"),
        ("${EMPTY:-default}", ""),
        ("${NONE:-default}", "default"),
        ("${NONE:-a:-b}", "a:-b"),
        ("$A ${A}", "$A one"),
        ("${}", "${}"),
        ("${env:A}", "${env:A}"),
        ("${NESTED}", "${A}"),
        ("$${A}", "$one"),
    ],
)
def test_expansion(text, expected):
    environment = {"A": "one", "EMPTY": "", "NESTED": "${A}"}
    assert expand(text, environment) == expected
    with pytest.raises(ServerFaultError, match="NONE is not set"):
        expand(f"{text}${{NONE}}", environment)


@pytest.fixture
def place(tmp_path):
    """A project, a home and a directory of programs."""
    for name in ("project", "home", "bin"):
        (tmp_path / name).mkdir()
    for name in ("mem-server", "npx", "uvx", "node", "python3"):
        write_program(tmp_path / "bin" / name)
    return tmp_path


def environment_of(place, **more):
    return {"HOME": f"{place}/home", "PATH": f"{place}/bin", **more}


def entry_of(**fields):
    named = {"name": "memory", "origin": Origin.USER, "source": "here"}
    return ServerEntry(**named | fields)


def reach(place, entry, **more):
    environment = environment_of(place, **more)
    return resolve(
        entry, BackendContext(root=place / "project", home=place, environment=environment)
    )


def test_a_program_is_found_and_given_little_of_the_environment(place):
    entry = entry_of(
        command="mem-server",
        args=("--db", "${HOME}/x", "$TOKEN"),
        env={"API": "Bearer ${TOKEN}", "MODE": "${MODE:-fast}"},
    )
    wanted = {"LC_ALL": "C.UTF-8", "TMPDIR": "/t"}
    others = {"OTHER": "no", "AWS_SECRET_ACCESS_KEY": "never", "CLAUDE_PROJECT_DIR": "/elsewhere"}
    found = reach(place, entry, TOKEN=SECRET, **wanted, **others)
    assert found.words == (f"{place}/bin/mem-server", "--db", f"{place}/home/x", "$TOKEN")
    assert found.environment == {
        "HOME": f"{place}/home",
        "PATH": f"{place}/bin",
        **wanted,
        "API": f"Bearer {SECRET}",
        "MODE": "fast",
        "CLAUDE_PROJECT_DIR": f"{place}/project",
    }
    assert found.cwd == f"{place}/home"
    assert set(found.secrets) == {SECRET}
    assert SECRET not in repr(found)


DATABASE = "postgres://me:pw%2F99x@db/x"


@pytest.mark.parametrize(
    ("fields", "variables", "secrets"),
    [
        ({"env": {"API_KEY": SECRET, "MODE": "semantic"}}, {}, {SECRET}),
        ({"env": {"API_KEY": "abc"}, "args": ("${LEVEL}",)}, {"LEVEL": "1"}, {"abc"}),
        ({"env": {"TEAM_SPACE": "${TEAM_SPACE}"}}, {"TEAM_SPACE": "grove"}, set()),
        ({"args": ("--api-key", SECRET, "--name=shop")}, {}, {SECRET}),
        ({"args": ("--database", DATABASE)}, {}, {"pw%2F99x", "pw/99x"}),
        ({"args": ("https://h/mcp?api_key=in-the-address",)}, {}, {"in-the-address"}),
        ({"args": ("--header", f"Authorization: Bearer {SECRET}")}, {}, {SECRET}),
        ({}, {"HTTPS_PROXY": f"http://me:{SECRET}@proxy"}, {SECRET}),
    ],
)
def test_secrets_are_known_wherever_they_stand(place, fields, variables, secrets):
    found = reach(place, entry_of(command="mem-server", **fields), **variables)
    assert set(found.secrets) >= secrets
    assert bool(found.secrets) == bool(secrets)
    # What is no secret is not masked: it may stand in any answer.
    assert not {"shop", "semantic", "grove", "1"} & set(found.secrets)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"command": "nowhere-to-be-found"}, "is not there"),
        ({"command": ""}, "is not there"),
        ({"command": "mem\0server"}, "is not there"),
        ({"command": "${NONE}"}, "variable NONE is not set"),
        ({"command": "mem-server", "env": {"A": "${NONE}"}}, "variable NONE is not set"),
        ({"command": "./tool"}, "would be the project's"),
        ({"command": "project-tool"}, "is not there"),
        ({"command": "linked-tool"}, "is not there"),
    ],
)
def test_a_program_that_cannot_be_started(place, fields, words):
    for name in ("tool", "tools/tool", "node_modules/.bin/project-tool", "linked"):
        write_program(place / "project" / name)
    (place / "bin" / "linked-tool").symlink_to(place / "project" / "linked")
    path = f".:node_modules/.bin:{place}/project/node_modules/.bin:{place}/bin"
    with pytest.raises(ServerFaultError, match=re.escape(words)) as caught:
        reach(place, entry_of(**fields), PATH=path, TOKEN=SECRET)
    assert caught.value.kind is FaultKind.NOT_STARTED
    assert SECRET not in caught.value.detail


def test_programs_of_the_project_do_not_stand_in_for_the_users(place):
    write_program(place / "project/bin/mem-server")
    path = f"{place}/project/bin:.:{place}/bin"
    found = reach(place, entry_of(command="mem-server"), PATH=path)
    assert found.words == (f"{place}/bin/mem-server",)
    assert found.environment["PATH"] == f"{place}/bin"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://memory.example/mcp", "must be https"),
        ("http://127.0.0.1.example/mcp", "must be https"),
        ("ftp://localhost/mcp", "must be https"),
        ("https://a/\r\nX: y", "must be https"),
        ("https://[::1/", "must be https"),
        (f"https://me:{SECRET}@memory.example/", "holds a user or password"),
        ("https://memory.example/${NONE}", "variable NONE is not set"),
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
