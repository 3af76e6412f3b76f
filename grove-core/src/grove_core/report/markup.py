"""Making HTML out of elements: every text is escaped, whoever wrote it."""

import json
from collections.abc import Mapping
from typing import Any, Final
from xml.etree.ElementTree import Element, tostring

_DOCTYPE: Final = "<!doctype html>\n"
# Inside a script nothing is escaped: no text in it may look like a tag.
_UNSAFE_IN_SCRIPT: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def element(tag: str, *children: Element | str, **attributes: str) -> Element:
    """Make an element."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    made = Element(tag, named)
    for child in children:
        if isinstance(child, Element):
            made.append(child)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + child
        else:
            made.text = (made.text or "") + child
    return made


def json_script(document: Mapping[str, Any], identifier: str) -> Element:
    """Make a script element that holds data; a browser does not run it."""
    text = json.dumps(document, ensure_ascii=True).translate(_UNSAFE_IN_SCRIPT)
    return element("script", text, type="application/json", id=identifier)


def to_html(page: Element) -> str:
    """Write a page."""
    return _DOCTYPE + tostring(page, encoding="unicode", method="html") + "\n"
