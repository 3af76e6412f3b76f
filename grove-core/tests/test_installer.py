"""The shell commands that grove names: in the way of what it was installed with."""

import json
import shlex
from pathlib import Path

import pytest

import grove_tickets
from grove_core.health.installer import Installer, Package, Tool, gather_installer, installer_of

ACME = Package(name="acme")
ONE = Package(name="one")
FROM_SOURCE = Package(name="acme", folder=Path("/my desk/acme"))
FOUND_IN = ("--find-links", "file:///my%20wheels")


@pytest.mark.parametrize(
    ("installer", "command"),
    [
        (Installer(beside=(ACME,)), "pip install one two"),
        (Installer(tool=Tool.PIPX, beside=(ACME,)), "pipx inject grove-core one two"),
        (
            Installer(tool=Tool.PIPX, options=("--find-links", "/my wheels")),
            """pipx inject --pip-args '--find-links '"'"'/my wheels'"'"'' grove-core one two""",
        ),
        (
            Installer(tool=Tool.UV, beside=(ACME, ONE)),
            "uv tool install grove-core --with acme --with one --with two",
        ),
        (
            Installer(tool=Tool.UV, beside=(FROM_SOURCE,)),
            "uv tool install grove-core --with-editable '/my desk/acme' --with one --with two",
        ),
        (
            Installer(
                tool=Tool.UV,
                options=FOUND_IN,
                core=Package(name="grove-core", extras=("markdown", "mcp"), versions="<2"),
            ),
            (
                "uv tool install --find-links file:///my%20wheels 'grove-core[markdown,mcp]<2'"
                " --with one --with two"
            ),
        ),
        (
            Installer(
                tool=Tool.UV,
                core=Package(name="grove-core", folder=Path("/src/core"), extras=("mcp",)),
                beside=(Package(name="acme", url="https://example.org/acme.whl", versions=">1"),),
            ),
            (
                "uv tool install --editable '/src/core[mcp]'"
                " --with 'acme @ https://example.org/acme.whl' --with one --with two"
            ),
        ),
    ],
    ids=["pip", "pipx", "pipx, found elsewhere", "uv", "uv, a source", "uv, found", "uv, its own"],
)
def test_packages_are_added_by_what_grove_was_installed_with(installer, command):
    assert installer.command("one", "two") == command


def test_a_quoted_word_with_an_extra_is_added_as_it_is():
    assert Installer().command("'grove-core[testing]'") == "pip install 'grove-core[testing]'"
    assert Installer(tool=Tool.UV, beside=(ACME,)).command("'grove-core[testing]'") == (
        "uv tool install grove-core --with acme --with 'grove-core[testing]'"
    )


BESIDE = (ACME, Package(name="two", folder=Path("/src/two")))


@pytest.mark.parametrize(
    ("tool", "commands"),
    [
        (
            None,
            (
                "pip install --force-reinstall grove-core acme -e /src/two",
                "pip install --upgrade acme",
                "pip uninstall acme",
                "pip uninstall three",
            ),
        ),
        (
            Tool.PIPX,
            (
                "pipx reinstall grove-core",
                "pipx upgrade --include-injected grove-core",
                "pipx uninject grove-core acme",
                "",
            ),
        ),
        (
            Tool.UV,
            (
                "uv tool install --reinstall grove-core --with acme --with-editable /src/two",
                "uv tool upgrade grove-core",
                "uv tool install grove-core --with-editable /src/two",
                "",
            ),
        ),
    ],
    ids=["pip", "pipx", "uv"],
)
def test_packages_are_renewed_and_removed_by_it_as_well(tool, commands):
    installer = Installer(tool=tool, beside=BESIDE)
    assert (
        installer.reinstallation(),
        installer.upgrade("Acme"),
        installer.removal("Acme"),
        installer.removal("three"),  # it came with another one
    ) == commands


def test_what_came_from_elsewhere_is_upgraded_from_there():
    beside = (Package(name="acme", url="file:///wheels/acme-1.0-py3-none-any.whl"),)
    assert Installer(beside=beside).upgrade("acme") == (
        "pip install --upgrade 'acme @ file:///wheels/acme-1.0-py3-none-any.whl'"
    )


