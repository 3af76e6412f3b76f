"""What a plugin may add to a backend: a command, and an observer of what is written."""

from pathlib import Path

import grove_core as grove

LOG = "learnings.log"


@grove.hookimpl
def grove_commands() -> list[grove.CommandSpec]:
    """Offer `grove jsonfile-count`; its module is imported only when it is called."""
    target = "grove_backend_jsonfile.command:command"
    return [grove.CommandSpec(name="jsonfile-count", target=target, help="Count the learnings.")]


@grove.hookimpl
def grove_learning_written(learning: grove.Learning, receipt: grove.Receipt) -> None:
    """Keep a list of the ids that went into the JSON file."""
    if receipt.backend == "jsonfile":
        grove.append_text(Path(receipt.location).with_name(LOG), f"{learning.id}\n")
