"""The contract of memory backends, for plugin authors to run against their own."""

from pathlib import Path

import pytest

from grove_core.testing.rules.changing import ChangesRules, FilesRules
from grove_core.testing.rules.concurrency import ConcurrencyRules
from grove_core.testing.rules.damage import DamageRules
from grove_core.testing.rules.failing import FailingRules
from grove_core.testing.rules.fidelity import FidelityRules
from grove_core.testing.rules.identity import IdentityRules
from grove_core.testing.rules.links import LinksRules
from grove_core.testing.rules.listing import ListingRules
from grove_core.testing.rules.reading_back import Opener
from grove_core.testing.rules.searching import SearchingRules
from grove_core.testing.rules.status import StatusRules
from grove_core.testing.rules.synchronising import SynchronisingRules
from grove_core.testing.rules.traces import TracesRules
from grove_core.testing.rules.withdrawing import WithdrawingRules
from grove_core.testing.rules.writing import WritingRules
from grove_core.testing.skipping import NotGiven
from grove_core.testing.standard import StandardTests, standard_tests


class BackendContract(
    IdentityRules,
    WritingRules,
    FidelityRules,
    SearchingRules,
    ListingRules,
    StatusRules,
    ChangesRules,
    FilesRules,
    WithdrawingRules,
    SynchronisingRules,
    ConcurrencyRules,
    FailingRules,
    TracesRules,
    LinksRules,
    DamageRules,
    StandardTests,
    standard=True,
):
    """What every memory backend must do; a plugin's tests subclass it and give one fixture.

    The fixture ``open_backend`` returns a callable that opens the backend, on the same storage each
    time it is called; the storage is empty at the beginning of each test::

        class TestShelf(BackendContract):
            @pytest.fixture
            def open_backend(self, tmp_path):
                context = BackendContext(root=tmp_path, home=tmp_path / "home")
                return lambda: ShelfBackend(context)

    What the backend does not declare among its capabilities is skipped by name. Tests may be added,
    but none of these can be left out. Three things are up to the plugin:

    - A fixture ``broken_backend`` like the other one, for storage that cannot be written, such as a
      folder in the place of the file. Opening it works; writing has to raise ``BackendError``, and
      ``ping`` to tell. Without the fixture, these tests are skipped by name.
    - ``shared_between_processes = False`` in the class, for a backend whose learnings no other
      process can see. The test that writes in several forked processes is then skipped by name; a
      backend with files or a server has to pass it.
    - Fixtures ``project_folder`` and ``home_folder``, where the backend is opened in other folders
      than those above: ``tmp_path``, or ``project`` in it where that is there, and ``home`` in it.
      The first is the ``root`` of its context, or a folder around everything that the backend may
      write to in a project; the second is its ``home``, or a folder around that. In them is looked
      for what a backend leaves behind, and for its files, which are damaged and replaced by links.
    """

    @pytest.fixture
    def open_backend(self) -> Opener:
        """Say that the fixture is missing."""
        raise NotImplementedError(
            f"{type(self).__name__} needs a fixture open_backend, which returns a callable that "
            "opens the backend: see help(grove_core.testing.BackendContract)"
        )

    @pytest.fixture
    def broken_backend(self) -> Opener:
        """Leave out by name what needs the fixture."""
        pytest.skip(NotGiven(f"{type(self).__name__} has no fixture broken_backend"))

    @pytest.fixture
    def project_folder(self, tmp_path: Path, open_backend: Opener) -> Path:
        """Tell where the project is, once what opens the backend has made it."""
        del open_backend
        folder = tmp_path / "project"
        return folder if folder.is_dir() else tmp_path

    @pytest.fixture
    def home_folder(self, tmp_path: Path) -> Path:
        """Tell where grove's own folder of the user is."""
        return tmp_path / "home"


STANDARD_TESTS = standard_tests(BackendContract)
"""The names of the contract's tests."""
