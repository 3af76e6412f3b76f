"""The page of ``grove stats --html``: one file, no network, no script."""

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element

from grove_core.codec.converter import to_jsonable
from grove_core.report.markup import element, json_script, to_html
from grove_core.report.numbers import Numbers
from grove_core.report.page_figures import figures_of
from grove_core.report.page_sections import sections_of
from grove_core.report.page_summary import summary_of_page

DATA_ID: Final = "grove-statistics"
"""The id of the element with the document of ``--json``."""
_GENERATOR: Final = "grove stats"
_STYLE_SHEET: Final = Path(__file__).with_name("page.css")


def html_page(document: Mapping[str, Any], title: str) -> str:
    """Make the page."""
    plain: dict[str, Any] = json.loads(json.dumps(to_jsonable(document)))
    style = _STYLE_SHEET.read_text(encoding="utf-8")
    page = element("html", _head(title, style), _body(Numbers(plain), title), lang="en")
    return to_html(page)


def is_page(start: bytes) -> bool:
    """Return whether a file is a page that grove has written."""
    return start.startswith(b"<!doctype html>") and f'content="{_GENERATOR}"'.encode() in start


def _head(title: str, style: str) -> Element:
    policy = f"default-src 'none'; style-src {_hash_of(style)}; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="generator", content=_GENERATOR),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title}: grove statistics"),
        element("style", style),
    )


def _hash_of(style: str) -> str:
    digest = hashlib.sha256(style.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _body(numbers: Numbers, title: str) -> Element:
    return element(
        "body",
        element(
            "header",
            element("h1", element("bdi", title)),
            element("p", _period(numbers), class_="period"),
        ),
        element("main", *_content(numbers)),
        element(
            "footer",
            element(
                "p",
                "Intervals are 95 % score intervals (Wilson): where the underlying rate may well"
                " be. Written by grove stats --html; every number is also in grove stats --json.",
            ),
        ),
        json_script(numbers.document, DATA_ID),
    )


def _content(numbers: Numbers) -> list[Element]:
    if not numbers.at("learnings", "total") and not numbers.at("log", "events"):
        nothing = "No numbers yet: they come with the first learning that is written or shown."
        return [element("p", nothing, class_="nothing"), *sections_of(numbers)]
    return [*summary_of_page(numbers), *figures_of(numbers), *sections_of(numbers)]


def _period(numbers: Numbers) -> str:
    since, until = numbers.at("since"), numbers.at("generated_at")
    start = f"since {since[:10]}" if since else "all time"
    return f"grove statistics, {start}, as of {until[:10]}"
