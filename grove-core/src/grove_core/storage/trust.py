"""What the user has agreed to, by project: ``GROVE_HOME/trust.json``."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from attrs import field

from grove_core.codec import from_json, plain
from grove_core.errors import CodecError
from grove_core.model.value import TEXT, Value, frozen
from grove_core.storage import files

_VERSION: Final = 1
_PRIVATE: Final = 0o600


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

    subject: str
    source: str
    at: datetime

    @property
    def place(self) -> tuple[str, str]:
        """What it is and where it stands; another content there takes its place."""
        return self.subject, self.source


Agreements = Mapping[str, Agreement]
"""By the digest of what was agreed to."""


@frozen(kw_only=True, eq=False, repr=False)
class _Record(Value):
    """What the file holds, by the projects' roots."""

    version: int = _VERSION
    projects: Mapping[str, Agreements] = field(factory=dict)


class TrustStore:
    """The file of agreements of all projects."""

    def __init__(self, path: Path) -> None:
        """Name the file; the first agreement creates it."""
        self._path = path

    def agreements(self, root: Path) -> Agreements:
        """Return what the user has agreed to in a project."""
        return self._parse(files.read_bytes(self._path)).get(os.path.realpath(root), {})

    def agree(self, root: Path, requests: Sequence[TrustRequest], now: datetime) -> Path | None:
        """Record that the user has agreed; name the file where a broken one was set aside."""
        made = {
            one.digest: Agreement(subject=one.subject, source=one.source, at=now)
            for one in requests
        }
        replaced = {one.place for one in made.values()}

        def change(before: Agreements) -> Agreements:
            kept = {name: one for name, one in before.items() if one.place not in replaced}
            return kept | made

        return self._change(root, change)

    def revoke(self, root: Path) -> Agreements:
        """Forget everything that the user has agreed to in a project."""
        revoked = self.agreements(root)
        if revoked:
            self._change(root, lambda _: {})
        return revoked

    def _change(self, root: Path, change: Callable[[Agreements], Agreements]) -> Path | None:
        files.make_directory(self._path.parent)
        aside = None
        with files.locked(self._path, mode=_PRIVATE):
            content = files.read_bytes(self._path)
            try:
                projects = dict(self._parse(content))
            except CodecError:
                aside, projects = Path(files.set_aside(self._path, content or b"")), {}
            key = os.path.realpath(root)
            projects[key] = change(projects.get(key, {}))
            record = _Record(projects={name: one for name, one in sorted(projects.items()) if one})
            # Paths may hold bytes that are no UTF-8: ASCII holds their surrogates.
            text = json.dumps(record, indent=2, default=plain)
            files.replace(self._path, text.encode("ascii") + b"\n")
        return aside

    def _parse(self, content: bytes | None) -> Mapping[str, Agreements]:
        if not content:
            return {}  # missing, or just created by a process that holds its lock
        try:
            record = from_json(_Record, content)
            if record.version != _VERSION:
                raise CodecError(f"its version is {record.version}")  # noqa: TRY301 - said below
        except CodecError as error:
            raise CodecError(
                f"{self._path} cannot be understood, so nothing is trusted: {error}; look at it, "
                "delete it, and run `grove trust` in each project that needs it"
            ) from error
        return record.projects
