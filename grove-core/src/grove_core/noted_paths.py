"""The paths that learnings name as a few bits, which a hook can look into without any import.

Whether a touched file is one that a learning names has to be answered hundreds of times in a
session, nearly always with no, at the cost of a few system calls, in a project of 30,000 such paths
as well. So the paths of a project are kept as a Bloom filter (B. H. Bloom, 1970): a path that was
put in is always found, and of those that were not about one in four thousand; whoever finds one
asks the index. ``hooks/fast.py`` looks into it; the two share a format and no code.

The format: 16 bytes that say of which state of the index this was made, then the bits.
"""

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MARK_BYTES = 16
PROBES = 3
# The first 38 digits of pi are a prime.
PRIME = 31415926535897932384626433832795028841
_BYTES_A_PATH = 6
_LEAST_BYTES = 8


def noted_path(path: str) -> str:
    """Write a path that a learning names as it is put in and looked for.

    Args:
        path: The path: of a file or a directory, perhaps with a slash at its end.

    Returns:
        Its parts with a slash between, or nothing for one that names no file in particular.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return "" if ".." in parts else "/".join(parts)


def lookup_of(paths: "Iterable[str]", mark: bytes) -> bytes:
    """Make the file that hooks look into.

    Args:
        paths: The paths that learnings name.
        mark: Says of which state of the index they are, in 16 bytes.

    Returns:
        The file's content: the mark alone when there are none.
    """
    names = {name for name in map(noted_path, paths) if name}
    if not names:
        return mark
    content = bytearray(max(_LEAST_BYTES, len(names) * _BYTES_A_PATH))
    bits = 8 * len(content)
    for name in names:
        # The third power, since without it names that are much alike have places in common.
        value = pow(int.from_bytes(name.encode("utf-8", "surrogatepass"), "big"), 3, PRIME)
        for _ in range(PROBES):
            value, place = divmod(value, bits)
            content[place >> 3] |= 1 << (place & 7)
    return mark + bytes(content)
