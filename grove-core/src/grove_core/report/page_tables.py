"""Sections of the page and their tables."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from grove_core.report.markup import element

Cell = Element | Sequence[Element | str]


def section(title: str, *parts: Element) -> Element:
    """Make a section."""
    identifier = title.lower().replace(" ", "-")
    heading = element("h2", title, id=identifier)
    return element("section", heading, *parts, aria_labelledby=identifier)


def table_of(caption: str, titles: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Element:
    """Make a table; its first column holds the names of its rows."""
    head = element("tr", *(element("th", title, scope="col") for title in titles))
    table = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", *(_row(titles, cells) for cells in rows)),
    )
    return element("div", table, class_="table", role="region", aria_label=caption, tabindex="0")


def _row(titles: Sequence[str], cells: Sequence[Cell]) -> Element:
    first, *others = cells
    name = element("th", *_parts(first), scope="row")
    return element("tr", name, *map(_cell, titles[1:], others))


def _cell(title: str, cell: Cell) -> Element:
    """Make a cell that knows its title, for windows in which a row is a block."""
    if isinstance(cell, Element):
        return element("td", cell, data_title=title)
    return element("td", *cell, class_="number", data_title=title)


def _parts(cell: Cell) -> Sequence[Element | str]:
    return [cell] if isinstance(cell, Element) else cell
