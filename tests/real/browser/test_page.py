"""The page of `grove page` in a real browser: learnings can be found and read, numbers too."""

from itertools import pairwise

import pytest
import statistics_examples as examples
from looking import SMALLEST_CONTRAST

from grove_core.report.page import html_page
from grove_core.stats.insights import insights_of

STATISTICS = {
    "rich": examples.rich_example(),
    "empty": examples.empty_example(),
    "long": examples.long_example(),
}
WINDOWS = [(width, scheme) for width in (1280, 360) for scheme in ("light", "dark")]
ENOUGH_CONTRAST = 4.5
MANY = 2_000

SHOWN = "[...document.querySelectorAll('.learning')].filter(one => !one.hidden).map(one => one.id)"
FOUND = "document.getElementById('found').textContent"
FOCUSED = "document.activeElement.id || document.activeElement.parentElement.id"


def write(folder, statistics, learnings, title="orders & <b>returns</b>"):
    path = folder / "page.html"
    known = [one.learning for one in learnings]
    html_page(statistics, insights_of(statistics), known, learnings, title).dump(str(path), "utf-8")
    return path


def fill_in(browser, name, text):
    browser.evaluate(
        f"(() => {{ const one = document.getElementById({name!r}); one.value = {text!r};"
        " one.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def press(browser, key, text=""):
    for kind in ("keyDown", "keyUp"):
        typed = {"text": text} if text and kind == "keyDown" else {}
        code = {"windowsVirtualKeyCode": 13} if key == "Enter" else {}
        browser.page("Input.dispatchKeyEvent", type=kind, key=key, **typed, **code)


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_it_fits_loads_nothing_and_can_be_read(browser, tmp_path, name, width, scheme):
    learnings = [] if name == "empty" else examples.readable_examples(30)
    page = write(tmp_path, STATISTICS[name], learnings)
    browser.open(page, width=width, scheme=scheme)
    browser.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert browser.complaints() == []
    assert browser.requests() == [page.as_uri()]
    assert browser.evaluate("document.title") == "orders & <b>returns</b>: grove"
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    contrast, text = browser.evaluate(SMALLEST_CONTRAST)
    assert contrast >= ENOUGH_CONTRAST, text
    levels = browser.evaluate(
        "[...document.querySelectorAll('h1, h2, h3')].map(one => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


def test_two_thousand_learnings_are_searched_filtered_and_read_by_keyboard(browser, tmp_path):
    page = write(tmp_path, STATISTICS["rich"], examples.readable_examples(MANY))
    browser.open(page, width=390)
    assert browser.evaluate(FOUND) == "2,000 of 2,000"
    assert len(browser.evaluate(SHOWN)) == 20
    assert browser.evaluate("document.documentElement.scrollHeight") < 4_000
    browser.evaluate("document.getElementById('more').click()")
    assert len(browser.evaluate(SHOWN)) == 40
    assert browser.evaluate(FOCUSED) == "cl_20300110_aaa020"

    press(browser, "/", "/")
    for letter in "1200":
        press(browser, letter, letter)
    assert browser.evaluate(FOUND) == "1 of 2,000"
    press(browser, "Tab")
    for name, text, found in (
        ("words", "Detail NUMBER 1200", "1 of 2,000"),
        ("words", "", "2,000 of 2,000"),
        ("category", "pitfall", "286 of 2,000"),
        ("status", "archived", "28 of 2,000"),
        ("tag", "#part-20", "6 of 2,000"),
        ("tag", "nothing has this", "0 of 2,000"),
        ("tag", "", "28 of 2,000"),
        ("file", "shop/file-50.py", "2 of 2,000"),
    ):
        fill_in(browser, name, text)
        assert browser.evaluate(FOUND) == found, (name, text)
    (first, _) = browser.evaluate(SHOWN)
    browser.evaluate(f"document.querySelector('#{first} summary').focus()")
    press(browser, "Enter", "\r")
    assert browser.evaluate(f"document.getElementById('{first}').open")

    browser.evaluate("location.hash = 'cl_20300110_aaa1999'")
    browser.evaluate("new Promise(done => setTimeout(done, 50))")
    assert browser.evaluate("document.getElementById('cl_20300110_aaa1999').open")
    assert browser.evaluate(FOCUSED) == "cl_20300110_aaa1999"
    assert browser.complaints() == []


def test_a_hostile_text_stays_text(browser, tmp_path):
    page = write(tmp_path, STATISTICS["rich"], examples.readable_examples(9), examples.HOSTILE)
    browser.open(page, width=1280)
    assert browser.evaluate("document.querySelector('h1').textContent") == examples.HOSTILE
    texts = browser.evaluate(
        "[...document.querySelectorAll('.summary, .detail, .items span')].map(o => o.textContent)"
    )
    assert sum(examples.HOSTILE in one for one in texts) >= 4
    assert browser.evaluate("document.querySelectorAll('script').length") == 1
    assert browser.evaluate("document.querySelectorAll('img, iframe, link').length") == 0
    assert browser.complaints() == []
