"""What the client runs, for help; the console script is faster."""

import rich_click as click


@click.command(
    "hook",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.argument("event", required=False)
@click.pass_context
def command(ctx: click.Context, event: str | None) -> None:
    """Answer a hook of the coding agent."""
    from grove_core.hooks.fast import run

    ctx.exit(run([*([event] if event else []), *ctx.args]))


@click.command("serve")
@click.pass_context
def serve(ctx: click.Context) -> None:
    """Answer the client's hooks and offer tools to the agent, on standard input and output.

    Started by the client with each session, as an MCP server; not by people.
    """
    from grove_core.serve.server import run

    ctx.exit(run())


@click.command("statusline")
@click.pass_context
def statusline(ctx: click.Context) -> None:
    """Print one line about a session for the client's status line, which is JSON on standard input.

    Run by the client: `grove init --hooks --statusline` adds it to the client's settings.
    """
    from grove_core.hooks.statusline import run

    ctx.exit(run())
