"""``grove completion``."""

import os
from pathlib import PurePath
from typing import Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.result import Result

_SHELLS: Final = ("bash", "zsh", "fish")
_VARIABLE: Final = "_GROVE_COMPLETE"


@click.command("completion")
@click.argument("shell", required=False, type=click.Choice(_SHELLS))
@grove_command
def command(invocation: Invocation, *, shell: str | None) -> Result:
    """Print the script that lets a shell complete grove's commands, options and ids.

    Without SHELL it is for the one that $SHELL names. For bash 4.4 or newer put this into
    ~/.bashrc: eval "$(grove completion bash)".
    """
    from click.shell_completion import get_completion_class

    from grove_core.cli.main import grove

    wanted = shell or _usual_shell(invocation.project.environment.get("SHELL", ""))
    kind = get_completion_class(wanted)
    if kind is None:
        raise click.UsageError(f"there is no completion for {wanted}")
    maker = kind(grove, {}, "grove", _VARIABLE)
    # The class's own method starts bash first, to learn its version.
    script = maker.source_template % maker.source_vars()
    return Result(
        document={"shell": wanted, "script": script},
        human=lambda _: click.echo(script, nl=not script.endswith(os.linesep)),
        ids=script.rstrip(os.linesep).split(os.linesep),
    )


def _usual_shell(path: str) -> str:
    name = PurePath(path).name
    if name not in _SHELLS:
        raise click.UsageError(
            f"cannot tell the shell from $SHELL ({path or 'not set'}): name {', '.join(_SHELLS)}"
        )
    return name
