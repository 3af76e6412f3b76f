"""Text that commands print in the same way."""


def counted(number: int, noun: str) -> str:
    """Say a number of things, such as ``1 session`` or ``2 sessions``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
