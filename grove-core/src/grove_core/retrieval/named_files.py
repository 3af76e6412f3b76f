"""The files that a text names."""

_PUNCTUATION = "\"'`()[]{}<>,;:!?*"
_LONGEST_SUFFIX = 8
_MOST = 50
_LONGEST_END = 4_000


def asked_in(prompt: str) -> str:
    """Take of a prompt what is searched for: all of it, or the ends of a very long one."""
    if len(prompt) <= 2 * _LONGEST_END:
        return prompt
    return f"{prompt[:_LONGEST_END]}\n{prompt[-_LONGEST_END:]}"


def files_named_in(text: str) -> tuple[str, ...]:
    """Pick what looks like a file's path or name."""
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
    # Learnings name files as the project sees them; `path=/api/v1` stands in logs.
    if path.startswith("/") or "=" in path:
        return False
    directory, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    if dot and stem and suffix.isalnum() and not suffix.isdigit():
        return len(suffix) <= _LONGEST_SUFFIX
    # Words with a stroke between, such as "and/or", are no path; two strokes mostly make one.
    return bool(name) and directory.count("/") >= 1 and not directory.startswith("//")
