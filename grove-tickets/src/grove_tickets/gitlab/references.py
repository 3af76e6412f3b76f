"""How issues and merge requests are written."""


def reference(project: str, number: str, *, is_issue: bool) -> str:
    """Write the id of an issue or a merge request.

    Args:
        project: ``group/name``; empty for the one at hand.
        number: Its number.
        is_issue: Whether it is an issue.

    Returns:
        ``#12`` or ``!12``, the project before it.
    """
    return f"{project}{'#' if is_issue else '!'}{number}"
