"""``grove merge-driver``."""

import os
from pathlib import Path

import rich_click as click

from grove_core.cli.app import name_problems
from grove_core.cli.options import PLUGINS_KEY
from grove_core.clock import now_utc
from grove_core.flow.git_merging import merge_as_git, merge_by_backend
from grove_core.flow.merge_driver import MARKERS_WRITTEN
from grove_core.workspace import Workspace

_VERSION = click.Path(path_type=Path)


@click.command("merge-driver")
@click.argument("base", type=_VERSION)
@click.argument("ours", type=_VERSION)
@click.argument("theirs", type=_VERSION)
@click.argument("path")
@click.pass_context
def command(ctx: click.Context, base: Path, ours: Path, theirs: Path, path: str) -> None:
    """Merge two versions of a file of learnings (run by git).

    `grove init` registers it in the clone: `grove merge-driver %O %A %B -- %P`. Entries are merged
    by their ids: both branches' entries are there, without conflict markers, and the result takes
    the place of OURS. Where that cannot be done the file is merged as git does without a driver;
    the exit code is 65 when conflict markers stand in it then. Any other one but 0 says that
    nothing was done.
    """
    if _is_merged(ctx, base, ours, theirs, path):
        return
    conflicts = merge_as_git(base, ours, theirs)
    if conflicts is None:
        ctx.exit(1)
    if conflicts:
        ctx.exit(MARKERS_WRITTEN)


def _is_merged(ctx: click.Context, base: Path, ours: Path, theirs: Path, path: str) -> bool:
    try:
        workspace = Workspace(
            (Path.cwd() / path).parent,
            os.environ,
            now_utc(),
            load_plugins=ctx.meta.get(PLUGINS_KEY, True),
        )
        merged = merge_by_backend(workspace, base, ours, theirs, path)
    except Exception as error:  # noqa: BLE001 - git's own merge follows, whatever went wrong
        click.echo(f"grove: {path} is merged as plain text: {error}", err=True)
        return False
    name_problems(workspace.problems)
    return merged
