"""The servers that were found, as ``grove backends discover`` lists them."""

from collections.abc import Sequence

from grove_backend_mcp.discovery.choosing import Judged, choose
from grove_backend_mcp.servers import Transport
from grove_core import BackendContext, Discovered


def discovered(context: BackendContext) -> Sequence[Discovered]:
    """List the servers that were found; nothing is started."""
    choice = choose(context)
    rows = [_row(one) for one in choice.candidates]
    rows += [
        Discovered(name="-", source="-", usable=False, used=False, why=problem)
        for problem in choice.problems
    ]
    return rows


def _row(one: Judged) -> Discovered:
    entry = one.entry
    kind = "http" if entry.transport is Transport.HTTP else "stdio"
    return Discovered(
        name=entry.name,
        source=f"{entry.source} ({entry.origin.value}, {kind})",
        usable=one.usable,
        used=one.is_used,
        why=one.why,
    )
