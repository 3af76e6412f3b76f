"""What ``grove eval noise`` has found, for programs and for people."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from grove_core.cli.eval_tables import (
    QUERIES,
    in_words,
    marked,
    print_lines,
    print_table,
    share_document,
)
from grove_core.evaluation.noise import PairNoise, together
from grove_core.evaluation.summary import Injection
from grove_core.model.statistics import Share
from grove_core.report.text import counted

if TYPE_CHECKING:
    from rich.console import Console

_MOST_PAIRS: Final = 10


@frozen(kw_only=True)
class EngineNoise:
    """What an engine injects of other projects."""

    name: str
    pairs: Sequence[PairNoise]
    own: Injection | None
    failed: Share


@frozen(kw_only=True)
class NoiseReport:
    """What ``grove eval noise`` has found."""

    collection: str
    queries: int
    projects: Sequence[str]
    engines: Sequence[EngineNoise]

    @property
    def failed(self) -> Mapping[str, Share]:
        """By engine, the queries that it has not answered, of those it was asked."""
        return {one.name: one.failed for one in self.engines}

    def document(self) -> dict[str, Any]:
        """Say it for ``--json``."""
        return {
            "collection": self.collection,
            "queries": self.queries,
            "projects": list(self.projects),
            "engines": {
                one.name: {
                    **share_document(together(one.pairs)),
                    "failed": one.failed.count,
                    "pairs": [
                        {
                            "queries_of": pair.queries_of,
                            "learnings_of": pair.learnings_of,
                            **share_document(pair.injected),
                        }
                        for pair in one.pairs
                    ],
                    "own_project": None if one.own is None else share_document(one.own.answered),
                }
                for one in self.engines
            },
        }

    def print(self, console: "Console") -> None:
        """Say it to people."""
        projects = counted(len(self.projects), "project")
        asked = counted(self.queries, *QUERIES)
        print_lines(console, [f"{self.collection}: {asked} against {projects}, not their own"])
        judged = any(one.own is not None for one in self.engines)
        print_table(
            console,
            ("", "injects something [95 %]", *(["of the own project"] if judged else [])),
            [
                (
                    marked(one.name, one.failed),
                    in_words(together(one.pairs)),
                    *([in_words(one.own.answered)] if one.own is not None else []),
                )
                for one in self.engines
            ],
        )
        for one in self.engines:
            self._print_pairs(one, console)

    @staticmethod
    def _print_pairs(engine: EngineNoise, console: "Console") -> None:
        """Show where the noise is, the worst pairs first."""
        loud = [one for one in engine.pairs if one.injected.count]
        loud.sort(key=lambda one: -(one.injected.rate or 0.0))
        if not loud:
            return
        print_table(
            console,
            (f"{engine.name}: queries of", "learnings of", "injects something [95 %]"),
            [
                (one.queries_of, one.learnings_of, in_words(one.injected))
                for one in loud[:_MOST_PAIRS]
            ],
        )
        if len(loud) > _MOST_PAIRS:
            print_lines(console, [f"… and {len(loud) - _MOST_PAIRS} more: --json"])
