"""Whether a ticket system is used in a project, and which ticket is in progress."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

from grove_core.model.memory import Detection
from grove_core.plugins.descriptors import Participation, ProjectContext, TicketProbe
from grove_core.plugins.limits import call_limited
from grove_core.testing.rules.ticket_offers import TicketOffers, Untouched
from grove_core.testing.skipping import NotDeclared
from grove_core.testing.verdict import expect, require, rule
from grove_core.ticketing.answers import is_ticket

_MOST_FILES: Final = 40
_SECONDS: Final = 4.0
"""Longer than grove ever waits: what takes more hangs."""


def _wrap_values(path: Path) -> None:
    """Put a list around each value of a JSON file, or of each line of one."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    with suppress(ValueError):
        try:
            wrapped = [json.dumps(_wrapped(json.loads("\n".join(lines))))]
        except ValueError:
            wrapped = [json.dumps(_wrapped(json.loads(line))) for line in lines]
        path.write_text("\n".join([*wrapped, ""]), encoding="utf-8")


def _wrapped(value: object) -> object:
    if isinstance(value, dict):
        return {key: _wrapped(one) for key, one in value.items()}
    return [_wrapped(one) for one in value] if isinstance(value, list) else [value]


_DAMAGES: Final[dict[str, Callable[[Path], object]]] = {
    "empty": lambda path: path.write_bytes(b""),
    "no UTF-8": lambda path: path.write_bytes(b"\xff\xfe\x00{[\r\n" * 20),
    "another shape": lambda path: path.write_text('[[null, 1, {"id": {"id": []}}], "text", 1e400]'),
    "lists in lists": lambda path: path.write_text("[" * 20_000),
    "of other types": _wrap_values,
    "unreadable": lambda path: path.chmod(0),
    "a folder": lambda path: _in_its_place(path, Path.mkdir),
    "a pipe": lambda path: _in_its_place(path, os.mkfifo),
    "gone": Path.unlink,
}


class DetectingRules(TicketOffers):
    """Looking at a project."""

    @rule("grove_core.TicketProbe")
    def test_empty_project_is_not_detected(self, empty_project: Path) -> None:
        """A system is not used in an empty folder."""
        probe = self.probe()
        if probe.per_session or probe.participation is Participation.ENABLED:
            pytest.skip(NotDeclared(f"{probe.name} counts wherever it is told to"))
        expect(_detect(probe, self.context(empty_project)), None, "what is detected there")

    @rule("grove_core.TicketProbe")
    def test_used_project_is_detected(self, used_project: Path) -> None:
        """Where a system is used it says what gives it away, the same each time."""
        probe, context = self.probe(), self.context(used_project)
        found = _detect(probe, context)
        require(
            isinstance(found, Detection) and bool(found.marker),
            expected="a Detection that names its marker",
            found=found,
        )
        expect(_detect(probe, context), found, "what is detected a second time")

    @rule("grove_core.TicketProbe")
    def test_looking_touches_nothing(self, empty_project: Path, used_project: Path) -> None:
        """Detecting starts no program, asks no server and changes nothing."""
        probe = self.probe()
        for project in (empty_project, used_project):
            context = self.context(project)
            with Untouched(project, "detect"):
                probe.detect(context)

    @rule("grove_core.TicketProbe")
    def test_current_ticket_is_a_ticket(self, used_project: Path) -> None:
        """The ticket in progress is a Ticket of this system, or None; asking changes no file."""
        probe = self.probe()
        if probe.current_ticket is None:
            pytest.skip(NotDeclared(f"{probe.name} does not tell the ticket in progress"))
        with Untouched(used_project, "current_ticket", may_ask=True):
            ticket: object = probe.current_ticket(self.context(used_project))
        if ticket is not None:
            require(is_ticket(ticket), expected="a sound Ticket, or None", found=ticket)
            expect(getattr(ticket, "source", None), probe.name, "the source of the ticket")

    @pytest.mark.parametrize("damage", [*_DAMAGES])
    @rule("grove_core.TicketProbe")
    def test_damaged_project_is_no_error(self, used_project: Path, damage: str) -> None:
        """Whatever has become of the system's files, looking gives an answer and raises nothing."""
        probe, context = self.probe(), self.context(used_project)
        for path in [*islice(_files_in(used_project), _MOST_FILES)]:
            about = f"{path.relative_to(used_project)}, which is {damage}"
            with _damaged(path, damage):
                call_limited(partial(_detect, probe, context, about), _SECONDS)
                if probe.current_ticket is not None:
                    ticket: object = call_limited(partial(probe.current_ticket, context), _SECONDS)
                    is_answer = ticket is None or is_ticket(ticket)
                    require(is_answer, expected=f"a Ticket or None with {about}", found=ticket)


@contextmanager
def _damaged(path: Path, damage: str) -> Iterator[None]:
    """Damage a file for a while; afterwards it is the same one, with its times."""
    with TemporaryDirectory() as folder:
        kept = Path(folder) / "kept"
        shutil.copy2(path, kept)
        _DAMAGES[damage](path)
        try:
            yield
        finally:
            if path.is_dir():
                path.rmdir()
            shutil.move(kept, path)


def _answers(probe: TicketProbe, context: ProjectContext) -> tuple[object, object]:
    ticket = None if probe.current_ticket is None else probe.current_ticket(context)
    return probe.detect(context), ticket


def _in_its_place(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def _detect(probe: TicketProbe, context: ProjectContext, about: str = "") -> Detection | None:
    found: object = probe.detect(context)
    require(
        found is None or isinstance(found, Detection),
        expected=f"a Detection or None {about}".strip(),
        found=found,
    )
    return found if isinstance(found, Detection) else None


def _files_in(project: Path) -> Iterator[Path]:
    """Find what may be damaged: git's own files are another program's business."""
    for path in sorted(project.rglob("*")):
        inside = path.relative_to(project).parts
        if path.is_file() and not path.is_symlink() and inside[0] not in {".git", ".grove"}:
            yield path
