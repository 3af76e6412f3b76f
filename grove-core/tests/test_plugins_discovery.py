import json
import os

import pytest
from core_worlds import install, only_site

from grove_core.plugins.discovery import discover

LONG_AGO = 1_600_000_000


class Site:
    """A directory of installed distributions."""

    def __init__(self, path):
        self.path = path
        self.settle()

    def install(self, name, entry_points, **fields):
        return install(self.path, name, entry_points, **fields)

    def settle(self, when=LONG_AGO):
        """Make it look as if nothing had been installed for a while."""
        self.path.mkdir(exist_ok=True)
        os.utime(self.path, (when, when))


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The only place of this process where distributions are installed."""
    installed = Site(tmp_path / "site")
    only_site(monkeypatch, installed.path)
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
    document["found"] = [["grove.plugins", "lie", "lie", "lie", "1", False]]
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


def test_an_installation_is_seen_and_cached_once_it_is_over(site, home):
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    site.settle()
    assert names(discover(home)) == ["acme"]
    assert is_cached(home)
    folder = site.install("brand-new", {"grove.tickets": {"new": "module"}})
    assert names(discover(home)) == ["acme", "new"]
    assert not is_cached(home), "a directory that has just changed is not trusted yet"
    site.settle(LONG_AGO + 1)
    assert names(discover(home)) == ["acme", "new"]
    assert is_cached(home)
    folder.rename(folder.with_suffix(".removed"))
    assert names(discover(home)) == ["acme"]


VALID_ROW = ["grove.tickets", "acme", "module", "acme", "1.0", False]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: b"\xff\x00\xfe",
        lambda document: json.dumps(document | {"state": 0}).encode(),
        lambda document: json.dumps(document | {"found": [VALID_ROW[:2]]}).encode(),
    ],
)
def test_a_spoilt_cache_is_rebuilt(site, home, spoil):
    site.install("real", {"grove.tickets": {"real": "module"}})
    site.settle()
    found = discover(home)
    file = cache_file(home)
    good = file.read_bytes()
    file.write_bytes(spoil(json.loads(good)))
    assert list(map(str, discover(home))) == list(map(str, found))
    assert file.read_bytes() == good
