"""What the user has agreed to, by project: ``GROVE_HOME/trust.json``."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from attrs import field

from grove_core.clock import format_instant
from grove_core.errors import CodecError
from grove_core.model.value import TEXT, Value, frozen
from grove_core.storage import files

_VERSION: Final = 1
_PRIVATE: Final = 0o600
_FIELDS: Final = ("subject", "source", "at")


@frozen(kw_only=True, eq=False, repr=False)
class TrustRequest(Value):
    """Something that a project's files would have run, reached or read outside the project.

    A project's files may be a stranger's, so nothing of it happens until the user has agreed to
    exactly this with ``grove trust``.

    Attributes:
        subject: What it is, such as ``MCP server memory``.
        source: The file that asks for it, relative to the project's root.
        content: What would be run or reached, in full: people read it before they agree, and
            whatever is different later has to be agreed to again.
    """

    subject: str = field(validator=TEXT)
    source: str = field(validator=TEXT)
    content: str = field(validator=TEXT)

    @property
    def digest(self) -> str:
        """What an agreement is kept under: SHA-256 of the three, in hexadecimal."""
        import hashlib  # it loads OpenSSL, and few hooks ask for a digest

        # The lengths keep the three apart, whatever is in them.
        parts = (self.subject, self.source, self.content)
        text = "".join(f"{len(part)}:{part}" for part in parts)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@frozen(kw_only=True, eq=False, repr=False)
class Agreement(Value):
    """Something that the user has agreed to."""

    digest: str
    subject: str
    source: str
    at: str

    @property
    def place(self) -> tuple[str, str]:
        """What was agreed to, whatever its content was."""
        return self.subject, self.source


_Projects = dict[str, dict[str, Agreement]]


class TrustStore:
    """The file of agreements of all projects."""

    def __init__(self, path: Path) -> None:
        """Name the file; the first agreement creates it."""
        self._path = path

    def agreements(self, root: Path) -> Mapping[str, Agreement]:
        """Return what the user has agreed to in a project."""
        return self._parse(files.read_bytes(self._path)).get(_key(root), {})

    def agree(self, root: Path, requests: Sequence[TrustRequest], now: datetime) -> Path | None:
        """Record that the user has agreed to requests of a project."""
        made = {
            one.digest: Agreement(
                digest=one.digest, subject=one.subject, source=one.source, at=format_instant(now)
            )
            for one in requests
        }
        replaced = {one.place for one in made.values()}

        def change(projects: _Projects) -> None:
            before = projects.get(_key(root), {})
            kept = {name: one for name, one in before.items() if one.place not in replaced}
            projects[_key(root)] = kept | made

        return self._change(change)

    def revoke(self, root: Path) -> Sequence[Agreement]:
        """Forget everything that the user has agreed to in a project."""
        if not self.agreements(root):
            return ()
        revoked: list[Agreement] = []

        def change(projects: _Projects) -> None:
            revoked.extend(projects.pop(_key(root), {}).values())

        self._change(change)
        return revoked

    def _change(self, change: Callable[[_Projects], None]) -> Path | None:
        files.make_directory(self._path.parent)
        aside = None
        with files.locked(self._path, mode=_PRIVATE):
            content = files.read_bytes(self._path)
            try:
                projects = self._parse(content)
            except CodecError:
                number, projects = 1, {}
                while (free := Path(f"{self._path}.corrupt-{number}")).exists():
                    number += 1
                files.replace(free, content or b"", mode=_PRIVATE)
                aside = free
            change(projects)
            files.replace(self._path, _written(projects), mode=_PRIVATE)
        return aside

    def _parse(self, content: bytes | None) -> _Projects:
        if not content:
            return {}  # missing, or just created by a process that holds its lock
        try:
            document = json.loads(content)
            if document["version"] != _VERSION:
                raise ValueError(f"its version is {document['version']!r}")  # noqa: TRY301 - said below
            projects = document["projects"].items()
            return {
                root: {
                    digest: Agreement(digest=digest, **{name: str(one[name]) for name in _FIELDS})
                    for digest, one in entries.items()
                }
                for root, entries in projects
            }
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise CodecError(
                f"{self._path} cannot be understood, so nothing is trusted: {error}; look at it, "
                "delete it, and run `grove trust` in each project that needs it"
            ) from error


def _written(projects: _Projects) -> bytes:
    document = {
        "version": _VERSION,
        "projects": {
            root: {
                one.digest: {name: getattr(one, name) for name in _FIELDS}
                for one in projects[root].values()
            }
            for root in sorted(projects)
        },
    }
    # Paths may hold bytes that are no UTF-8: ASCII holds their surrogates.
    return json.dumps(document, indent=2).encode("ascii") + b"\n"


def _key(root: Path) -> str:
    return os.path.realpath(root)
