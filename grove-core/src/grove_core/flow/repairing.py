"""``grove maintain repair``: mending what merges have done to learnings and event logs."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from grove_core.codec.events import event_from_line
from grove_core.conflict_markers import is_conflict_marker
from grove_core.errors import CodecError, StorageError
from grove_core.event_log import shared_event_files
from grove_core.plugins.descriptors import Repair
from grove_core.storage import files
from grove_core.storage.paths import project_key
from grove_core.workspace import Workspace

REPAIR_SECONDS: Final = 120.0


def find_repairs(workspace: Workspace) -> tuple[Sequence[Repair], Sequence[str]]:
    """Look for files that merges have spoilt."""
    found: list[Repair] = []
    faults: list[str] = []
    context = workspace.backend_context
    for state in workspace.library.states:
        if not state.is_active or state.spec.repair is None:
            continue
        done: object = workspace.plugins.call(
            state.provided, state.spec.repair, context, seconds=REPAIR_SECONDS, default=None
        )
        if isinstance(done, list | tuple) and all(isinstance(one, Repair) for one in done):
            found += done
        else:
            faults.append(f"the backend {state.spec.name} could not look at its files")
    return [*found, *_repairs_of_logs(workspace)], faults


def make_repairs(workspace: Workspace, repairs: Sequence[Repair]) -> Path | None:
    """Write the mended files; what they were is kept in grove's own directory."""
    changed = [one for one in repairs if one.after != one.before]
    if not changed:
        return None
    moment = f"{workspace.now:%Y%m%dT%H%M%S%f}Z"
    backup = workspace.paths.backups / project_key(workspace.root) / moment
    files.make_directory(backup)
    for number, one in enumerate(changed, start=1):
        kept = one.before.encode("utf-8", "surrogateescape")
        files.replace(backup / f"{number}-{one.path.name}", kept)
    for one in changed:
        _write(one, workspace.root)
    return backup


def _write(repair: Repair, root: Path) -> None:
    def mended(text: str) -> str:
        if text != repair.before:
            raise StorageError(f"{repair.path} was changed meanwhile; run the command again")
        return repair.after

    files.edit_text(repair.path, mended, inside=root)


def _repairs_of_logs(workspace: Workspace) -> Iterator[Repair]:
    for path in shared_event_files(workspace.project):
        if not files.is_readable(path):
            raise StorageError(f"cannot read {path}: it is no plain file, or not for this user")
        text = files.read_text(path) or ""
        repair = mend_log(path, text)
        if repair.mended or repair.left:
            yield repair


def mend_log(path: Path, text: str) -> Repair:
    """Take conflict markers out of an event log, and part events that share a line."""
    mended: list[str] = []
    left: list[str] = []
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or _is_readable(line):
            lines.append(line)
        elif is_conflict_marker(line.encode("utf-8", "surrogateescape")):
            mended.append(f"line {number}: a conflict marker is taken out")
        elif parts := _parted(line):
            lines += parts
            mended.append(f"line {number}: holds {len(parts)} events, each gets a line of its own")
        else:
            lines.append(line)
            left.append(f"line {len(lines)}: is no event")
    return Repair(
        path=path, before=text, after="\n".join(lines), mended=tuple(mended), left=tuple(left)
    )


def _is_readable(line: str) -> bool:
    try:
        event_from_line(line)
    except CodecError:
        return False
    return True


def _parted(line: str) -> list[str]:
    """Part a line that holds several events and nothing else; none where it does not."""
    decoder = json.JSONDecoder()
    parts: list[str] = []
    position = 0
    while position < len(line):
        try:
            _, end = decoder.raw_decode(line, position)
        except (ValueError, RecursionError):
            return []
        parts.append(line[position:end])
        position = end
    return parts if len(parts) > 1 and all(_is_readable(part) for part in parts) else []
