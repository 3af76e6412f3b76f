"""Whatever the settings look like: hooks in, hooks out, and every byte is as it was."""

import json
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.errors import StorageError
from grove_core.flow.connecting import plan_hooks, plan_rules
from grove_core.flow.disconnecting import plan_removal
from grove_core.flow.install_plan import Plan
from grove_core.flow.installation import InstallationRecord, digest_of
from grove_core.workspace import Workspace

NOW = datetime(2030, 1, 2, tzinfo=UTC)
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
hooks = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.sampled_from(["a", "ä b"])}
)
groups = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(hooks, max_size=2)}) | values, max_size=3
)
documents = st.fixed_dictionaries(
    {},
    optional={
        "hooks": st.dictionaries(st.sampled_from(["Stop", "PreToolUse", "Other"]), groups),
        "permissions": st.fixed_dictionaries({}, optional={"allow": st.lists(values, max_size=2)}),
        "ключ": values,
        "env": values,
    },
)


@st.composite
def contents(draw):
    """The bytes of a settings file, or none."""
    kind = draw(st.sampled_from(["text", "text", "text", "empty", "absent"]))
    if kind == "absent":
        return None
    if kind == "empty":
        return draw(st.sampled_from([b"", b"\n", b"{}", b"{ }\r\n", b"\xef\xbb\xbf{}"]))
    text = json.dumps(
        draw(documents),
        indent=draw(st.sampled_from([None, 0, 2, 3, "\t"])),
        ensure_ascii=draw(st.booleans()),
        separators=draw(st.sampled_from([(",", ":"), (" , ", " : "), None])),
    ).replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    mark = draw(st.sampled_from(["", "\ufeff"]))
    end = draw(st.sampled_from(["", "\n", "\r\n", "  \n\n"]))
    return f"{mark}{text}{end}".encode("utf-8", "surrogatepass")


class Place:
    """A project with a home of its own."""

    def __init__(self, folder):
        self.root = Path(folder, "project")
        self.root.mkdir()
        environment = {"HOME": str(folder), "GROVE_HOME": f"{folder}/grove", "PATH": "/bin"}
        self.workspace = Workspace(self.root, environment, NOW, load_plugins=False)
        self.record = InstallationRecord(self.workspace.paths, self.root)

    def connect(self, *, shared=False, allow=True, program="/opt/größe/grove"):
        plan = Plan(root=self.root, installation=self.record.read())
        plan_hooks(plan, self.workspace, program, shared=shared, allow=allow)
        plan_rules(plan, self.workspace)
        plan.make(self.record)
        return plan

    def disconnect(self):
        removal = plan_removal(self.workspace, self.record, shared=False)
        removal.make(self.workspace, self.record)
        return removal

    def listing(self):
        """Every entry of the project with its bytes and mode."""
        return {
            str(path.relative_to(self.root)): (
                path.lstat().st_mode,
                path.read_bytes() if path.is_file() else None,
            )
            for path in self.root.rglob("*")
        }


@settings(max_examples=60, deadline=None)
@given(contents(), st.booleans(), st.booleans(), st.booleans())
def test_every_byte_comes_back(content, shared, allow, has_folder):
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        path = place.root / ".claude" / ("settings.json" if shared else "settings.local.json")
        if content is not None or has_folder:
            path.parent.mkdir()
        if content is not None:
            path.write_bytes(content)
            path.chmod(0o640)
        before = place.listing()

        place.connect(shared=shared, allow=allow)
        after = place.listing()
        assert len(json.loads(path.read_text("utf-8-sig"))["hooks"]) >= 8
        assert place.connect(shared=shared, allow=allow).changes == []
        place.connect(shared=shared, allow=allow, program="/elsewhere/grove")
        assert place.listing() != after
        if content is not None:
            assert path.stat().st_mode & 0o777 == 0o640

        removal = place.disconnect()
        assert removal.faults == []
        assert place.listing() == before
        assert not place.workspace.paths.installed.exists()


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def edit(path, **fields):
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, **fields}, indent=4))


def test_what_a_person_edited_since_stays(place):
    path = place.root / ".claude" / "settings.local.json"
    place.connect()
    edit(path, model="opus")
    removal = place.disconnect()
    assert json.loads(path.read_text()) == {"model": "opus"}
    assert any("changed since" in note for note in removal.notes)
    assert not (place.root / ".claude" / "rules").exists()


def test_what_a_person_edited_before_a_second_run_stays(place):
    path = place.root / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{"model": "opus"}')
    place.connect()
    edit(path, model="haiku")
    place.connect(program="/elsewhere/grove")
    place.disconnect()
    assert json.loads(path.read_text()) == {"model": "haiku"}


