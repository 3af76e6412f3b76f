"""The page of `grove stats --html` in a real browser: it shows what the JSON says, and well."""

import json
import re
from itertools import pairwise

import pytest
import statistics_examples as examples
from looking import SMALLEST_CONTRAST

from grove_core.report.page import html_page
from grove_core.report.text import in_days, percent
from grove_core.stats.document import statistics_document
from grove_core.stats.insights import insights_of
from grove_core.storage.codec import to_jsonable

STATISTICS = {
    "rich": examples.rich_example(),
    "single": examples.single_example(),
    "empty": examples.empty_example(),
    "long": examples.long_example(),
}
WINDOWS = [(width, scheme) for width in (1280, 360) for scheme in ("light", "dark")]
ENOUGH_CONTRAST = 4.5

DATA = "JSON.parse(document.getElementById('grove-statistics').textContent)"
NUMBERS = """[...document.querySelectorAll('data')].map(one => [
    one.dataset.pointer, one.getAttribute('value'), one.textContent])"""
TITLES = """[...document.querySelectorAll('figure')].map(figure => [
    figure.querySelector('h3').textContent,
    [...figure.querySelectorAll('svg title')].map(one => one.textContent)])"""
LOOSE = "document.querySelectorAll('script:not([type=\"application/json\"]), img, iframe').length"


def document_of(name):
    statistics = STATISTICS[name]
    document = statistics_document(statistics, insights_of(statistics))
    return json.loads(json.dumps(to_jsonable(document)))


@pytest.fixture(params=STATISTICS)
def name(request):
    return request.param


@pytest.fixture
def page(tmp_path, name):
    path = tmp_path / "page.html"
    path.write_text(html_page(document_of(name), "orders & <b>returns</b>"))
    return path


def follow(document, pointer):
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        document = document[int(key) if isinstance(document, list) else key]
    return document


def said(pointer, number):
    if pointer.endswith("/rate"):
        return percent(number)
    return in_days(number) if pointer.endswith("/days_left") else f"{number:,}"


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_it_fits_loads_nothing_and_can_be_read(browser, page, width, scheme):
    browser.open(page, width=width, scheme=scheme)
    assert browser.complaints() == []
    assert browser.requests() == [page.as_uri()]
    assert browser.evaluate("document.title") == "orders & <b>returns</b>: grove statistics"
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    assert browser.evaluate(LOOSE) == 0
    contrast, text = browser.evaluate(SMALLEST_CONTRAST)
    assert contrast >= ENOUGH_CONTRAST, text


def test_its_numbers_are_those_of_the_json(browser, page, name):
    document = document_of(name)
    browser.open(page, width=1280)
    assert browser.evaluate(DATA) == document
    shown = browser.evaluate(NUMBERS)
    for pointer, value, text in shown:
        number = follow(document, pointer)
        assert (float(value), text) == (number, said(pointer, number)), pointer
    assert bool(shown) == (name != "empty")


def test_the_charts_show_the_numbers(browser, tmp_path):
    document = document_of("rich")
    page = tmp_path / "page.html"
    page.write_text(html_page(document, "orders"))
    browser.open(page, width=1280)
    titles = dict(browser.evaluate(TITLES))
    assert titles["Used when shown, week by week"] == [
        f"{one['start'][5:]}: {percent(one['hits']['rate'])}"
        for one in document["weeks"]
        if one["hits"]["total"]
    ]
    for name in ("reflections", "accepted", "skips"):
        wanted = [f"{one['start'][5:]}: {one[name]}" for one in document["weeks"] if one[name]]
        assert set(wanted) <= set(titles["Work, week by week"])
    refused = document["write_gate"]["rejected_by_stage"]
    assert {f"{stage}: {count}" for stage, count in refused.items()} <= set(titles["Write gate"])


def test_a_hostile_text_stays_text(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(html_page(document_of("rich"), examples.HOSTILE))
    browser.open(page, width=1280)
    assert browser.evaluate("document.querySelector('h1').textContent") == examples.HOSTILE
    summaries = browser.evaluate(
        "[...document.querySelectorAll('.summary')].map(one => one.textContent)"
    )
    assert examples.HOSTILE in summaries
    assert browser.evaluate(LOOSE) == 0
    assert browser.complaints() == []


def test_each_table_and_chart_has_a_name(browser, page):
    browser.open(page, width=1280)
    nameless = browser.evaluate(
        "[...document.querySelectorAll('table')].filter(one => !one.caption.textContent).length"
        " + [...document.querySelectorAll('svg')].filter(one =>"
        " !one.getAttribute('aria-label') && one.getAttribute('aria-hidden') !== 'true').length"
    )
    assert nameless == 0
    levels = browser.evaluate(
        "[...document.querySelectorAll('h1, h2, h3')].map(one => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    assert browser.evaluate("document.documentElement.lang") == "en"
    ids = re.findall(r' id="([^"]+)"', page.read_text())
    assert len(ids) == len(set(ids))
