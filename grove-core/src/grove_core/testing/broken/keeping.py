"""Memory backends that do not keep everything of a learning."""

# ruff: noqa: D102 - each class says what is wrong with its methods

from unicodedata import normalize

from attrs import evolve

from grove_core.model.learning import Learning, Scope
from grove_core.model.memory import (
    Receipt,
)
from grove_core.testing.memory_backend import InMemoryBackend


class LosesDetailLines(InMemoryBackend):
    """Drops blank lines of a detail."""

    def write(self, learning: Learning) -> Receipt:
        lines = (line for line in learning.detail.split("\n") if line)
        return super().write(evolve(learning, detail="\n".join(lines)))


class StripsBlanks(InMemoryBackend):
    """Strips the lines of a detail, as many a format does that is read by people."""

    def write(self, learning: Learning) -> Receipt:
        lines = (line.strip() for line in learning.detail.split("\n"))
        return super().write(evolve(learning, detail="\n".join(lines)))


class CutsTexts(InMemoryBackend):
    """Keeps no more of a detail than its column takes."""

    def write(self, learning: Learning) -> Receipt:
        return super().write(evolve(learning, detail=learning.detail[:1000]))


class KeepsAsciiOnly(InMemoryBackend):
    """Replaces what is not ASCII."""

    def write(self, learning: Learning) -> Receipt:
        detail = learning.detail.encode("ascii", "replace").decode()
        return super().write(evolve(learning, detail=detail))


class DropsScope(InMemoryBackend):
    """Takes every learning for one of the project."""

    def write(self, learning: Learning) -> Receipt:
        return super().write(evolve(learning, scope=Scope.PROJECT))


class ForgetsSupersedes(InMemoryBackend):
    """Has no place for the ids of corrected learnings."""

    def write(self, learning: Learning) -> Receipt:
        return super().write(evolve(learning, supersedes=()))


class SplitsFilesAtCommas(InMemoryBackend):
    """Keeps paths in one text, between commas."""

    def write(self, learning: Learning) -> Receipt:
        joined = ", ".join(learning.context_files)
        return super().write(
            evolve(learning, context_files=tuple(filter(None, joined.split(", "))))
        )


class NormalisesLetters(InMemoryBackend):
    """Composes letters and their marks."""

    def write(self, learning: Learning) -> Receipt:
        return super().write(evolve(learning, detail=normalize("NFC", learning.detail)))


class ReadsMarkupInSummaries(InMemoryBackend):
    """Takes the beginning of a summary for that of a heading or a list."""

    def write(self, learning: Learning) -> Receipt:
        return super().write(evolve(learning, summary=learning.summary.lstrip("#-*> ")))


class LowersSessions(InMemoryBackend):
    """Keeps a session's id in small letters, where nobody looks."""

    def write(self, learning: Learning) -> Receipt:
        return super().write(evolve(learning, session_id=learning.session_id.lower()))
