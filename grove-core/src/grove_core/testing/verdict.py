"""How a rule is tested, and what is said where it is broken."""

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from attrs import fields

from grove_core.model.learning import Learning

P = ParamSpec("P")
T = TypeVar("T")

_LONGEST: Final = 600
_AROUND: Final = 60


class BrokenRuleError(AssertionError):
    """What a backend did is not what a rule says."""


def rule(read: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Make a test that names its rule, and where that is written down, when it fails."""

    def decorate(test: Callable[P, None]) -> Callable[P, None]:
        text = (test.__doc__ or "").strip().partition("\n")[0]

        @wraps(test)
        def tell(*args: P.args, **kwargs: P.kwargs) -> None:
            __tracebackhide__ = True
            try:
                test(*args, **kwargs)
            except BrokenRuleError as error:
                raise _named(text, str(error), read, error) from None
            except Exception as error:  # noqa: BLE001 - whatever a backend raises is told
                found = f"  expected: no error\n  found: {type(error).__name__}: {error}"
                raise _named(text, found, read, error) from error.__cause__

        return tell

    return decorate


def _named(text: str, found: str, read: str, error: Exception) -> AssertionError:
    named = AssertionError(f"{text}\n{found}\n  read: help({read})")
    # What hypothesis says about the example that it has found.
    for note in getattr(error, "__notes__", ()):
        named.add_note(note)
    return named.with_traceback(error.__traceback__)


def expect(found: object, expected: object, about: str) -> None:
    """Compare what came with what a rule says."""
    __tracebackhide__ = True
    if found == expected:
        return
    if isinstance(found, Learning) and isinstance(expected, Learning):
        names = [each.name for each in fields(Learning)]
        other = [one for one in names if getattr(found, one) != getattr(expected, one)]
        about = f"{about}, which differs in {', '.join(other)}"
        pairs = {name: _difference(getattr(found, name), getattr(expected, name)) for name in other}
        found = {name: pair[0] for name, pair in pairs.items()}
        expected = {name: pair[1] for name, pair in pairs.items()}
    lines = (f"what: {about}", f"expected: {_shown(expected)}", f"found: {_shown(found)}")
    raise BrokenRuleError("\n".join(f"  {line}" for line in lines))


def require(holds: bool, *, expected: str, found: object) -> None:  # noqa: FBT001 - the condition
    """Ask that something is so."""
    __tracebackhide__ = True
    if not holds:
        raise BrokenRuleError(f"  expected: {expected}\n  found: {_shown(found)}")


def expect_error(kind: type[Exception], call: Callable[[], object], about: str) -> None:
    """Ask for an error."""
    found = "no error"
    try:
        answer = call()
        found = f"the answer {_shown(answer)}"
    except kind:
        return
    except Exception as error:  # noqa: BLE001 - any other error is what is reported
        found = f"{type(error).__name__}: {error}"
    raise BrokenRuleError(f"  what: {about}\n  expected: {kind.__name__}\n  found: {found}")


def _difference(found: object, expected: object) -> tuple[object, object]:
    """Cut two texts down to where they begin to differ."""
    if not (isinstance(found, str) and isinstance(expected, str)):
        return found, expected
    pairs = enumerate(zip(found, expected, strict=False))
    shorter = min(len(found), len(expected))
    same = next((place for place, (one, other) in pairs if one != other), shorter)
    start = max(0, same - _AROUND)
    before = "…" if start else ""
    end = same + _AROUND
    return f"{before}{found[start:end]}", f"{before}{expected[start:end]}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
