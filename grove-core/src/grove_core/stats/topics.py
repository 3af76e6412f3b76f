"""Whether two summaries are about the same topic, however differently they put it."""

import re

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SHARE_WITH_TAG = 0.5
"""Share of the shorter summary's words that must be common when a tag is common as well."""

SHARE_WITHOUT_TAG = 0.75
"""The same when no tag is common."""

_WORD = re.compile(r"\w{3,}")
_LEAST_WITH_TAG = 2
_LEAST_WITHOUT_TAG = 3
# Words that stand in sentences about anything.
_EMPTY_WORDS = frozenset(
    "about after again all also always and any are before but can does each every for from has have"
    " into its make more must never not now off only onto our out over should some such than that"
    " the their them then there these they this use used using very was were what when where which"
    " while will with without you your".split()
)


class Topic:
    """What a summary is about."""

    __slots__ = ("tags", "words")

    def __init__(self, summary: str, tags: "Iterable[str]") -> None:
        """Take a summary apart."""
        self.words = frozenset(_WORD.findall(summary.casefold())) - _EMPTY_WORDS
        self.tags = frozenset(tags)

    def is_same(self, other: "Topic") -> bool:
        """Return whether another summary is about the same."""
        common = len(self.words & other.words)
        shorter = min(len(self.words), len(other.words))
        if common >= _LEAST_WITHOUT_TAG and common >= SHARE_WITHOUT_TAG * shorter:
            return True
        return (
            common >= _LEAST_WITH_TAG
            and common >= SHARE_WITH_TAG * shorter
            and not self.tags.isdisjoint(other.tags)
        )
