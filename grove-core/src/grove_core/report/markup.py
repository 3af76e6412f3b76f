"""Making HTML out of elements: every text is escaped, whoever wrote it."""

import json
from collections.abc import Mapping
from typing import Any, Final
from xml.etree.ElementTree import Element, tostring

_DOCTYPE: Final = "<!doctype html>\n"
# Inside a script nothing is escaped: no text in it may look like a tag.
_UNSAFE_IN_SCRIPT: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def element(tag: str, *children: Element | str, **attributes: str) -> Element:
    """Make an element.

    Args:
        tag: Its name.
        *children: What it holds: elements and texts.
        **attributes: Its attributes; ``_`` stands for ``-``, and one at the end is dropped, as in
            ``class_`` and ``aria_label``.

    Returns:
        The element.
    """
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
    """Make a script element that holds data; a browser does not run it.

    Args:
        document: The data.
        identifier: The element's id.

    Returns:
        The element.
    """
    text = json.dumps(document, ensure_ascii=True).translate(_UNSAFE_IN_SCRIPT)
    return element("script", text, type="application/json", id=identifier)


def to_html(page: Element) -> str:
    """Write a page.

    Args:
        page: Its root, ``html``.

    Returns:
        The text of the file.
    """
    return _DOCTYPE + tostring(page, encoding="unicode", method="html") + "\n"
