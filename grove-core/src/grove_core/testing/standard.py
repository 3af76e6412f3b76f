"""What all contracts have in common: their tests can be neither replaced nor removed."""

from typing import Any, ClassVar

from grove_core.testing.verdict import expect, rule


class StandardTests:
    """Tests that a plugin's author subclasses; the class of a contract says ``standard=True``."""

    _standard: ClassVar[dict[str, object]] = {}
    _contract: ClassVar[str] = ""

    def __init_subclass__(cls, *, standard: bool = False, **kwargs: Any) -> None:  # noqa: ANN401
        """Refuse a class that leaves out a test."""
        super().__init_subclass__(**kwargs)
        if standard:
            cls._standard = {name: getattr(cls, name) for name in standard_tests(cls)}
            cls._contract = cls.__name__
            return
        if cls.__dict__.get("__test__") is False:
            raise TypeError(f"{cls.__name__} says __test__ = False: none of its tests would be run")
        if changed := cls._changed():
            raise TypeError(
                f"{cls.__name__} replaces {', '.join(changed)} of {cls._contract}. What the "
                "plugin cannot do is not declared; own tests get other names."
            )

    @classmethod
    def _changed(cls) -> list[str]:
        return [
            name for name, test in cls._standard.items() if getattr(cls, name, None) is not test
        ]

    @rule("grove_core.testing")
    def test_no_rule_is_left_out(self) -> None:
        """Every test of the contract is run."""
        expect(self._changed(), [], "the tests that were replaced or removed")
        collected = getattr(type(self), "__test__", True)
        expect(collected, expected=True, about="whether pytest collects them")


def standard_tests(contract: type) -> tuple[str, ...]:
    """Name the tests of a contract."""
    return tuple(name for name in dir(contract) if name.startswith("test_"))
