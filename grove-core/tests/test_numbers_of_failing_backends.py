"""What a backend could not list must not pass for gone."""

import pytest
from core_worlds import NOW, a_learning

from grove_core.model.memory import Capability, Detection
from grove_core.plugins.descriptors import Area, BackendSpec
from grove_core.testing import InMemoryBackend
from grove_core.workspace import Workspace

FOUND = Detection(marker="x")


class FileBackend(InMemoryBackend):
    """A backend whose files never change, as far as anybody sees."""

    def __init__(self, path):
        kept = {Capability.ITERATE, Capability.GET, Capability.FILES, Capability.PERSONAL}
        super().__init__("shelf", frozenset(kept))
        self.path = path
        self.fails = False

    def files(self):
        return [self.path]

    def iterate(self):
        if self.fails:
            raise OSError("the shelf is locked")
        return super().iterate()


@pytest.fixture
def backends(tmp_path):
    found = {}
    for area in (Area.PROJECT, Area.PERSONAL):
        path = tmp_path / f"shelf-{area.value}"
        path.write_text("all that there is\n")
        found[area] = FileBackend(path)
    found[Area.PROJECT].write(a_learning("cl_a"))
    return found


@pytest.fixture
def opened(tmp_path, plugins_of, backends):
    """Opens the project as the next process does; a broken backend cannot even be found."""
    root = tmp_path / "project"
    (root / ".grove").mkdir(parents=True)
    (root / ".grove" / "config.toml").write_text('[backends]\npersonal = "shelf"\n')
    home = tmp_path / "home"
    home.mkdir()

    def open_project(*, is_found=True):
        def detect(_):
            if not is_found:
                raise OSError("the shelf is gone")
            return FOUND

        workspace = Workspace(root, {"GROVE_HOME": str(home)}, NOW)
        workspace.plugins = plugins_of(
            BackendSpec(name="shelf", detect=detect, open=lambda context: backends[context.area])
        )
        return workspace

    return open_project


def test_what_cannot_be_listed_is_counted_again(opened, backends):
    backends[Area.PROJECT].fails = True
    opened().statistics()
    backends[Area.PROJECT].fails = False
    assert opened().statistics().by_status == {"active": 1}


def test_a_backend_that_was_not_found_once_is_counted_again(opened):
    opened(is_found=False).statistics()
    assert opened().statistics().by_status == {"active": 1}
