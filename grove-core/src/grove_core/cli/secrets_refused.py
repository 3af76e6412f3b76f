"""Refusing a command whose text holds a secret."""

from grove_core.errors import ReflectionError
from grove_core.reflection.secrets.screening import find_leak
from grove_core.workspace import Workspace


def refuse_secrets(workspace: Workspace, text: str, field: str) -> None:
    """Stop a command before it stores a secret.

    Args:
        workspace: The project, whose configuration may let values pass.
        text: What would be stored.
        field: What the text is, for the message.

    Raises:
        ReflectionError: It holds a secret.
    """
    leak = find_leak(text, workspace.config.secrets.allow, field)
    if leak is not None:
        raise ReflectionError(f"{leak.words}; nothing was stored")
