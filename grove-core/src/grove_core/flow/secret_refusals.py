"""Refusing a text that holds a secret, and naming what may be wrong with the configuration then."""

from typing import Final

from grove_core.errors import ReflectionError
from grove_core.reflection.secrets import find_leak
from grove_core.workspace import Workspace

# What may be refused because a mistake in a file keeps the file, or the key, from counting.
_SECTIONS: Final = ("secrets", "gate")


def refuse_secrets(workspace: Workspace, text: str | None, field: str) -> None:
    """Stop a command before it stores a secret."""
    leak = find_leak(text, workspace.config.secrets.allow, field)
    if leak is not None:
        why = "; ".join((leak.text, *configuration_mistakes(workspace)))
        raise ReflectionError(f"{why}; nothing was stored")


def configuration_mistakes(workspace: Workspace) -> tuple[str, ...]:
    """Name the mistakes for which something may be refused that was meant to pass."""
    return tuple(
        f"a mistake in the configuration: {problem}"
        for problem in workspace.loaded_config.problems
        if not problem.key or problem.key.partition(".")[0] in _SECTIONS
    )
