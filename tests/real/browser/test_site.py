"""The documentation's site in a real browser: wide and on a telephone, light and dark, offline."""

import functools
import http.server
import os
import sys
import threading
from pathlib import Path

import pytest
from core_worlds import run_program
from looking import SMALLEST_CONTRAST

ROOT = Path(__file__).parents[3]
WINDOWS = [(1280, "light"), (1280, "dark"), (375, "light"), (375, "dark")]
ENOUGH_CONTRAST = 4.5
SMALLEST_TEXT = 10
PAGES = [
    "index.html",
    "tutorial/first-learning.html",
    "reference/commands.html",
    "explanation/compare.html",
    "dev/architecture.html",
]

WIDTH = "document.documentElement.scrollWidth"
CODE = """[...document.querySelectorAll('pre > code')].map(code => {
    const style = getComputedStyle(code);
    return [parseFloat(style.fontSize), style.overflowX, style.fontFamily.includes('mono')];
})"""
UNSEEN_PICTURES = """(async () => {
    const all = [...document.images];
    await Promise.all(all.map(one => one.decode().catch(() => null)));
    const content = all.filter(one => one.closest('article'));
    return [...all.filter(one => !one.naturalWidth),
        ...content.filter(one => one.getBoundingClientRect().width < 300)].map(one => one.src);
})()"""
SEARCH = """(async words => {
    const input = document.querySelector('.md-search__input');
    const results = () => [...document.querySelectorAll('.md-search-result__link')];
    input.focus();
    input.value = words;
    for (let wait = 0; wait < 200 && !results().length; wait++) {
        input.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}));
        await new Promise(done => setTimeout(done, 50));
    }
    return results().map(one => one.getAttribute('href'));
})"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the site, with its own page for what is not there."""

    def log_message(self, *_):
        pass

    def send_error(self, code, *_):
        page = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page)


def build(folder):
    """Builds the site, where a warning is an error.

    The network is out of reach: whatever would be fetched has to be there already.
    """
    unreachable = "http://127.0.0.1:9"
    proxies = {f"{scheme}_proxy": unreachable for scheme in ("http", "https", "all")}
    done = run_program(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, **proxies, "NO_MKDOCS_2_WARNING": "1", "SITE_URL": ""},
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return build(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def address(folder):
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def foreign(browser, address):
    """Addresses that the page has asked for elsewhere; pictures in style sheets are no requests."""
    ours = (f"{address}/", "data:")
    return [one for one in browser.requests() if not one.startswith(ours)]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_asks_nobody_and_can_be_read(browser, address, page):
    for width, scheme in WINDOWS:
        browser.visit(f"{address}/{page}", width=width, scheme=scheme)
        assert browser.complaints() == []
        assert foreign(browser, address) == []
        assert browser.evaluate(UNSEEN_PICTURES) == []
        assert browser.evaluate(WIDTH) == width
        contrast, text = browser.evaluate(SMALLEST_CONTRAST)
        assert contrast >= ENOUGH_CONTRAST, (width, scheme, text)
        for size, overflow, is_monospaced in browser.evaluate(CODE):
            assert size >= SMALLEST_TEXT
            assert overflow == "auto"
            assert is_monospaced


@pytest.mark.parametrize("place", ["server", "folder"])
def test_the_search_finds_a_word_without_a_network(browser, address, folder, place):
    base = address if place == "server" else folder.as_uri()
    browser.visit(f"{base}/how-to/configure.html", width=1280)
    for words, page in (("prefetch_related", "first-learning"), ("token cost", "read-the-numbers")):
        found = browser.evaluate(f"{SEARCH}('{words}')")
        assert any(f"{page}.html" in link for link in found), found
    assert browser.complaints() == []
    assert foreign(browser, base) == []


ASKED = {
    "dirty tree": "how-to/troubleshooting.html",
    "merge conflict": "how-to/troubleshooting.html",
    "windows": "how-to/troubleshooting.html",
    "turn off": "how-to/switch-it-off.html",
    "token cost": "how-to/read-the-numbers.html",
    "edit a learning": "how-to/curate-learnings.html",
    "why did my agent stop": "how-to/why-did-my-agent-stop.html",
    "uninstall": "how-to/install.html",
    "rules file": "explanation/compare.html",
}


def test_the_search_answers_what_people_ask(browser, address):
    missed = {}
    for words, page in ASKED.items():
        browser.visit(f"{address}/index.html", width=1280)
        pages = [
            link.split("#")[0].split("?")[0] for link in browser.evaluate(f"{SEARCH}({words!r})")
        ]
        best = list(dict.fromkeys(pages))[:4]
        if not any(link.endswith(page) for link in best):
            missed[words] = best
    assert missed == {}
