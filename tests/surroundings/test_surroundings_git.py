"""Projects as git leaves them: broken, linked, nested, without a git program, with odd names."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

LARGE = "".join(f"line {number}\n" for number in range(60))


@pytest.fixture
def repository(world):
    """A git project that uses grove and no ticket system."""
    world.initialise()
    (world.project / "app.py").write_text("print()\n")
    world.make_git()
    return world


def started(world):
    agent = world.agent()
    agent.starts()
    return agent


def git_in(world, folder, *words):
    """Runs git in another folder than the project."""
    identity = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")
    options = ("-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *identity, *options, *words],
        cwd=folder,
        env=world.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def edits(agent, *paths):
    """The agent edits files with the client's tools, which only the transcript tells of."""
    agent.transcript.parent.mkdir(parents=True, exist_ok=True)
    with agent.transcript.open("a") as file:
        for path in paths:
            use = {"type": "tool_use", "name": "Write", "input": {"file_path": str(path)}}
            file.write(json.dumps({"message": {"content": [use]}}) + "\n")


# --- git that cannot be used ---------------------------------------------------------------------


@pytest.fixture
def without_git(world):
    """Takes git from PATH, and leaves what else the programs need."""
    programs = world.others / "programs"
    programs.mkdir(parents=True)
    for name in ("sh", "env", "cat"):
        (programs / name).symlink_to(shutil.which(name))

    def take_away():
        world.environment["PATH"] = str(programs)

    return take_away


def test_without_git_the_transcript_tells(repository, without_git):
    """The gate holds all the same, and the log says why it did not ask git."""
    without_git()
    agent = started(repository)
    agent.is_let_go()
    edits(agent, repository.project / "app.py")
    agent.is_blocked()
    assert "git" in repository.log()
    assert repository.log("crash.log") == ""


def test_git_that_goes_away_in_mid_session(repository, without_git):
    agent = started(repository)
    (repository.project / "app.py").write_text(LARGE)
    path = repository.environment["PATH"]
    without_git()
    agent.is_let_go()
    assert "git failed or was late" in repository.log()
    repository.environment["PATH"] = path
    agent.is_blocked()


def test_commands_without_git(repository, without_git, candidate):
    without_git()
    agent = started(repository)
    for words in (("status",), ("list",), ("reflect", "--brief")):
        done = agent.grove(*words)
        assert (done.code, done.stderr) == (0, ""), words
    assert agent.reflects(candidate(1)).code == 0
    assert len(repository.learning_ids()) == 1


def cut_head(git):
    (git / "HEAD").write_bytes(b"")


def garble_head(git):
    (git / "HEAD").write_bytes(bytes(range(256)))


def remove_head(git):
    (git / "HEAD").unlink()


def lead_head_nowhere(git):
    (git / "refs" / "heads" / "main").write_text("0123456789" * 4 + "\n")


def remove_objects(git):
    shutil.rmtree(git / "objects")
    (git / "objects").mkdir()


def garble_objects(git):
    for path in (git / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"garbage")


def garble_index(git):
    (git / "index").write_bytes(b"DIRC garbage")


def garble_config(git):
    (git / "config").write_text("[core\n\0")


def lead_file_nowhere(git):
    shutil.rmtree(git)
    git.write_text("gitdir: /nonexistent/repository\n")


def empty_folder(git):
    shutil.rmtree(git)
    git.mkdir()


def lead_link_nowhere(git):
    shutil.rmtree(git)
    git.symlink_to("/nonexistent/repository")


