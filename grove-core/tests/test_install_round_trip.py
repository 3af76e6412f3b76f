"""Whatever the settings look like: hooks in, hooks out, and every byte is as it was."""

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from core_worlds import write_file
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scale import turned_up

from grove_core.errors import StorageError
from grove_core.install.plan import context_of, plan_for, plan_removal
from grove_core.project import Project

NOW = datetime(2030, 1, 2, tzinfo=UTC)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
theirs = st.just({"hooks": [{"type": "command", "command": "ä b"}]})
documents = st.fixed_dictionaries(
    {},
    optional={
        "hooks": st.dictionaries(
            st.sampled_from(["Stop", "PreToolUse", "Other"]), st.lists(theirs | values, max_size=3)
        ),
        "permissions": st.fixed_dictionaries({}, optional={"allow": st.lists(values, max_size=2)}),
        "ключ": values,
        "statusLine": st.just({"type": "command", "command": "theirs statusline"}),
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
        self.project = Project(self.root, environment, NOW)
        self.local = self.root / ".claude" / "settings.local.json"  # the usual one
        self.rules = self.root / ".claude" / "rules" / "grove.md"

    def plan(self, *, program="/opt/größe/grove", rules=True, **wishes):
        wanted = context_of(self.project, program, rules=rules, **wishes)
        return plan_for(self.project, ["claude-code"], wanted)

    def connect(self, *, program="/opt/größe/grove", **wishes):
        plan = self.plan(program=program, **wishes)
        plan.own.clear()
        plan.make(None)
        return plan

    def disconnect(self, *, shared=False):
        removal = plan_removal(self.project, (), shared=shared)
        removal.take_back()
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


@settings(max_examples=turned_up(15, 500), deadline=None)
@given(contents(), st.booleans(), st.booleans(), st.booleans())
@example(b'{"permissions":{"allow":[null]}}', False, False, False)
def test_every_byte_comes_back(content, shared, allow, server):
    wishes = {"shared": shared, "allow": allow, "server": server, "status_line": True}
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        path = place.root / ".claude" / ("settings.json" if shared else "settings.local.json")
        if content is not None:
            path.parent.mkdir()
            path.write_bytes(content)
            path.chmod(0o640)
        before = place.listing()

        place.connect(**wishes)
        for kept in place.project.paths.installed.rglob("*.before"):
            assert kept.stat().st_mode & 0o077 == 0
        after = place.listing()
        written = json.loads(path.read_text("utf-8-sig"))
        assert len(written["hooks"]) >= 8
        theirs = json.loads((content or b"").decode("utf-8-sig").strip() or "{}")
        own = {"type": "command", "command": "'/opt/größe/grove' statusline"}
        assert written["statusLine"] == theirs.get("statusLine", own)
        assert place.connect(**wishes).changes == []
        place.connect(**wishes, program="/elsewhere/grove")
        assert place.listing() != after
        if content is not None:
            assert path.stat().st_mode & 0o777 == 0o640

        assert (place.root / ".mcp.json").exists() is server
        place.disconnect(shared=shared)
        assert place.listing() == before
        assert not place.project.paths.installed.exists()


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def edit(path, **fields):
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, **fields}, indent=4))


@pytest.mark.parametrize("again", [True, False])
def test_what_a_person_edited_since_stays(place, again):
    place.connect(allow=True)
    edit(place.local, model="opus")
    if again:
        place.connect(program="/elsewhere/grove")
    removal = place.disconnect()
    assert json.loads(place.local.read_text()) == {"model": "opus"}
    assert any("changed since" in note for note in removal.notes)
    assert not (place.root / ".claude" / "rules").exists()


def test_a_file_that_changes_between_plan_and_deed_is_not_touched(place):
    write_file(place.local, "{}")
    plan = place.plan(rules=False)
    place.local.write_text('{"model": "opus"}')
    with pytest.raises(StorageError, match="changed meanwhile"):
        plan.make(None)
    place.disconnect()
    assert place.local.read_text() == '{"model": "opus"}'


@pytest.mark.parametrize("linked", ["settings.local.json", "folder"])
def test_a_link_out_of_the_project_is_refused(place, tmp_path, linked):
    outside, folder = tmp_path / "outside", place.root / ".claude"
    outside.mkdir()
    (outside / "settings.local.json").write_text("{}")
    if linked == "folder":
        folder.symlink_to(outside)
    else:
        folder.mkdir()
        (folder / linked).symlink_to(outside / linked)
    with pytest.raises(StorageError, match="outside of"):
        place.connect()
    place.disconnect()
    assert (outside / "settings.local.json").read_text() == "{}"
