"""The checks of `grove doctor` one by one; tests of the command plant a mistake for each."""

import json
import sys
import time

import pytest

from grove_core.clock import now_utc
from grove_core.doctor import program
from grove_core.doctor.check import Check, Examination, run_checks
from grove_core.doctor.records import secrets
from grove_core.model.check import Status, ok
from grove_core.project import Project
from grove_core.services import packages

KEY = "-----BEGIN PRIVATE KEY-----"
BODY = "MIIEowIBAAKCAQEAv7qk3Zs0p1XnQ8rWm5tYh2LdBc9fGj"
TOKEN = "ghp_" + "1234567890abcdefghijABCDEFGHIJ123456"


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    (root / ".grove").mkdir(parents=True)
    environment = {"HOME": str(tmp_path), "GROVE_HOME": str(tmp_path / "home")}
    return Project(root, environment, now_utc())


@pytest.fixture
def examination(project):
    return Examination(project)


def run(look, examination, seconds=2.0):
    return list(run_checks([Check("a check", look, seconds)], examination))


def fails(_):
    raise OSError("the disk\nis \x1b[31mgone")


def hangs(_):
    time.sleep(0.5)
    return ()


@pytest.mark.parametrize(
    ("look", "word"), [(fails, "the disk is"), (hangs, "longer than 0.1 seconds")]
)
def test_a_check_that_fails_is_broken_and_the_others_go_on(examination, look, word):
    fine = Check("fine", lambda _: iter([ok("well")]))
    first, bad, last = run_checks([fine, Check("bad", look, 0.005), fine], examination)
    assert (first.name, bad.name, last.name) == ("fine", "bad", "fine")
    assert (bad.status, bool(bad.fix), bad.detail.isprintable()) == (Status.BROKEN, True, True)
    assert word in bad.detail


def an_event(number, **fields):
    known = {"v": 1, "ts": f"2030-01-02T10:00:{number:02}Z", "event": "rated", "grove": "0.1.0"}
    return json.dumps({**known, "learning_id": "cl_1", "useful": True, **fields})


def places(examination):
    found = run(secrets, examination)
    assert TOKEN not in repr(found)
    assert BODY not in repr(found)
    return [one.detail.partition(": ")[0] for one in found if one.status is Status.BROKEN]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"### [cl_1] Deploys\r\n\r\n> Use {TOKEN} for it.\r\n", 3),
        ("line\n" * 398 + f"> {KEY}\n> {BODY}\n" + "line\n" * 500, 399),
    ],
)
def test_secrets_in_learnings(project, examination, text, line):
    project.paths.home.mkdir()
    paths = (project.root / ".grove" / "learnings.md", project.paths.personal_learnings)
    for path in paths:
        path.write_bytes(text.encode())
    assert places(examination) == [f"{path}:{line}" for path in paths]


def test_secrets_in_logs(project, examination):
    lines = [
        an_event(1, event="surfaced", session_id="s"),
        an_event(2, event="skip", reason=f"the key is {TOKEN}", session_id="s", decider="user"),
        an_event(3, event="rejected", summary=f"{KEY}\n{BODY}", session_id="s"),
        f'{{"event": "torn", "why": "{TOKEN}',
        an_event(5, event="celebrated", what='password = "hunter2-Zq8vXw41"'),
        an_event(6, event="skip", reason="nothing new", session_id=TOKEN[4:], decider="user"),
    ]
    path = project.root / ".grove" / "stats.log"
    path.write_text("\n".join(lines))
    assert places(examination) == [f"{path}:{number}" for number in (2, 3, 5)]
    digest = run(secrets, examination)[0].fix.split('"')[1]
    (project.root / ".grove" / "config.toml").write_text(f'[secrets]\nallow = ["{digest}"]\n')
    again = Project(project.root, project.environment, project.now)
    assert f"{path}:2" not in places(Examination(again))


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("#!/bin/sh\n", 0o755, ""),
        ("#!/bin/sh\n", 0o644, "is not executable"),
        ("#!/gone/python\n", 0o755, "cannot start, as its interpreter /gone/python is gone"),
        (None, 0, "does not exist"),
    ],
)
def test_why_a_program_cannot_be_started(tmp_path, text, mode, why):
    path = tmp_path / "grove"
    if text is not None:
        path.write_text(text)
        path.chmod(mode)
    assert program.why_not_startable(str(path)) == why


@pytest.mark.parametrize(
    ("receipt", "command", "start"),
    [
        ("none", "pip install acme", "pip install mine"),
        ("pipx_metadata.json", "pipx inject grove-core acme", "pipx inject grove-core mine"),
        ("uv-receipt.toml", "--with acme", "uv tool install grove-core"),
    ],
)
def test_packages_are_added_by_what_grove_was_installed_with(
    tmp_path, monkeypatch, receipt, command, start
):
    (tmp_path / receipt).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert packages.install_command("acme").endswith(command)
    assert packages.install_command("mine").startswith(start)
    # What is there is named again, as uv takes away what is not.
    assert ("--with grove-tickets" in packages.install_command("acme")) is (
        receipt == "uv-receipt.toml"
    )


def test_suggestions_come_from_the_extras_of_core():
    assert "grove-core[markdown,tickets,hosts]" in packages.how_to_install()
    assert packages.install_command_named("total-recall").endswith("grove-backend-totalrecall")
    assert packages.install_command_named("acme") == ""
