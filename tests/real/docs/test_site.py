"""The documentation's site: built without a warning, no dead link, all of it reachable, nothing foreign."""

import re
import socket
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
import site_building
from pages import DOCS, PAGES, ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import landing_pages

SOURCES = sorted(page.relative_to(DOCS).as_posix() for page in PAGES if page != DOCS / "README.md")
CHANGES = "changes.md"
TEXTS = {".html", ".css", ".js", ".json", ".xml", ".svg", ".txt"}


class Built(HTMLParser):
    """The links of a page, what it loads, and what can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in {"script", "img", "iframe", "source"} and "src" in values:
            self.loaded.append(values["src"])
        if tag == "link" and values.get("rel") not in {"prev", "next", "canonical"}:
            self.loaded.append(values["href"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return site_building.build(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def site(folder):
    return {page: Built(page.read_text()) for page in sorted(folder.rglob("*.html"))}


def target_of(folder, page, link):
    """The file that a link leads to, and the anchor in it."""
    path, anchor = urldefrag(link)
    start = folder if path.startswith("/") else page.parent
    target = (start / unquote(path).lstrip("/")).resolve() if path else page
    return target / "index.html" if target.is_dir() else target, unquote(anchor)


def test_every_link_and_anchor_leads_somewhere(folder, site):
    dead = []
    for page, built in site.items():
        for link in [*built.links, *built.loaded]:
            if re.match(r"[a-z]+:", link):
                assert link.startswith("https://"), (page.name, link)  # for readers with a network
                continue
            target, anchor = target_of(folder, page, link)
            is_there = target.is_file() and target.is_relative_to(folder)
            if not is_there or (anchor and target in site and anchor not in site[target].ids):
                dead.append((str(page.relative_to(folder)), link))
    assert dead == []


def test_nothing_is_loaded_from_another_host(folder, site):
    for page, built in site.items():
        assert [one for one in built.loaded if re.match(r"[a-z]+:|//", one)] == [], page.name
    for sheet in [*folder.rglob("*.css"), *folder.rglob("images/*.svg")]:
        named = re.findall(r"url\(\s*[\"']?((?:https?:)?//[^)]*)|@import", sheet.read_text())
        assert named == [], sheet.name


def flat(nav):
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for inner in entry.values():
                yield from [inner] if isinstance(inner, str) else flat(inner)


def test_every_page_is_built_and_in_the_navigation_once(folder, site):
    assert sorted(flat(landing_pages.navigation())) == sorted([*SOURCES, CHANGES])
    built = {page.relative_to(folder).as_posix() for page in site}
    assert built == {"404.html", *(f"{one[:-3]}.html" for one in [*SOURCES, CHANGES])}
    assert {page.name: one.tags.count("h1") for page, one in site.items()} == {
        page.name: 1 for page in site
    }


def test_no_page_names_this_machine(folder):
    machine = {str(ROOT), str(Path.home()), sys.prefix, str(folder), socket.gethostname()}
    names = [name for name in machine if len(name) > 5]
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix in TEXTS:
            text = file.read_text()
            assert [name for name in names if name in text] == [], file.name
