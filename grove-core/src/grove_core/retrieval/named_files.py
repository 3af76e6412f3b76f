"""The files that a text names."""

_PUNCTUATION = "\"'`()[]{}<>,;:!?*"
_LONGEST_SUFFIX = 8
_MOST = 50


def files_named_in(text: str) -> tuple[str, ...]:
    """Pick what looks like a file's path or name.

    Args:
        text: Any text, such as a prompt.

    Returns:
        Paths as they are written, each once: ``src/login.py``, ``login.py``, ``docs/guide/setup``.
    """
    found: dict[str, None] = {}
    for word in text.split():
        path = word.strip(_PUNCTUATION).rstrip(".").removeprefix("@").removeprefix("./")
        # A line number may follow, as compilers write it.
        path = path.partition(":")[0] if "://" not in path else ""
        if _is_path(path):
            found[path] = None
            if len(found) == _MOST:
                break
    return tuple(found)


def _is_path(path: str) -> bool:
    directory, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    if dot and stem and suffix.isalnum() and not suffix.isdigit():
        return len(suffix) <= _LONGEST_SUFFIX
    # Words with a stroke between, such as "and/or", are no path; two strokes mostly make one.
    return bool(name) and directory.count("/") >= 1 and not directory.startswith("//")
