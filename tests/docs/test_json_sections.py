"""The page about JSON output has a place for every command, and what prints the same is the same."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json-output.md"
RUN_BY_PROGRAMS = {"hook", "merge-driver"}
SAME = re.compile(r"^((?:`[^`]+`(?:, | and )?)+) prints? the same\.", re.MULTILINE)


def sections():
    found = {}
    for section in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        found[title.strip()] = body
    return found


def sharing():
    """Commands that print what another one's section tells: `{command: section}`."""
    found = {}
    for title, body in sections().items():
        for match in SAME.finditer(body):
            first, *others = re.findall(r"`([^`]+)`", match[1])
            group = first.rpartition(" ")[0]
            found |= dict.fromkeys((first, *(f"{group} {other}" for other in others)), title)
    return found


def commands_with_json():
    """Every command of grove's own that has `--json`."""
    import rich_click as click

    from grove_core.cli.main import COMMANDS, command_named

    def below(command, context, name):
        has_json = any(parameter.name == "as_json" for parameter in command.params)
        is_group = isinstance(command, click.Group)
        if has_json and (not is_group or command.invoke_without_command):
            yield name
        if is_group:
            for sub_name in command.list_commands(context):
                _, sub, _ = command.resolve_command(context, [sub_name])
                yield from below(sub, click.Context(sub, parent=context), f"{name} {sub_name}")

    for name in COMMANDS.keys() - RUN_BY_PROGRAMS:
        context = click.Context(command_named(name), info_name=name)
        context.params["plugins"] = False
        yield from below(context.command, context, f"grove {name}")


def test_every_command_with_json_has_its_place():
    told = sections().keys() | sharing().keys()
    assert sorted(set(commands_with_json()) - told) == []


def keys_of(document):
    return {key for key in document if document[key] is not None}


@pytest.fixture
def two(beads, candidate):
    """A project with two learnings; gives their ids as well."""
    agent = beads.agent()
    agent.starts()
    stored = agent.reflects(candidate(1), candidate(2)).json["accepted"]
    return beads, [one["id"] for one in stored]


def test_what_prints_the_same_is_the_same(two):
    """Of each such command, one that did something; its keys are those of the section's command."""
    world, (old, new) = two
    done = {
        "grove maintain archive": ("maintain", "archive", old),
        "grove maintain restore": ("maintain", "restore", old),
        "grove maintain supersede": ("maintain", "supersede", old, "--by", new),
        "grove maintain decay": ("maintain", "decay"),
        "grove config": ("config",),
        "grove config show": ("config", "show"),
    }
    printed = {name: keys_of(world.grove(*words, "--json").json) for name, words in done.items()}
    for name, section in sharing().items():
        assert printed[name] == printed[section], name
