"""Planning what ``grove init`` writes into a client's files, with the record that takes it back."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import Factory, define, evolve

from grove_core.flow.file_changes import FileChange
from grove_core.flow.installation import (
    Installation,
    InstallationRecord,
    WrittenFile,
    digest_of,
)
from grove_core.hosts import claude_merge
from grove_core.hosts.claude_hooks import ALLOW_RULE
from grove_core.storage import files


@define(kw_only=True)
class Plan:
    """What is about to be written, and the record of it."""

    root: Path
    installation: Installation
    changes: list[FileChange] = Factory(list)
    backups: dict[str, str] = Factory(dict)
    notes: list[str] = Factory(list)

    def write(self, path: Path, before: str | None, after: str, *, adds_rule: bool) -> None:
        """Plan to write settings."""
        known = self.recorded(path)
        relative = relative_to(path, self.root)
        untouched = known is not None and before is not None and digest_of(before) == known.digest
        base = before if known is None else without_own(before, known)
        existed = known.existed if known is not None and untouched else base is not None
        if existed and base is not None and not untouched:
            self.backups[relative] = base
        written = WrittenFile(
            path=relative,
            digest=digest_of(after),
            existed=existed,
            added_rule=adds_rule or (known is not None and known.added_rule),
        )
        self.installation = self.installation.with_file(written)
        self.changes.append(FileChange(path=path, before=before, after=after))

    def recorded(self, path: Path) -> WrittenFile | None:
        """Find what is recorded of a file."""
        return self.installation.file(relative_to(path, self.root))

    def note_scaffold(
        self, created: Iterable[Path], program: str | None, *, attributes: str = ""
    ) -> None:
        """Record what init makes in every project."""
        known = self.installation
        names = (relative_to(path, self.root) for path in created)
        self.installation = evolve(
            known,
            program=program or known.program,
            attributes=f"{known.attributes}{attributes}",
            scaffold=tuple(dict.fromkeys((*known.scaffold, *names))),
        )

    def note_driver(self, command: str) -> None:
        """Record the merge driver."""
        self.installation = evolve(self.installation, merge_driver=command)

    def make(self, record: InstallationRecord) -> None:
        """Write the record, then the files."""
        for path, text in self.backups.items():
            record.keep(path, text)
        missing = [folder for one in self.changes for folder in _missing(one.path.parent)]
        known = self.installation.directories
        made = (relative_to(folder, self.root) for folder in missing)
        self.installation = evolve(
            self.installation, directories=tuple(dict.fromkeys((*known, *made)))
        )
        record.write(self.installation)
        for folder in missing:
            files.make_directory(folder)
        for change in self.changes:
            change.make(self.root)


def relative_to(path: Path, root: Path) -> str:
    """Name a file as records do."""
    return path.relative_to(root).as_posix()


def _missing(folder: Path) -> Sequence[Path]:
    """List the directories that have to be made, outer ones first."""
    return [one for one in (*reversed(folder.parents), folder) if not one.exists()]


def without_own(text: str | None, written: WrittenFile) -> str | None:
    """Take what init has written out of settings that were edited since."""
    if text is None:
        return None
    if written.added_rule:
        text = claude_merge.without_rule(text, ALLOW_RULE)
    text = claude_merge.without_hooks(text)
    return None if not written.existed and claude_merge.is_empty(text) else text
