"""A learning as the index keeps it: the terms of its fields."""

from collections import namedtuple

from grove_core.retrieval.terms import key, words

# typing.TYPE_CHECKING, without the import: typing takes longer than all of a query's work here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class IndexedText(
    namedtuple("IndexedText", ("summary", "tags", "detail", "paths", "keys"))  # noqa: PYI024 - as above
):
    """The terms of a learning's fields, joined by blanks."""

    __slots__ = ()
    summary: str
    tags: str
    detail: str
    paths: str
    keys: str


def indexed_text(
    *,
    summary: str,
    detail: str,
    category: str,
    tags: "Sequence[str]",
    files: "Sequence[str]",
    ticket_id: str,
) -> IndexedText:
    """Make a learning into terms."""
    keys = [*tag_keys(tags), *file_keys(files), *directory_keys(files), *area_keys(files)]
    return IndexedText(
        summary=" ".join(words(summary)),
        tags=" ".join(words(" ".join((*tags, category)))),
        detail=" ".join(words(detail)),
        paths=" ".join(words(" ".join(files))),
        keys=" ".join(dict.fromkeys([*keys, *ticket_keys(ticket_id)])),
    )


def tag_keys(tags: "Iterable[str]") -> list[str]:
    """Name tags as wholes."""
    return [key("tag", tag.strip().lower()) for tag in tags]


def ticket_keys(ticket_id: str) -> list[str]:
    """Name a ticket as a whole."""
    return [key("ticket", ticket_id.strip().lower())] if ticket_id.strip() else []


def file_keys(files: "Iterable[str]") -> list[str]:
    """Name files as wholes."""
    return [key("file", "/".join(parts)) for parts in map(_parts, files) if parts]


def directory_keys(files: "Iterable[str]") -> list[str]:
    """Name the directories that files lie in."""
    directories = dict.fromkeys("/".join(parts[:-1]) for parts in map(_parts, files) if parts[1:])
    return [key("directory", directory) for directory in directories]


def area_keys(files: "Iterable[str]") -> list[str]:
    """Name the parts of a project that files lie in."""
    areas: dict[str, None] = {}
    for parts in map(_parts, files):
        if not any(part.startswith(".") for part in parts[:-1]):
            areas.update(dict.fromkeys("/".join(parts[:end]) for end in range(2, len(parts))))
    return [key("area", area) for area in areas]


def _parts(file: str) -> list[str]:
    return [part for part in file.replace("\\", "/").split("/") if part not in {"", "."}]
