"""``grove serve``: for the group's help and completion; the console script takes a shorter way."""

import rich_click as click

from grove_core.serve.server import run


@click.command("serve")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Answer the client's hooks and offer tools to the agent, on standard input and output.

    Started by the client with each session, as an MCP server; not by people.
    """
    ctx.exit(run())
