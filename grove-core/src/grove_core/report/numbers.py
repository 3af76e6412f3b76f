"""Numbers of the page: each is taken from the document of ``--json`` and says from where."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from grove_core.report.markup import element
from grove_core.report.words import in_days, interval_of, percent


class Numbers:
    """Elements for the numbers of one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        """Start."""
        self.document = document

    def at(self, *path: str | int) -> Any:  # noqa: ANN401 - whatever JSON has there
        """Get a part of the document."""
        part: Any = self.document
        for step in path:
            part = part[step]
        return part

    def indexes(self, *path: str | int) -> Sequence[int]:
        """Return the indexes of a list."""
        return range(len(self.at(*path)))

    def count(self, *path: str | int) -> Element:
        """Make an element for a count."""
        number = self.at(*path)
        return self._data(f"{number:,}", number, path)

    def things(self, noun: str, *path: str | int) -> Sequence[Element | str]:
        """Make a count of things."""
        return [self.count(*path), f" {noun}{'' if self.at(*path) == 1 else 's'}"]

    def rate(self, *path: str | int) -> Element:
        """Make an element for a rate."""
        number = self.at(*path)
        return self._data(percent(number), number, path)

    def days(self, *path: str | int) -> Element:
        """Make an element for the days that are left until something is done."""
        number = self.at(*path)
        return self._data(in_days(number), number, path)

    def share(self, *path: str | int) -> Sequence[Element | str]:
        """Make the counts of a share, such as ``12 of 31``."""
        if not self.at(*path, "total"):
            return ["–"]
        return [self.count(*path, "count"), " of ", self.count(*path, "total")]

    def interval(self, *path: str | int) -> str:
        """Say the interval of a share's rate."""
        share = self.at(*path)
        return "" if share["rate"] is None else interval_of(share["low"], share["high"])

    @staticmethod
    def _data(text: str, number: float, path: Sequence[str | int]) -> Element:
        steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
        pointer = "".join(f"/{step}" for step in steps)
        return element("data", text, value=f"{number}", data_pointer=pointer)
