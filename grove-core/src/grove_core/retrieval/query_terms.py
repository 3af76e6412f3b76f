"""What is looked for, as weighed terms."""

from collections import namedtuple
from math import log

from grove_core.retrieval.indexed_text import (
    area_keys,
    directory_keys,
    file_keys,
    tag_keys,
    ticket_keys,
)
from grove_core.retrieval.terms import identifiers, words

# typing.TYPE_CHECKING, without the import: typing takes longer than all of a query's work here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# How much a word counts by where it stands. Measured with the title at 1.5, 2, 3 and 4.
TITLE_WEIGHT = 2.0
DESCRIPTION_WEIGHT = 1.0
# How much is counted, per unit of rarity, for what is matched as a whole. Files and directories
# were measured; labels and tickets hardly occur in what could be measured, and are set by hand.
FILE_WEIGHT = 1.0
DIRECTORY_WEIGHT = 0.5
TAG_WEIGHT = 0.5
TICKET_WEIGHT = 5.0
NAMED_TICKET_WEIGHT = 2.5

# More than a person writes of one matter; a log that was pasted would only cost time.
_MOST_CHARACTERS = 8_001
_MOST_FILES = 100
_MOST_NAMED_TICKETS = 20
_AROUND_IDS = "\"'`()[]{}<>,;:.!?"


class QueryTerms(
    namedtuple("QueryTerms", ("words", "path_words", "keys", "identifiers", "areas"))  # noqa: PYI024 - as above
):
    """What is looked for."""

    __slots__ = ()
    words: "Mapping[str, float]"
    path_words: "Mapping[str, float]"
    keys: "Mapping[str, float]"
    identifiers: frozenset[str]
    areas: frozenset[str]

    def all_terms(self) -> "Mapping[str, float]":
        """Put together all terms that can make a learning a candidate."""
        return {**self.path_words, **self.words, **self.keys}


def query_terms(
    *,
    text: str = "",
    ticket_id: str = "",
    ticket_title: str = "",
    ticket_description: str = "",
    tags: "Iterable[str]" = (),
    files: "Iterable[str]" = (),
    error_signature: str = "",
) -> QueryTerms:
    """Make what is known of the work at hand into terms."""
    tags, files = list(tags), list(files)[:_MOST_FILES]
    said = " \n ".join(part[:_MOST_CHARACTERS] for part in (ticket_description, text))
    stressed = " \n ".join(part[:_MOST_CHARACTERS] for part in (ticket_title, error_signature))
    counts: dict[str, float] = {}
    for part, weight in (
        (stressed, TITLE_WEIGHT),
        (said, DESCRIPTION_WEIGHT),
        (" ".join(tags), DESCRIPTION_WEIGHT),
    ):
        for word in words(part):
            counts[word] = counts.get(word, 0.0) + weight
    keys = dict.fromkeys(file_keys(files), FILE_WEIGHT)
    keys.update(dict.fromkeys(directory_keys(files), DIRECTORY_WEIGHT))
    keys.update(dict.fromkeys(tag_keys(tags), TAG_WEIGHT))
    for named in _tickets_named_in(f"{stressed} {said}"):
        keys.update(dict.fromkeys(ticket_keys(named), NAMED_TICKET_WEIGHT))
    keys.update(dict.fromkeys(ticket_keys(ticket_id), TICKET_WEIGHT))
    return QueryTerms(
        words={word: 1 + log(count) for word, count in counts.items()},
        path_words=dict.fromkeys(words(" ".join(files)), 1.0),
        keys=keys,
        identifiers=frozenset(identifiers(f"{stressed} \n {said}")),
        areas=frozenset(area_keys(files)),
    )


def _tickets_named_in(text: str) -> list[str]:
    """Pick what looks like the id of a ticket that this work follows up: ``app-12``, ``#12``."""
    found: dict[str, None] = {}
    for word in text.split():
        name = word.strip(_AROUND_IDS)
        if ("-" in name or name.startswith("#")) and any(map(str.isdigit, name)):
            found[name] = None
            found[name.removeprefix("#")] = None
    return list(found)[:_MOST_NAMED_TICKETS]