# --- looking ------------------------------------------------------------------------------------


class Environment:
    """A virtual environment of a program, as far as it is looked at."""

    def __init__(self, folder):
        self.folder, self.site = folder, folder / "site"
        self.site.mkdir()

    def has(self, name, *, plugin="", requires=(), came_from=None):
        metadata = self.site / f"{name.replace('-', '_')}-1.0.dist-info"
        metadata.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0"]
        lines += [f"Requires-Dist: {one}" for one in requires]
        (metadata / "METADATA").write_text("\n".join(lines) + "\n")
        if plugin:
            (metadata / "entry_points.txt").write_text(f"[grove.plugins]\n{plugin} = {plugin}\n")
        if came_from:
            (metadata / "direct_url.json").write_text(json.dumps(came_from))
        return self

    def receipt(self, text):
        (self.folder / "uv-receipt.toml").write_text(text)
        return self

    def look(self):
        return installer_of(self.folder, [str(self.site)])


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path)


@pytest.fixture
def usual(environment):
    """Core, a plugin that its extra brings, one that was asked for, and one put in by hand."""
    extras = [f"grove-tickets==1.0; extra == '{extra}'" for extra in ("all", "tickets")]
    environment.has("grove-core", requires=["attrs>=24.2", *extras, "x; extra == 'ticket'"])
    environment.has("grove-tickets", plugin="tickets")
    return environment.has("acme", plugin="acme").has("by_hand", plugin="by_hand")


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
extra-index-url = ["https://example.org/more"]
index = [
    { name = "mine", url = "https://token@example.org/mine", explicit = false, default = false },
    { url = "https://example.org/all", default = true },
]
find-links = ["file:///my%20wheels", "/plain wheels"]
no-index = true
prerelease = "allow"
link-mode = "copy"
"""


def test_the_receipt_of_uv_tells_what_was_asked_for_and_where_it_was_found(usual):
    installer = usual.receipt(RECEIPT).look()
    assert installer.tool is Tool.UV
    assert shlex.split(installer.command("new")) == [
        *("uv", "tool", "install", "--python", "3.12"),
        *("--find-links", "file:///my%20wheels", "--find-links", "/plain wheels", "--no-index"),
        *("--index-url", "https://example.org/simple"),
        *("--extra-index-url", "https://example.org/more", "--prerelease", "allow"),
        *("--index", "mine=https://example.org/mine", "--default-index", "https://example.org/all"),
        "grove-core[tickets]",
        *("--with", "acme>=0.1 ; python_full_version >= '3.1'", "--with", "by_hand"),
        *("--with", "psycopg[binary]", "--with", "new"),
    ]


def test_what_was_asked_for_twice_is_named_once_with_all_of_it(usual):
    usual.receipt("""[tool]
        requirements = [
            { name = "grove-core", extras = ["tickets"], specifier = "<2" },
            { name = "acme", marker = "python_version < '4'" },
            { name = "grove-core", extras = ["testing", "tickets"], specifier = ">=1" },
            { name = "acme", specifier = ">=1" },
        ]""")
    assert usual.look().command("new") == (
        "uv tool install 'grove-core[tickets,testing]<2,>=1' --with 'acme>=1' --with by_hand"
        " --with new"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tool = 7",
        "[tool",
        "[tool]\nrequirements = 7\noptions = 7\npython = 7",
        "[tool]\nrequirements = [7, {}, {name = 7}, {name = 'acme', extras = 7, specifier = 7}]",
        "[tool.options]\nfind-links = 7\nno-index = 'x\\u0000'\nindex = [7, {}, {url = 7}]",
        "\udcff",
    ],
)
def test_a_receipt_that_cannot_be_read_tells_nothing_but_who_wrote_it(usual, text):
    path = usual.folder / "uv-receipt.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert usual.look().tool is Tool.UV
    assert usual.look().command("new").startswith("uv tool install ")
    for name in ("grove-core", "acme", "by_hand", "grove-tickets", "new"):
        assert f" {name}" in usual.look().command("new")


@pytest.mark.parametrize(
    ("came_from", "words"),
    [
        ({"url": "file:///src/acme", "dir_info": {"editable": True}}, ["-e", "/src/acme"]),
        ({"url": "file:///my%20src/acme", "dir_info": {"editable": True}}, ["-e", "/my src/acme"]),
        ({"url": "file:///src/acme", "dir_info": {}}, ["acme @ file:///src/acme"]),
        ({"url": "https://you:pw@e.org/a.whl", "archive_info": {}}, ["acme @ https://e.org/a.whl"]),
        (
            {
                "url": "https://e.org/acme",
                "vcs_info": {"vcs": "git", "commit_id": "1f", "requested_revision": "v1"},
                "subdirectory": "py",
            },
            ["acme @ git+https://e.org/acme@v1#subdirectory=py"],
        ),
        (
            {"url": "ssh://git@e.org/acme", "vcs_info": {"vcs": "git", "commit_id": "1f"}},
            ["acme @ git+ssh://git@e.org/acme"],
        ),
        ({"url": 7}, ["acme"]),
        ({"url": "file://[/acme", "dir_info": {"editable": True}}, ["acme"]),
        ({"url": "file:///src/acme", "dir_info": 7, "vcs_info": 7}, ["acme @ file:///src/acme"]),
        ([], ["acme"]),
    ],
)
def test_what_came_from_no_index_is_named_by_where_it_came_from(environment, came_from, words):
    environment.has("grove-core").has("acme", plugin="acme", came_from=came_from)
    line = environment.look().reinstallation()
    assert shlex.split(line) == ["pip", "install", "--force-reinstall", "grove-core", *words]


def test_core_is_named_by_where_it_came_from_where_uv_wrote_that_down(environment):
    came_from = {"url": "file:///src/core", "dir_info": {"editable": True}}
    environment.has("grove-core", came_from=came_from)
    environment.receipt('[tool]\nrequirements = [{ name = "grove-core", editable = "/src/core" }]')
    assert environment.look().command("new") == ("uv tool install --editable /src/core --with new")


def test_without_cores_own_metadata_the_plugins_are_still_named(environment):
    environment.has("acme", plugin="acme").receipt(
        '[tool]\nrequirements = [{ name = "grove-core", extras = ["mcp"] }]'
    )
    assert environment.look().reinstallation() == (
        "uv tool install --reinstall 'grove-core[mcp]' --with acme"
    )


def test_broken_metadata_of_one_package_conceals_no_other(environment):
    broken = environment.has("broken", plugin="broken").site / "broken-1.0.dist-info"
    (broken / "entry_points.txt").write_bytes(b"[grove.plugins]\n\xff\xfe = = \n[")
    environment.has("grove-core").has("acme", plugin="acme")
    assert [one.name for one in environment.look().beside] == ["acme"]


PIP_ARGUMENTS = [
    *("--quiet", "--editable", "--find-links", "/my wheels", "--pre"),
    *("--index-url=https://you:secret@example.org/simple", "--proxy", "x", "-f"),
]


def test_the_metadata_of_pipx_tells_what_was_injected_and_where_it_was_found(usual):
    (usual.folder / "pipx_metadata.json").write_text(
        json.dumps(
            {
                "main_package": {"package": "grove-core", "pip_args": PIP_ARGUMENTS},
                "injected_packages": {"acme": {"package": "acme"}},
            }
        )
    )
    installer = usual.look()
    assert installer.tool is Tool.PIPX
    assert installer.options == (
        *("--find-links", "/my wheels", "--pre", "--index-url=https://example.org/simple"),
    )
    assert installer.removal("acme") == "pipx uninject grove-core acme"
    assert installer.removal("grove-tickets") == ""


@pytest.mark.parametrize(
    "text", ["", "7", '{"main_package": 7, "injected_packages": 7}', '{"main_package": {}}']
)
def test_metadata_of_pipx_that_cannot_be_read_tells_nothing_but_who_wrote_it(usual, text):
    (usual.folder / "pipx_metadata.json").write_text(text)
    assert usual.look().command("new") == "pipx inject grove-core new"


def test_what_is_run_from_its_source_is_known_by_its_folder():
    folder = Path(grove_tickets.__file__).parents[2]
    assert gather_installer().folder_of("grove_tickets") == folder
    assert gather_installer().folder_of("nobody") is None
