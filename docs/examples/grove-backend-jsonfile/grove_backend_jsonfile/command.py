"""`grove jsonfile-count`."""

from pathlib import Path

import rich_click as click

import grove_core as grove
from grove_backend_jsonfile.backend import FILE, read_file


@click.command("jsonfile-count")
@click.argument("file", type=click.Path(exists=True, path_type=Path), default=FILE)
def command(file: Path) -> None:
    """Count the learnings in a JSON file, by default the one of this directory."""
    try:
        click.echo(len(read_file(file)))
    except grove.BackendError as error:
        raise click.ClickException(str(error)) from error