def test_a_rule_that_was_there_before_is_not_taken_out(place):
    path = place.root / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{"permissions": {"allow": ["Bash(grove *)"]}}')
    place.connect(allow=True)
    edit(path, model="opus")
    place.disconnect()
    assert json.loads(path.read_text())["permissions"] == {"allow": ["Bash(grove *)"]}


def test_a_file_that_is_emptied_again_goes_when_init_made_it(place):
    path = place.root / ".claude" / "settings.local.json"
    place.connect()
    path.write_text(json.dumps(json.loads(path.read_text())))
    place.disconnect()
    assert not (place.root / ".claude").exists()


def test_a_rule_file_that_a_person_changed_is_kept(place):
    path = place.root / ".claude" / "rules" / "grove.md"
    place.connect()
    path.write_text("mine\n")
    assert any("kept" in note for note in place.connect().notes)
    assert any("kept" in note for note in place.disconnect().notes)
    assert path.read_text() == "mine\n"


def test_a_rule_file_of_somebody_else_is_never_touched(place):
    path = place.root / ".claude" / "rules" / "grove.md"
    path.parent.mkdir(parents=True)
    path.write_text("mine\n")
    place.connect()
    place.disconnect()
    assert path.read_text() == "mine\n"


def test_a_rule_file_of_an_older_grove_is_replaced(place):
    path = place.root / ".claude" / "rules" / "grove.md"
    place.connect()
    text = path.read_text()
    older = "older words\n"
    path.write_text(older)
    record = place.record.read()
    written = evolve(record.file(".claude/rules/grove.md"), digest=digest_of(older))
    place.record.write(record.with_file(written))
    place.connect()
    assert path.read_text() == text


def test_files_that_are_gone_are_no_fault(place):
    place.connect()
    for path in (place.root / ".claude").rglob("*.*"):
        path.unlink()
    removal = place.disconnect()
    assert (removal.changes, removal.faults) == ([], [])
    assert not (place.root / ".claude").exists()


def test_a_file_that_changes_between_plan_and_deed_is_not_touched(place):
    path = place.root / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text("{}")
    plan = Plan(root=place.root, installation=place.record.read())
    plan_hooks(plan, place.workspace, "/opt/grove", shared=False, allow=False)
    path.write_text('{"model": "opus"}')
    with pytest.raises(StorageError, match="changed meanwhile"):
        plan.make(place.record)
    assert path.read_text() == '{"model": "opus"}'
    place.disconnect()
    assert path.read_text() == '{"model": "opus"}'


def test_a_crash_before_the_settings_were_written_leaves_nothing_to_take_back(place):
    path = place.root / ".claude" / "settings.local.json"
    plan = Plan(root=place.root, installation=place.record.read())
    plan_hooks(plan, place.workspace, "/opt/grove", shared=False, allow=False)
    changes, plan.changes = plan.changes, []
    plan.make(place.record)
    assert changes
    assert not path.exists()
    assert place.disconnect().faults == []


@pytest.mark.parametrize("linked", ["settings.local.json", "folder"])
def test_a_link_out_of_the_project_is_refused(place, tmp_path, linked):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.local.json").write_text("{}")
    if linked == "folder":
        (place.root / ".claude").symlink_to(outside)
    else:
        (place.root / ".claude").mkdir()
        link = place.root / ".claude" / linked
        link.symlink_to(outside / "settings.local.json")
    with pytest.raises(StorageError, match="outside of"):
        place.connect()
    assert (outside / "settings.local.json").read_text() == "{}"
    assert place.disconnect().faults == []


def test_a_link_inside_the_project_is_followed(place):
    real = place.root / "config" / "claude.json"
    real.parent.mkdir()
    real.write_text('{"model": "opus"}')
    link = place.root / ".claude" / "settings.local.json"
    link.parent.mkdir()
    link.symlink_to(Path("..", "config", "claude.json"))
    place.connect()
    assert link.is_symlink()
    assert "hooks" in json.loads(real.read_text())
    place.disconnect()
    assert link.is_symlink()
    assert real.read_text() == '{"model": "opus"}'


def test_a_record_that_cannot_be_read_is_named(place):
    place.connect()
    record = next(place.workspace.paths.installed.rglob("record.json"))
    record.write_text("{")
    with pytest.raises(StorageError, match=r"record\.json"):
        place.connect()
    record.write_text('{"root": 5}')
    with pytest.raises(StorageError, match="root"):
        place.record.read()


def test_what_was_kept_can_be_read_by_its_owner_alone(place):
    path = place.root / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{"env": {"TOKEN": "abc"}}')
    place.connect()
    kept = next(place.workspace.paths.installed.rglob("*.before"))
    assert os.stat(kept).st_mode & 0o077 == 0
