"""How issues and merge requests are written."""


def reference(project: str, number: str, *, is_issue: bool) -> str:
    """Write the id of an issue or a merge request."""
    return f"{project}{'#' if is_issue else '!'}{number}"
