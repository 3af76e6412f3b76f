"""Whether a configured value fits its key, and what to say when it does not."""

from types import NoneType
from typing import Any, Final, get_args, get_origin

from grove_core.codec import reader_of, shown
from grove_core.config.schema import Setting
from grove_core.text import escape_invisible

_NEAR_ENOUGH: Final = 0.6
_TRUTH: Final = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


class ValueProblem(Exception):  # noqa: N818 - what is wrong, in words; caught in this package
    """A value does not fit; the message goes on where the key's name ends."""


def check_value(value: object, annotation: Any, about: Setting | None = None) -> Any:  # noqa: ANN401
    """Check a value as it was read from TOML."""
    if value == "" and NoneType in get_args(annotation):
        # TOML has no null; this is how a project takes back what the user's file says.
        return None
    try:
        checked = reader_of(annotation)(value)
        if about and isinstance(checked, int | float):
            _check_range(checked, about)
        if about and about.check is not None:
            about.check(checked)
    except ValueError as error:
        keys = getattr(error, "keys", ())
        # People count from one.
        names = [f"number {key + 1}" if type(key) is int else key for key in keys]
        start = "".join(f"holds a wrong value: {name} " for name in names)
        raise ValueProblem(escape_invisible(f"{start}{error}")) from error
    return checked


def _check_range(value: float, about: Setting) -> None:
    least, most = about.minimum, about.maximum
    if (least is None or value >= least) and (most is None or value <= most):
        return
    bounds = f"at least {least}" if most is None else f"from {least} to {most}"
    raise ValueError(f"must be {bounds}, not {shown(value)}")


def parse_variable(text: str, annotation: Any) -> object:  # noqa: ANN401 - any type
    """Read an environment variable the way a TOML file would have said it."""
    if annotation is bool:
        return _TRUTH.get(text.strip().lower(), text)
    if annotation in (int, float):
        try:
            return annotation(text)
        except ValueError:
            return text
    if get_args(annotation)[:1] == (str,) and get_origin(annotation) is tuple:
        return [item.strip() for item in text.split(",") if item.strip()]
    return text


def unknown_key(key: str, known: "list[str]") -> str:
    """Say that a key is not known, and which one may have been meant."""
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1, cutoff=_NEAR_ENOUGH)
    return f"is not known; did you mean {near[0]}?" if near else "is not known"
