"""The documentation's site: built without a warning, without a dead link, and all of it reachable."""

import re
import socket
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import landing_pages
import site_building

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCES = sorted(
    page.relative_to(DOCS).as_posix()
    for page in DOCS.rglob("*.md")
    if page != DOCS / "README.md" and not page.is_relative_to(DOCS / "examples")
)
CHANGES = "changes.md"
FENCE = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)
LEFT_OVER = re.compile(r"\]\(|\*\*|```|`[^`\n]+`|\\\||^ *- |^#{1,6} |\|---", re.MULTILINE)
TEXTS = {".html", ".css", ".js", ".json", ".xml", ".svg", ".txt"}


class Built(HTMLParser):
    """What matters of one page."""

    def __init__(self, text):
        super().__init__()
        self.ids = Counter()
        self.links = []
        self.loaded = []
        self.headings = []
        self.pictures = []
        self.tags = Counter()
        self.title = ""
        self.inside = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags[tag] += 1
        if "id" in values:
            self.ids[values["id"]] += 1
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in {"script", "img", "iframe", "source"} and "src" in values:
            self.loaded.append(values["src"])
        if tag == "link" and values.get("rel") not in {"prev", "next", "canonical"}:
            self.loaded.append(values["href"])
        if tag == "img":
            self.pictures.append(values.get("alt", ""))
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(tag)
        if tag == "title" and not self.title:
            self.inside.append("title")

    def handle_endtag(self, tag):
        if tag == "title" and self.inside:
            self.inside.pop()

    def handle_data(self, data):
        if self.inside:
            self.title += data


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return site_building.build(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def site(folder):
    return {page: Built(page.read_text()) for page in sorted(folder.rglob("*.html"))}


def target_of(folder, page, link):
    """The file that a link leads to, and the anchor in it."""
    path, anchor = urldefrag(link)
    start = folder if path.startswith("/") else page.parent
    target = (start / unquote(path).lstrip("/")).resolve() if path else page
    return target / "index.html" if target.is_dir() else target, unquote(anchor)


# --- links --------------------------------------------------------------------------------------


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
    assert sum(len(built.links) for built in site.values()) > 1_000


def test_nothing_is_loaded_from_another_host(folder, site):
    for page, built in site.items():
        assert [one for one in built.loaded if re.match(r"[a-z]+:|//", one)] == [], page.name
    for sheet in [*folder.rglob("*.css"), *folder.rglob("images/*.svg")]:
        named = re.findall(r"url\(\s*[\"']?((?:https?:)?//[^)]*)|@import", sheet.read_text())
        assert named == [], sheet.name


def test_links_between_pages_are_those_of_the_sources(folder, site):
    """A link to a file beside docs/ leads to a copy of it, byte for byte."""
    copies = [path for path in (folder / "repository").rglob("*") if path.is_file()]
    for copy in copies:
        original = ROOT / copy.relative_to(folder / "repository")
        assert copy.read_bytes() == original.read_bytes()
    changes = site[folder / "changes.html"]
    assert any(link.startswith("how-to/") for link in changes.links)
    older = site[folder / "explanation" / "older-program.html"]
    assert "../changes.html" in older.links


# --- pages --------------------------------------------------------------------------------------


def flat(nav):
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for inner in entry.values():
                yield from [inner] if isinstance(inner, str) else flat(inner)


def test_every_page_is_in_the_navigation_once():
    assert sorted(flat(landing_pages.navigation())) == sorted([*SOURCES, CHANGES])


def test_every_page_is_built_with_one_title(folder, site):
    pages = {page.relative_to(folder).as_posix() for page in site}
    assert pages == {"404.html", *(f"{one[:-3]}.html" for one in [*SOURCES, CHANGES])}
    titles = Counter(built.title.strip() for built in site.values())
    for page, built in site.items():
        name = page.relative_to(folder).as_posix()
        assert built.headings.count("h1") == 1, name
        assert built.headings[0] == "h1", name
        shared = 1 + (built.title.strip() == "grove")  # the front page, and that of a wrong address
        assert titles[built.title.strip()] == shared, (name, built.title)
        assert [one for one, count in built.ids.items() if count > 1] == [], name


@pytest.mark.parametrize("source", SOURCES)
def test_a_page_shows_what_its_source_has(folder, site, source):
    """Hosts of git repositories read markdown another way; what they show must be here as well."""
    text = (DOCS / source).read_text()
    prose = FENCE.sub("", text)
    built = site[folder / f"{source[:-3]}.html"]
    assert built.tags["pre"] == len(FENCE.findall(text))
    assert len(built.headings) == len(re.findall(r"^#{1,6} ", prose, re.MULTILINE))
    rulers = re.findall(r"^\|(?: *:?-+:? *\|)+$", prose, re.MULTILINE)
    assert built.tags["table"] == len(rulers)
    assert all(built.pictures)


def test_no_markup_is_left_in_the_text(site):
    for page in site:
        article = page.read_text().partition("<article")[2].partition("</article")[0]
        prose = re.sub(r"<(pre|code|script)\b.*?</\1>", "", article, flags=re.DOTALL)
        assert LEFT_OVER.findall(re.sub(r"<[^>]+>", "", prose)) == [], page.name


def test_no_page_names_this_machine(folder):
    machine = {str(ROOT), str(Path.home()), sys.prefix, str(folder), socket.gethostname()}
    names = [name for name in machine if len(name) > 5]
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix in TEXTS:
            text = file.read_text()
            assert [name for name in names if name in text] == [], file.name


# --- pictures -----------------------------------------------------------------------------------


def test_pictures_show_what_is_printed():
    script = ROOT / "scripts" / "screenshots.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_picture_is_looked_at():
    pages = "\n".join((DOCS / source).read_text() for source in SOURCES)
    shown = set(re.findall(r"\]\((?:\.\./)?images/([a-z-]+\.svg)\)", pages))
    assert shown == {path.name for path in (DOCS / "images").iterdir()}
