"""What happens where nothing can be stored."""

from functools import partial

from grove_core.errors import BackendError
from grove_core.model.memory import Health
from grove_core.testing.rules.reading_back import Opener
from grove_core.testing.samples import example_learning
from grove_core.testing.verdict import expect, expect_error, require, rule


class FailingRules:
    """What a backend says whose storage cannot be written."""

    @rule("grove_core.MemoryBackend.write")
    def test_failed_write_is_an_error(self, broken_backend: Opener) -> None:
        """What cannot be stored is a BackendError each time, and never a receipt."""
        backend = broken_backend()
        for occasion in ("the first time", "the second time"):
            expect_error(
                BackendError,
                partial(backend.write, example_learning()),
                f"write, where nothing can be written, {occasion}",
            )

    @rule("grove_core.MemoryBackend.ping")
    def test_ping_tells_what_is_broken(self, broken_backend: Opener) -> None:
        """A backend that cannot write says so when it is asked how it is, before anybody writes."""
        health: object = broken_backend().ping()
        expect(type(health), Health, "the kind of the answer")
        assert isinstance(health, Health)
        require(
            not health.ok and bool(health.detail),
            expected="ok=False, and in detail what is wrong",
            found=health,
        )
