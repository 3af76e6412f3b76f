"""What a backend is and says that it can do."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from grove_core.errors import UnsupportedError
from grove_core.model.learning import LearningStatus
from grove_core.model.memory import Capability, Filters, Health, Query
from grove_core.plugins.descriptors import MemoryBackend
from grove_core.testing.rules.reading_back import Opener
from grove_core.testing.samples import UNKNOWN_ID, example_learning
from grove_core.testing.skipping import NotDeclared
from grove_core.testing.verdict import expect, expect_error, require, rule
from grove_core.testing.watching import Watching

_CALLS: Final[dict[Capability, tuple[str, Callable[[Any], object]]]] = {
    Capability.GET: ("get", lambda get: get(UNKNOWN_ID)),
    Capability.ITERATE: ("iterate", lambda iterate: list(iterate())),
    Capability.SET_STATUS: ("set_status", lambda change: change(UNKNOWN_ID, LearningStatus.ACTIVE)),
    Capability.FILES: ("files", lambda files: files()),
    Capability.CHANGES: ("changes", lambda changes: changes("")),
    Capability.WITHDRAW: ("withdraw", lambda withdraw: withdraw(example_learning())),
    Capability.SYNCHRONISE: ("synchronise", lambda synchronise: synchronise(1.0, asked=False)),
}
"""By what a backend may be able to do, the method for it and a call of that."""


class IdentityRules:
    """Name, capabilities, health."""

    @rule("grove_core.MemoryBackend.name")
    def test_name_is_text(self, open_backend: Opener) -> None:
        """A backend's name is text, the same for each instance."""
        name: object = open_backend().name
        expect((type(name), bool(name)), (str, True), f"the kind of the name {name!r}")
        expect(open_backend().name, name, "the name of a second instance")

    @rule("grove_core.MemoryBackend.capabilities")
    def test_capabilities_are_a_frozenset(self, open_backend: Opener) -> None:
        """A backend says what it can do by a frozenset of Capability."""
        capabilities: object = open_backend().capabilities
        expect(type(capabilities), frozenset, f"the kind of the capabilities {capabilities!r}")
        others = [one for one in open_backend().capabilities if not isinstance(one, Capability)]
        expect(others, [], "what is no Capability among them")
        expect(open_backend().capabilities, capabilities, "those of a second instance")

    @pytest.mark.parametrize("capability", [*_CALLS], ids=lambda one: one.value)
    @rule("grove_core.UnsupportedError")
    def test_capability_is_true(self, open_backend: Opener, capability: Capability) -> None:
        """What a backend can do has its method; what it does not say raises UnsupportedError."""
        backend = open_backend()
        name, call = _CALLS[capability]
        method: object = getattr(backend, name, None)
        if capability in backend.capabilities:
            require(callable(method), expected=f"a method {name}", found=method)
        elif method is not None:
            expect_error(UnsupportedError, lambda: call(method), f"{name}, which is not declared")

    @rule("grove_core.Capability.SLOW")
    def test_only_slow_ones_ask_others(self, open_backend: Opener) -> None:
        """A backend that is not declared slow starts no program and makes no connection."""
        if Capability.SLOW in open_backend().capabilities:
            name = open_backend().name
            pytest.skip(NotDeclared(f"the backend {name} has no such duty: it declares slow"))
        calls: dict[str, Callable[[MemoryBackend], object]] = {
            "write": lambda backend: backend.write(example_learning()),
            "search": lambda backend: backend.search(Query(text="kerosene migrations"), Filters()),
            "ping": lambda backend: backend.ping(),
        }
        for name, call in calls.items():
            backend = open_backend()
            with Watching() as watching:
                call(backend)
            expect(watching.heard, [], f"what {name} has started or connected to")

    @rule("grove_core.MemoryBackend.ping")
    def test_ping_tells_how_it_is(self, open_backend: Opener) -> None:
        """A backend that works says so, with a few words, before and after the first write."""
        for occasion in ("before the first write", "after it"):
            health: object = open_backend().ping()
            expect(type(health), Health, f"the kind of the answer {occasion}")
            assert isinstance(health, Health)
            expect((health.ok, bool(health.detail)), (True, True), f"{health!r} {occasion}")
            open_backend().write(example_learning())
