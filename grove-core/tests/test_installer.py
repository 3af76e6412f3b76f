"""The shell commands that grove names: in the way of what it was installed with."""

import json
import shlex
from pathlib import Path

import pytest

from grove_core.health.installer import Installer, Package, Tool, installer_of

ACME = Package(name="acme")


@pytest.mark.parametrize(
    ("installer", "command"),
    [
        (Installer(beside=(ACME,)), "pip install one two"),
        (
            Installer(tool=Tool.PIPX, options=("--find-links", "/my wheels")),
            """pipx inject --pip-args '--find-links '"'"'/my wheels'"'"'' grove-core one two""",
        ),
        (
            Installer(
                tool=Tool.UV, core=Package(name="grove-core", extras=("mcp",)), beside=(ACME,)
            ),
            "uv tool install 'grove-core[mcp]' --with acme --with one --with two",
        ),
    ],
)
def test_packages_are_added_by_what_grove_was_installed_with(installer, command):
    assert installer.command("one", "two") == command


BESIDE = (ACME, Package(name="two", folder=Path("/src/two")))


@pytest.mark.parametrize(
    ("tool", "commands"),
    [
        (
            None,
            [
                "pip install --force-reinstall grove-core acme -e /src/two",
                "pip install --upgrade acme",
                "pip uninstall acme",
            ],
        ),
        (
            Tool.PIPX,
            [
                "pipx reinstall grove-core",
                "pipx upgrade --include-injected grove-core",
                "pipx uninject grove-core acme",
            ],
        ),
        (
            Tool.UV,
            [
                "uv tool install --reinstall grove-core --with acme --with-editable /src/two",
                "uv tool upgrade grove-core",
                "uv tool install grove-core --with-editable /src/two",
            ],
        ),
    ],
)
def test_packages_are_renewed_and_removed_by_it_as_well(tool, commands):
    made = Installer(tool=tool, beside=BESIDE)
    assert [made.reinstallation(), made.upgrade("Acme"), made.removal("Acme")] == commands
    other = made.removal("three")  # it came with another one
    assert other == ("" if tool else "pip uninstall three")


class Environment:
    """A virtual environment of a program, as far as it is looked at."""

    def __init__(self, folder):
        self.folder, self.site = folder, folder / "site"
        self.site.mkdir()

    def has(self, name, *, plugin="", requires=()):
        metadata = self.site / f"{name.replace('-', '_')}-1.0.dist-info"
        metadata.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0"]
        lines += [f"Requires-Dist: {one}" for one in requires]
        (metadata / "METADATA").write_text("\n".join(lines) + "\n")
        if plugin:
            (metadata / "entry_points.txt").write_text(f"[grove.plugins]\n{plugin} = {plugin}\n")
        return self

    def look(self):
        return installer_of(self.folder, [str(self.site)])


@pytest.fixture
def usual(tmp_path):
    """Core, a plugin that its extra brings, and one that was asked for."""
    environment = Environment(tmp_path)
    environment.has(
        "grove-core", requires=["attrs>=24.2", "grove-tickets==1.0; extra == 'tickets'"]
    )
    return environment.has("grove-tickets", plugin="tickets").has("acme", plugin="acme")


RECEIPT = """
[tool]
requirements = [
    { name = "acme", marker = "python_full_version >= '3.1'", specifier = ">=0.1" },
    { name = "grove-core", extras = ["tickets"] },
    { name = "psycopg", extras = ["binary"] },
]
python = "3.12"

[tool.options]
index-url = "https://someone:secret@example.org/simple"
find-links = ["file:///my%20wheels", "/plain wheels"]
no-index = true
"""


def test_the_receipt_of_uv_tells_what_was_asked_for_and_where_it_was_found(usual):
    (usual.folder / "uv-receipt.toml").write_text(RECEIPT)
    installer = usual.look()
    assert installer.tool is Tool.UV
    assert shlex.split(installer.command("new")) == [
        *("uv", "tool", "install", "--python", "3.12"),
        *("--find-links", "file:///my%20wheels", "--find-links", "/plain wheels", "--no-index"),
        *("--index-url", "https://example.org/simple"),
        "grove-core[tickets]",
        *("--with", "acme>=0.1 ; python_full_version >= '3.1'"),
        *("--with", "psycopg[binary]", "--with", "new"),
    ]


def test_the_metadata_of_pipx_tells_what_was_injected_and_where_it_was_found(usual):
    arguments = ["--quiet", "--find-links", "/my wheels", "--pre", "--proxy", "x"]
    arguments.append("--index-url=https://you:secret@example.org/simple")
    told = {
        "main_package": {"package": "grove-core", "pip_args": arguments},
        "injected_packages": {"acme": {"package": "acme"}},
    }
    (usual.folder / "pipx_metadata.json").write_text(json.dumps(told))
    installer = usual.look()
    index = "--index-url=https://example.org/simple"
    assert installer.options == ("--find-links", "/my wheels", "--pre", index)
    assert installer.removal("acme") == "pipx uninject grove-core acme"
    assert installer.removal("grove-tickets") == ""


def test_what_came_from_no_index_is_named_by_where_it_came_from(usual):
    git = {"vcs": "git", "commit_id": "1f", "requested_revision": "v1"}
    told = {"url": "https://you:secret@e.org/acme", "vcs_info": git, "subdirectory": "py"}
    (usual.site / "acme-1.0.dist-info" / "direct_url.json").write_text(json.dumps(told))
    words = shlex.split(usual.look().reinstallation())
    assert words[4] == "acme @ git+https://e.org/acme@v1#subdirectory=py"
