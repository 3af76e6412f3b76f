import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grove_core.plugins.discovery import discover

LONG_AGO = 1_600_000_000


class Site:
    """A directory of installed distributions."""

    def __init__(self, path):
        self.path = path
        self.settle()

    def install(self, name, entry_points, *, version="1.0", requires=(), suffix=".dist-info"):
        folder = self.path / f"{name.replace('-', '_')}-{version}{suffix}"
        folder.mkdir(parents=True)
        lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {each}" for each in requires]
        metadata = "PKG-INFO" if suffix == ".egg-info" else "METADATA"
        (folder / metadata).write_text("\n".join(lines) + "\n\n", "utf-8")
        sections = [
            f"[{group}]\n" + "\n".join(f"{key} = {value}" for key, value in points.items())
            for group, points in entry_points.items()
        ]
        (folder / "entry_points.txt").write_text("\n\n".join(sections) + "\n", "utf-8")
        return folder

    def settle(self, when=LONG_AGO):
        """Make it look as if nothing had been installed for a while."""
        self.path.mkdir(exist_ok=True)
        os.utime(self.path, (when, when))


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The only place of this process where distributions are installed."""
    installed = Site(tmp_path / "site")
    others = [entry for entry in sys.path if not any(Path(entry).glob("*.dist-info"))]
    monkeypatch.setattr(sys, "path", [str(installed.path), *others])
    return installed


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def cache_file(home):
    (file,) = (home / "cache").iterdir()
    return file


def names(found):
    return [plugin.name for plugin in found]


def is_cached(home):
    """Tell whether the cache answers, by making it tell a lie."""
    file = cache_file(home)
    truth = file.read_bytes()
    document = json.loads(truth)
    document["plugins"] = [["grove.plugins", "lie", "lie", "lie", "1", False]]
    file.write_text(json.dumps(document))
    try:
        return names(discover(home)) == ["lie"]
    finally:
        file.write_bytes(truth)


def test_entry_points_of_the_three_groups_are_found(site, home):
    site.install(
        "Acme.Suite",
        {
            "grove.plugins": {"general": "acme.general"},
            "grove.backends": {"store": "acme.store:plugin [fast]"},
            "grove.tickets": {"b-tickets": "acme.b", "a": "acme.a:Deep.plugin"},
            "console_scripts": {"acme": "acme:main"},
        },
        version="2.1",
    )
    found = discover(home)
    assert [(one.group, one.name, one.target) for one in found] == [
        ("grove.tickets", "a", "acme.a:Deep.plugin"),
        ("grove.tickets", "b-tickets", "acme.b"),
        ("grove.backends", "store", "acme.store:plugin"),
        ("grove.plugins", "general", "acme.general"),
    ]
    assert {(one.distribution, one.version, one.first_party) for one in found} == {
        ("Acme.Suite", "2.1", False)
    }


def test_first_party_is_what_an_extra_of_core_names(site, home):
    site.install(
        "grove-core",
        {},
        requires=[
            "needed>=1",
            'conditional>=1; python_version < "4"',
            "Our.Plugin==1.0; extra == 'ours'",
            'other-plugin[x] (>=2); python_version > "3" and extra=="all"',
        ],
    )
    for name in ("needed", "conditional", "our_plugin", "other-plugin", "stranger"):
        site.install(name, {"grove.tickets": {name: "module"}})
    first_party = {one.distribution for one in discover(home) if one.first_party}
    assert first_party == {"our_plugin", "other-plugin"}


def test_nothing_of_a_plugin_is_imported(site, home):
    (site.path / "explosive_plugin.py").write_text("raise SystemExit('imported')")
    site.install("acme", {"grove.tickets": {"acme": "explosive_plugin"}})
    assert names(discover(home)) == ["acme"]
    assert "explosive_plugin" not in sys.modules


def test_same_distribution_listed_twice_counts_once(site, home, tmp_path):
    source = Site(tmp_path / "source")
    sys.path.append(str(source.path))
    site.install("acme-one", {"grove.tickets": {"acme": "first"}}, version="2.0")
    source.install("Acme_One", {"grove.tickets": {"acme": "old"}}, suffix=".egg-info")
    assert [one.target for one in discover(home)] == ["first"]


def test_egg_info_beside_dist_info_counts_once(site, home):
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    site.install("acme", {"grove.tickets": {"acme": "module"}}, suffix=".egg-info")
    assert names(discover(home)) == ["acme"]


def test_one_name_in_two_distributions_is_found_twice(site, home):
    site.install("beta", {"grove.tickets": {"acme": "b"}})
    site.install("alpha", {"grove.tickets": {"acme": "a"}})
    assert [one.distribution for one in discover(home)] == ["alpha", "beta"]


def test_a_hundred_distributions(site, home):
    for number in range(100):
        site.install(f"dist-{number:03}", {"grove.plugins": {f"p{number:03}": "module"}})
    site.settle()
    first, second = discover(home), discover(home)
    assert names(first) == [f"p{number:03}" for number in range(100)]
    assert first == second
    assert is_cached(home)


def test_a_cache_is_written_and_used(site, home):
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    site.settle()
    assert names(discover(home)) == ["acme"]
    assert is_cached(home)


def test_a_hit_does_not_import_importlib_metadata_and_an_installation_is_seen(site, home):
    script = (
        "import sys, pathlib\n"
        "from grove_core.plugins.discovery import discover\n"
        f"sys.path[:] = {sys.path!r}\n"
        f"found = discover(pathlib.Path({str(home)!r}))\n"
        "print([one.name for one in found], 'importlib.metadata' in sys.modules)\n"
    )

    def run():
        result = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
        )
        return result.stdout.strip()

    site.install("acme", {"grove.tickets": {"acme": "module"}})
    site.settle()
    assert run() == "['acme'] True"
    assert run() == "['acme'] False"
    folder = site.install("brand-new", {"grove.tickets": {"new": "module"}})
    assert run() == "['acme', 'new'] True"
    assert run() == "['acme', 'new'] True", "a directory that has just changed is not trusted yet"
    site.settle(LONG_AGO + 1)
    assert run() == "['acme', 'new'] True"
    assert run() == "['acme', 'new'] False"
    folder.rename(folder.with_suffix(".removed"))
    assert run() == "['acme'] True"


def test_changes_in_a_directory_without_distributions_do_not_matter(site, home, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    sys.path.append(str(source))
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    site.settle()
    discover(home)
    (source / "new_module.py").touch()
    assert is_cached(home)
    Site(source).install("late", {"grove.tickets": {"late": "module"}})
    assert names(discover(home)) == ["acme", "late"]


def test_an_added_search_path_is_seen(site, home, tmp_path):
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    site.settle()
    discover(home)
    extra = Site(tmp_path / "extra")
    extra.install("extra", {"grove.tickets": {"extra": "module"}})
    sys.path.append(str(extra.path))
    assert names(discover(home)) == ["acme", "extra"]


def test_a_search_path_that_leads_nowhere_is_no_fault(site, home, tmp_path):
    sys.path += [str(tmp_path / "missing"), str(tmp_path / "file.zip")]
    (tmp_path / "file.zip").write_bytes(b"no archive")
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    assert names(discover(home)) == ["acme"]


def test_nothing_is_cached_while_an_installation_may_be_going_on(site, home):
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    assert names(discover(home)) == ["acme"]
    assert not (home / "cache").exists()


VALID_ROW = ["grove.tickets", "acme", "module", "acme", "1.0", False]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: b"",
        lambda document: b"{",
        lambda document: b"\xff\x00\xfe",
        lambda document: b"[" * 100_000,
        lambda document: b"[]",
        lambda document: b"null",
        lambda document: json.dumps(document | {"format": 0}).encode(),
        lambda document: json.dumps(document | {"plugins": None}).encode(),
        lambda document: json.dumps(document | {"plugins": [1]}).encode(),
        lambda document: json.dumps(document | {"plugins": [VALID_ROW[:-1]]}).encode(),
        lambda document: json.dumps(document | {"plugins": [[*VALID_ROW[:-1], "no"]]}).encode(),
        lambda document: json.dumps({"plugins": [VALID_ROW]}).encode(),
    ],
)
def test_a_spoilt_cache_is_made_anew(site, home, spoil):
    site.install("real", {"grove.tickets": {"real": "module"}})
    site.settle()
    found = discover(home)
    file = cache_file(home)
    good = file.read_bytes()
    file.write_bytes(spoil(json.loads(good)))
    assert discover(home) == found
    assert file.read_bytes() == good


def test_a_cache_that_cannot_be_read_means_a_scan(site, home):
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    site.settle()
    discover(home)
    file = cache_file(home)
    file.unlink()
    file.mkdir()
    assert names(discover(home)) == ["acme"]
    assert [entry.name for entry in (home / "cache").iterdir()] == [file.name]


def test_a_home_that_cannot_be_written_is_no_fault(site, home):
    home.rmdir()
    home.write_text("not a directory")
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    site.settle()
    assert names(discover(home)) == ["acme"]
    assert home.read_text() == "not a directory"


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_read_only_home_is_no_fault(site, home):
    home.mkdir(mode=0o500)
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    site.settle()
    assert names(discover(home)) == ["acme"]
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("entry_points.txt", b"[grove.tickets]\nbad = \xff\xfe\n"),
        ("entry_points.txt", b"[grove.tickets]\nno equals sign\n"),
        ("METADATA", b"Metadata-Version: 2.4\n\n"),
    ],
)
def test_broken_metadata_of_one_distribution_concerns_no_other(site, home, file, content):
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    broken = site.install("broken", {"grove.tickets": {"bad": "module"}})
    (broken / file).write_bytes(content)
    site.settle()
    assert names(discover(home)) == ["acme"]
    assert not (home / "cache").exists(), "an incomplete result must not be kept"


def test_looking_makes_no_home(site, tmp_path):
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    assert names(discover(tmp_path / "nowhere")) == ["acme"]
    assert not (tmp_path / "nowhere").exists()
