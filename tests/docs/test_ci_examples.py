"""What the examples for CI servers run is what the page itself runs, and so works."""

import re
from pathlib import Path

import pytest
import yaml

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-grove-in-ci.md"
INSTALLS = "pip install "


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def commands_of(value):
    """Give every command that a configuration of GitHub Actions or GitLab runs."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in {"run", "script", "before_script"}:
                yield from [inner] if isinstance(inner, str) else inner
            else:
                yield from commands_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from commands_of(inner)


@pytest.mark.parametrize("text", blocks("yaml"))
def test_what_an_example_runs_is_run_by_the_page(text):
    lines = "".join(blocks("sh")).splitlines()
    commands = list(commands_of(yaml.safe_load(text)))
    assert any(command.startswith(INSTALLS) for command in commands)
    checks = [command for command in commands if not command.startswith(INSTALLS)]
    assert checks
    assert [
        one for one in checks if not any(f"{line} ".startswith(f"{one} ") for line in lines)
    ] == []


def test_both_kinds_of_servers_have_an_example():
    assert len(blocks("yaml")) > 1


def test_the_packages_of_the_examples_are_those_of_the_tutorial():
    tutorial = (PAGE.parents[1] / "tutorial" / "first-learning.md").read_text()
    installs = [one for text in blocks("yaml") for one in commands_of(yaml.safe_load(text))]
    for command in (one for one in installs if one.startswith(INSTALLS)):
        assert f"\n{command}\n" in tutorial
