"""``grove hook``: for the group's help; the console script takes a shorter way."""

import rich_click as click

from grove_core.hooks.fast import run


@click.command(
    "hook",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Answer a hook of the coding agent."""
    ctx.exit(run(ctx.args))
