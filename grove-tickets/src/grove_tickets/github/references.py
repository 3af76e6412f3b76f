"""How issues and pull requests are written."""


def reference(repository: str, number: str, *, is_issue: bool) -> str:
    """Write the id of an issue or a pull request.

    Args:
        repository: ``owner/name``; empty for the one at hand.
        number: Its number.
        is_issue: Whether it is an issue.

    Returns:
        ``#12``, ``owner/name#12`` for either, ``pr#12``.
    """
    return f"{repository or ('' if is_issue else 'pr')}#{number}"