BROKEN = {
    "an empty HEAD": cut_head,
    "a garbled HEAD": garble_head,
    "no HEAD": remove_head,
    "a HEAD that names no object": lead_head_nowhere,
    "no objects": remove_objects,
    "garbled objects": garble_objects,
    "a garbled index": garble_index,
    "a garbled config": garble_config,
    "a .git file that leads nowhere": lead_file_nowhere,
    "an empty .git folder": empty_folder,
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_repository_that_breaks_in_mid_session(repository, case):
    """What was changed cannot be measured: the agent is let go, and the log says why."""
    agent = started(repository)
    BROKEN[case](repository.project / ".git")
    (repository.project / "app.py").write_text(LARGE)
    agent.is_let_go()
    (line,) = repository.log().splitlines()
    assert "git failed or was late" in line
    assert "session=session-1" in line
    assert repository.log("crash.log") == ""
    assert agent.grove("skip", "The repository was broken").code == 0


@pytest.mark.parametrize("case", BROKEN)
def test_a_repository_that_was_broken_before(repository, case):
    """The baseline cannot be taken: the transcript tells instead, and the log says why."""
    BROKEN[case](repository.project / ".git")
    agent = started(repository)
    edits(agent, repository.project / "app.py")
    assert agent.stops().code in (0, 2)
    assert "git" in repository.log()
    assert repository.log("crash.log") == ""
    assert repository.session()["project_root"] == str(repository.project)


def test_a_link_to_no_repository_is_none(repository):
    """A `.git` that leads nowhere is no repository, to git neither: the transcript tells."""
    lead_link_nowhere(repository.project / ".git")
    agent = started(repository)
    (repository.project / "app.py").write_text(LARGE)
    agent.is_let_go()
    edits(agent, repository.project / "app.py")
    agent.is_blocked()
    assert repository.log() == ""


def test_a_debt_outlives_its_repository(beads):
    """With a ticket system, no fault of git's has any part in the gate."""
    beads.make_git()
    agent = beads.agent()
    agent.starts()
    shutil.rmtree(beads.project / ".git" / "objects")
    garble_head(beads.project / ".git")
    agent.closes("bd-1")
    agent.is_blocked()
    assert beads.log() == ""


# --- one project by several names ----------------------------------------------------------------


def test_a_project_by_two_names(beads):
    """One session, one state, one place for what is derived, however the way there is written."""
    alias = beads.others / "alias"
    alias.parent.mkdir()
    alias.symlink_to(beads.project)
    (beads.project / "src").mkdir()
    agent = beads.agent()
    agent.starts(cwd=str(alias))
    key = [path.name for path in (beads.grove_home / "cache").iterdir() if path.is_dir()]
    agent.closes("bd-1")
    assert beads.session()["project_root"] == str(beads.project)
    for cwd in (alias, beads.project, alias / "src", alias / "src" / ".." / "src"):
        agent.is_blocked(cwd=str(cwd)) if cwd == alias else agent.stops(cwd=str(cwd))
    by_alias = beads.grove("status", "--json", "-C", str(alias)).json
    by_name = beads.grove("status", "--json").json
    assert by_alias["root"] == by_name["root"] == str(beads.project)
    assert by_alias["session"]["id"] == by_name["session"]["id"] == "session-1"
    assert by_alias["debts"] == by_name["debts"]
    beads.agent("session-2").starts()
    assert [path.name for path in (beads.grove_home / "cache").iterdir() if path.is_dir()] == key


def test_links_inside_a_project_lead_nowhere_else(repository):
    """A link to a large file elsewhere is a link: its target is nobody's work."""
    elsewhere = repository.others / "large.txt"
    elsewhere.parent.mkdir()
    elsewhere.write_text(LARGE)
    agent = started(repository)
    (repository.project / "link").symlink_to(elsewhere)
    (repository.project / "loop").symlink_to("loop")
    (repository.project / "nowhere").symlink_to("/nonexistent")
    agent.is_let_go()
    (repository.project / "app.py").write_text(LARGE)
    agent.is_blocked()


# --- worktrees and submodules --------------------------------------------------------------------


def test_a_linked_worktree_is_a_project_of_its_own(repository):
    """It has the committed `.grove/`, its own root, and only its own changes count in it."""
    world = repository
    (world.project / ".grove" / "learnings.md").write_text("")
    world.git("add", "-A")
    world.git("commit", "-q", "-m", "Use grove")
    linked = world.others / "linked"
    world.git("worktree", "add", "-q", "-b", "topic", str(linked))
    agent = world.agent()
    agent.starts(cwd=str(linked))
    assert world.session()["project_root"] == str(linked)
    (world.project / "app.py").write_text(LARGE)
    agent.is_let_go(cwd=str(linked))
    (linked / "new.py").write_text(LARGE)
    git_in(world, linked, "add", "-A")
    git_in(world, linked, "commit", "-q", "-m", "Work")
    agent.is_blocked(cwd=str(linked))
    assert world.log() == ""
    # A work tree that is taken away takes no session with it.
    world.git("worktree", "remove", "--force", str(linked))
    assert agent.stops(cwd=str(linked)).code in (0, 2)
    assert agent.grove("skip", "The work tree is gone").code == 0


@pytest.fixture
def nested(repository):
    """The project with a submodule `part`, both committed."""
    origin = repository.others / "origin"
    origin.mkdir(parents=True)
    git_in(repository, origin, "init", "-q", "--template=")
    (origin / "part.py").write_text("part = 1\n")
    git_in(repository, origin, "add", "-A")
    git_in(repository, origin, "commit", "-q", "-m", "Part")
    git_in(repository, repository.project, "submodule", "--quiet", "add", str(origin), "part")
    repository.git("commit", "-q", "-am", "Add the part")
    return repository


def test_a_submodule_belongs_to_the_project_around_it(nested):
    """The nearest `.grove/` is the outer one; what was changed outside of the part counts."""
    part = nested.project / "part"
    assert (part / ".git").is_file()
    agent = nested.agent()
    agent.starts(cwd=str(part))
    assert nested.session()["project_root"] == str(nested.project)
    agent.is_let_go(cwd=str(part))
    (nested.project / "app.py").write_text(LARGE)
    agent.is_blocked(cwd=str(part))
    assert nested.log() == ""


def test_a_submodule_with_a_grove_of_its_own_is_a_project(nested):
    part = nested.project / "part"
    (part / ".grove").mkdir()
    (part / ".grove" / "config.toml").write_text("")
    agent = nested.agent()
    # The work of grove's own files is watched in the outer project only.
    payload = {"session_id": "session-1", "source": "startup", "cwd": str(part)}
    nested.start("hook", "session-start").communicate(json.dumps(payload).encode())
    assert nested.session()["project_root"] == str(part)
    agent.is_let_go(cwd=str(part))
    (part / "new.py").write_text(LARGE)
    agent.is_blocked(cwd=str(part))
    (part / "new.py").unlink()
    (nested.project / "app.py").write_text(LARGE)
    other = nested.agent("session-2")
    other.starts()
    assert nested.session("session-2")["project_root"] == str(nested.project)


# --- names ---------------------------------------------------------------------------------------


ODD_NAMES = {
    "not UTF-8": b"caf\xe9.py",
    "a line break": b"a\nb.py",
    "a tab and quotes": b"a\t\"b'.py",
    "a leading dash": b"-rf.py",
    "a glob": b"[a-z]*.py",
    "a control character": b"a\x1b[2Jb.py",
    "long": b"x" * 250,
}


HOW = ("untracked", "tracked", "dirty before")
NAMES = [(case, HOW[number % 3]) for number, case in enumerate(ODD_NAMES)]


@pytest.mark.parametrize(("case", "how"), [*NAMES, ("not UTF-8", "tracked"), ("not UTF-8", HOW[2])])
def test_a_file_name_that_is_no_plain_text_is_measured(repository, case, how):
    """Its lines count, and the state that remembers it can be read again."""
    path = Path(os.fsdecode(os.fsencode(repository.project) + b"/" + ODD_NAMES[case]))
    if how != "untracked":
        path.write_text("line\n")
    if how == "tracked":
        repository.git("add", "-A")
        repository.git("commit", "-q", "-m", "Odd")
    agent = started(repository)
    path.write_text(LARGE)
    agent.is_blocked()
    assert agent.grove("reflect", "--brief").code == 0
    assert repository.log() == repository.log("crash.log") == ""


def test_a_project_whose_own_name_is_odd(beads):
    """Every text that names it is still one line, and the loop goes round."""
    odd = beads.project / "a b\n\x1b[2J'\"$(touch gone) é"
    odd.mkdir()
    for name in (".grove", ".beads"):
        shutil.copytree(beads.project / name, odd / name)
        shutil.rmtree(beads.project / name)
    beads.environment["PWD"] = str(odd)
    agent = beads.agent()
    payload = {"session_id": "session-1", "cwd": str(odd), "source": "startup"}
    assert beads.hook("SessionStart", payload).code == 0
    call = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-1"}, "tool_use_id": "t1"}
    assert beads.hook("PreToolUse", {**payload, **call}).code == 0
    assert beads.hook("PostToolUse", {**payload, **call, "tool_response": {}}).code == 0
    assert beads.hook("Stop", payload).code == 2
    assert beads.log("crash.log") == ""
    done = beads.start("status", cwd=odd).communicate()[0].decode()
    assert "\x1b" not in done
    assert agent.session_id in done
