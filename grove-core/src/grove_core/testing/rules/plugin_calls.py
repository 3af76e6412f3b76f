"""How a plugin takes what it is asked and told."""

import os
from collections.abc import Sequence
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeGuard

import pytest

from grove_core.config.plugin_section import validate_plugin_section
from grove_core.model.gate import Gate, GateStatus
from grove_core.model.memory import Detection, Health, Query, Receipt, ReceiptStatus
from grove_core.model.session import Session
from grove_core.model.statistics import Statistics
from grove_core.model.ticket import Ticket, ToolCall
from grove_core.plugins.descriptors import (
    BackendContext,
    BackendSpec,
    ProjectContext,
    ReflectionContext,
)
from grove_core.plugins.engines import find_engine
from grove_core.testing.calls import HOSTILE_INPUTS, HOSTILE_TEXTS, shell_call
from grove_core.testing.rules.plugin_offers import OfferingRules
from grove_core.testing.rules.ticket_offers import Untouched
from grove_core.testing.samples import FIRST_INSTANT, example_candidate, example_learning
from grove_core.testing.skipping import NotDeclared
from grove_core.testing.verdict import expect, require, rule

_QUERIES: Final = (
    Query(),
    Query(text="kerosene migrations", tags=("telescope",), files=("workers/heartbeat.py",)),
    Query(text="\0 \u202e" + "x" * 5_000),
)
_HEALTH_SECONDS: Final = 30.0
_OWN_DISTRIBUTION: Final = "grove-core"
"""Whose engine is always there."""


class CallingRules(OfferingRules):
    """Calls of hooks, and of what has no contract of its own."""

    @rule("grove_core")
    def test_hooks_of_a_sessions_life_take_what_comes(self, tmp_path: Path) -> None:
        """Each of them takes ordinary values, answers in time what it may, and changes nothing."""
        plugins, problems = self.loaded()
        context = ProjectContext(root=tmp_path, cwd=tmp_path, session_id="session-1")
        session = Session(
            id="session-1",
            host="claude-code",
            cwd=str(tmp_path),
            project_root=str(tmp_path),
            created_at=FIRST_INSTANT,
            updated_at=FIRST_INSTANT + timedelta(minutes=1),
        )
        learning, candidate = example_learning(), example_candidate()
        ticket = Ticket(ticket_id="T-1", source="tracker", title="Slow", labels=("orders",))
        receipt = Receipt(learning_id=learning.id, status=ReceiptStatus.STORED, backend="memory")
        reflection = ReflectionContext(
            root=tmp_path, session_id="session-1", ticket=ticket, now=FIRST_INSTANT
        )
        values = (session, learning, candidate, ticket, receipt)
        before = deepcopy(values)
        for known in (None, ticket):
            plugins.query_terms(context, known)
        plugins.check_candidate(candidate, reflection)
        plugins.insights(Statistics(now=FIRST_INSTANT))
        plugins.learning_written(learning, receipt)
        plugins.gate_changed(session, Gate(), Gate(status=GateStatus.PENDING), "ticket_closed")
        expect([*map(str, problems)], [], "what grove complains about")
        expect(values, before, "the values afterwards")

    @rule("grove_core.BackendSpec")
    def test_looking_for_backends_touches_nothing(self, tmp_path: Path) -> None:
        """In an empty project, detect and trust of a backend answer, and change and ask nothing."""
        plugins, _ = self.loaded()
        specs = [one.value for one in plugins.memory_backends()]
        if not specs:
            pytest.skip(NotDeclared(f"{self.plugin} has no backends"))
        project = tmp_path / "empty project"
        project.mkdir()
        for spec in specs:
            context = _context_of(spec, project)
            with Untouched(project, f"detect of {spec.name}"):
                found: object = spec.detect(context)
            is_answer = found is None or isinstance(found, Detection)
            require(is_answer, expected="a Detection or None", found=found)
            if spec.trust is not None:
                with Untouched(project, f"trust of {spec.name}"):
                    spec.trust(context)

    @rule("grove_core.CommandReader")
    def test_readers_read_any_shell_text(self) -> None:
        """Of whatever a shell is given, a reader makes lists of words, and of None."""
        plugins, _ = self.loaded()
        readers = [one.value for one in plugins.command_readers()]
        if not readers:
            pytest.skip(NotDeclared(f"{self.plugin} has no readers of commands"))
        calls = [shell_call(text) for text in HOSTILE_TEXTS.values()]
        calls += [ToolCall(name="Bash", input=given) for given in HOSTILE_INPUTS.values()]
        for reader in readers:
            for call in calls:
                found: object = reader.read(call)
                what = f"lists of words for {str(call.input)[:200]}"
                require(_are_commands(found), expected=what, found=found)

    @rule("grove_core.EngineSpec")
    def test_engines_score_every_learning(self) -> None:
        """An engine gives each learning, in their order, a number from 0 to 1 and its reasons."""
        plugins, problems = self.loaded()
        offered = plugins.retrieval_engines()
        names = [one.value.name for one in offered if one.source.distribution != _OWN_DISTRIBUTION]
        if not names:
            pytest.skip(NotDeclared(f"{self.plugin} has no engines"))
        learnings = [example_learning(number) for number in range(5)]
        before = deepcopy(learnings)
        for name in names:
            engine = find_engine(plugins, name)
            expect(engine is not None, expected=True, about=f"whether {name} can be chosen")
            for query in _QUERIES:
                for some in ([], learnings):
                    scores = engine.score(query, some) if engine else ()
                    expect(len(scores), len(some), f"how many answers {name} gives")
        expect([*map(str, problems)], [], "what grove complains about")
        expect(learnings, before, "the learnings afterwards")

    @rule("grove_core.HealthCheck")
    def test_health_checks_tell_how_it_stands(self, tmp_path: Path) -> None:
        """Every health check answers with a Health in words, in an empty project as well."""
        plugins, problems = self.loaded()
        checks = plugins.health_checks()
        if not checks:
            pytest.skip(NotDeclared(f"{self.plugin} has no health checks"))
        context = ProjectContext(root=tmp_path, cwd=tmp_path)
        for check in checks:
            run = check.value.run
            found: object = plugins.call(check, run, context, seconds=_HEALTH_SECONDS, default=None)
            expect([*map(str, problems)], [], "what grove complains about")
            require(
                isinstance(found, Health) and bool(found.detail),
                expected=f"a Health with a detail from {check.value.name}",
                found=found,
            )


def _context_of(spec: BackendSpec, project: Path) -> BackendContext:
    settings = None
    if spec.settings is not None:
        settings, _ = validate_plugin_section({}, spec.settings)
    environment = {"HOME": os.fspath(project.parent), "PATH": os.defpath}
    return BackendContext(
        root=project,
        home=project.parent / ".grove",
        environment=environment,
        settings=settings,
    )


def _are_commands(found: object) -> bool:
    return _is_list(found) and all(
        _is_list(words) and all(word is None or isinstance(word, str) for word in words)
        for words in found
    )


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)
