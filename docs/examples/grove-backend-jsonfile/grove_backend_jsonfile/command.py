"""`grove jsonfile-count`."""

import json
from pathlib import Path

import rich_click as click

from grove_backend_jsonfile.backend import FILE


@click.command("jsonfile-count")
def command() -> None:
    """Count the learnings in the JSON file of this directory."""
    click.echo(len(json.loads(Path(FILE).read_text() or "{}")))
