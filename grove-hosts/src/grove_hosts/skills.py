"""The skill that says what a stop of grove's is about, where several clients look for skills."""

from collections.abc import Sequence
from typing import Final

from grove_core import HostContext, HostFile

_HEAD: Final = """\
---
name: grove
description: What a stop by grove after a closed ticket asks for, and what the learnings are for.
---

"""


def shared_skill(context: HostContext) -> Sequence[HostFile]:
    """Write the protocol where Codex and others look for skills, if rules are asked for."""
    if not (context.rules and context.protocol):
        return ()
    skill = _HEAD + context.protocol
    return (
        HostFile(
            path=context.root / ".agents" / "skills" / "grove" / "SKILL.md",
            put=lambda found: found or skill,
            take=lambda found, _: "" if found == skill else found,
            is_whole=True,
        ),
    )
