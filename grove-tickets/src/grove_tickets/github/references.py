"""How issues and pull requests are written."""


def reference(repository: str, number: str, *, is_issue: bool) -> str:
    """Write the id of an issue or a pull request."""
    return f"{repository or ('' if is_issue else 'pr')}#{number}"
