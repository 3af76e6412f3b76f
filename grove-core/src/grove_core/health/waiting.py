"""The outbox: what was accepted and is not delivered yet."""

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from grove_core.health.check import Check, broken, ok, warning
from grove_core.workspace import Workspace


@frozen(kw_only=True)
class OutboxFacts:
    """What waits."""

    here: int
    elsewhere: int
    unreadable: tuple[Path, ...]
    homes: Sequence[str] = ()
    stranded: Sequence[tuple[Path, str]] = ()
    servers: Sequence[tuple[str, int]] = ()


def gather_outbox(workspace: Workspace) -> OutboxFacts:
    """Look into the outbox."""
    outbox = workspace.outbox
    here = outbox.entries(workspace.root)
    primary = workspace.config.backends.primary
    return OutboxFacts(
        here=len(here),
        elsewhere=len(outbox.entries()) - len(here),
        unreadable=tuple(outbox.unreadable()),
        homes=workspace.library.homes_of(primary, (one.learning.scope for one in here)),
        stranded=[(one.path, one.root) for one in outbox.stranded()],
        servers=[
            (one.source, len(one.waiting)) for one in workspace.library.freshness() if one.waiting
        ],
    )


def judge_outbox(facts: OutboxFacts) -> Sequence[Check]:
    """Return whether everything accepted has reached its backend."""
    name = "outbox"
    mend = "Look into it and mend it by hand; it holds a learning that was accepted"
    checks = [broken(name, f"{path} cannot be read", mend) for path in facts.unreadable]
    checks += [_stranded(name, path, root) for path, root in facts.stranded]
    checks += [_at_server(name, source, count) for source, count in facts.servers]
    if facts.here:
        detail = f"learnings of this project that wait for their backend: {facts.here}"
        detail += f" ({', '.join(facts.homes)})" if facts.homes else ""
        mend = "`grove backends` says what it lacks; the next reflection after that delivers them"
        return [*checks, warning(name, detail, mend)]
    elsewhere = f"; of other projects: {facts.elsewhere}" if facts.elsewhere else ""
    return checks or [ok(name, f"nothing of this project waits{elsewhere}")]


def _at_server(name: str, source: str, count: int) -> Check:
    detail = (
        f"learnings that wait for {source or 'a memory server, of which none is used'}: {count}"
    )
    mend = "`grove maintain flush` tries now and says what is wrong; they are found here meanwhile"
    return warning(name, detail, mend)


def _stranded(name: str, path: Path, root: str) -> Check:
    detail = f"{path} waits for {root}, which is gone"
    mend = 'Write the folder that the project has moved to as "root" there; or delete the file'
    return warning(name, detail, mend)
