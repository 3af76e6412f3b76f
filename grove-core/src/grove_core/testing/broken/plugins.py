"""Plugins with one fault each, as what an entry point names."""

from collections.abc import Generator, Sequence
from typing import Any, Final

from attrs import frozen

from grove_core.model.learning import Candidate, Learning, Rejection
from grove_core.model.memory import Health, Query
from grove_core.plugins.descriptors import (
    BackendContext,
    BackendSpec,
    CommandReader,
    CommandSpec,
    EngineSpec,
    HealthCheck,
    ProjectContext,
    ReflectionContext,
)
from grove_core.plugins.markers import GROVE_API, hookimpl
from grove_core.testing.memory_backend import InMemoryBackend

HERE: Final = "grove_core.testing.broken.plugins"
IMPORTING: Final = "grove_core.testing.broken.importing"
SOUND: Final = f"{IMPORTING}.sound"


class _Plugin:
    grove_api: Any = 1

    @hookimpl
    def grove_query_terms(self, project: ProjectContext) -> Any:  # noqa: ANN401 - anything
        """Add no words."""
        del project
        return []


class _FromTheFuture(_Plugin):
    """Was written for an interface that is still to come."""

    grove_api = GROVE_API + 1


class _FromNowhere(_Plugin):
    """Does not say what it was written for."""

    grove_api = None


class _Misspelt(_Plugin):
    """Implements a hook that there is not."""

    @hookimpl
    def grove_qery_terms(self) -> None:
        """Never called."""


class _Unmarked(_Plugin):
    """Forgets to mark a hook."""

    def grove_learning_written(self) -> None:
        """Never called."""


class _WantsMore(_Plugin):
    """Asks for an argument that its hook does not have."""

    @hookimpl
    def grove_check_candidate(self, candidate: Candidate, weather: str) -> None:
        """Refused."""


class _Wraps(_Plugin):
    """Wraps what other plugins answer."""

    @hookimpl(wrapper=True)
    def grove_check_candidate(self) -> Generator[None, None, None]:
        """Refused."""
        yield


class _SaysNoInWords(_Plugin):
    """Objects with a text instead of a Rejection."""

    @hookimpl
    def grove_check_candidate(self, candidate: Candidate) -> Any:  # noqa: ANN401
        """Object."""
        return f"{candidate.summary} is bad"


class _ObjectsWithoutReason(_Plugin):
    """Objects and does not say why."""

    @hookimpl
    def grove_check_candidate(self, candidate: Candidate, context: ReflectionContext) -> Rejection:
        """Object."""
        del candidate, context
        return Rejection(reason=" ")


class _OneBackendAlone(_Plugin):
    """Gives a descriptor where a list belongs."""

    @hookimpl
    def grove_memory_backends(self) -> Any:  # noqa: ANN401
        """Offer a backend."""
        return BackendSpec(name="one", detect=lambda _: None, open=lambda _: InMemoryBackend())


class _CommandFromNowhere(_Plugin):
    """Offers a command whose module is not there."""

    @hookimpl
    def grove_commands(self) -> list[CommandSpec]:
        """Offer a command."""
        return [CommandSpec(name="gone", target="grove_gone:command", help="Is gone.")]


@frozen
class _Settings:
    address: str


class _NeedsAKey(_Plugin):
    """Cannot be used before somebody has configured it."""

    @hookimpl
    def grove_memory_backends(self) -> list[BackendSpec]:
        """Offer a backend."""
        return [
            BackendSpec(
                name="needy",
                detect=lambda _: None,
                open=lambda _: InMemoryBackend("needy"),
                settings=_Settings,
            )
        ]


class _Raises(_Plugin):
    """Raises when it is asked for words."""

    @hookimpl
    def grove_query_terms(self, project: ProjectContext) -> Any:  # noqa: ANN401
        """Fail."""
        raise RuntimeError(str(project.root))


class _LeavesAMark(_Plugin):
    """Writes a file when it is asked whether its backend can be used."""

    @hookimpl
    def grove_memory_backends(self) -> list[BackendSpec]:
        """Offer a backend."""

        def detect(context: BackendContext) -> None:
            (context.root / "seen").touch()

        return [BackendSpec(name="seen", detect=detect, open=lambda _: InMemoryBackend("seen"))]


class _ReadsPlainTextOnly(_Plugin):
    """Takes it that every shell is given text."""

    @hookimpl
    def grove_command_readers(self) -> list[CommandReader]:
        """Offer a reader."""
        return [CommandReader(tools=("Bash",), read=lambda call: [call.input["command"].split()])]


class _ScoresTheBest(_Plugin):
    """Leaves out of its answer what does not fit."""

    @hookimpl
    def grove_retrieval_engines(self) -> list[EngineSpec]:
        """Offer an engine."""

        def score(query: Query, learnings: Sequence[Learning]) -> list[tuple[float, tuple[()]]]:
            return [(1.0, ()) for one in learnings if query.text in one.detail]

        return [EngineSpec(name="best", score=score, floor=0.5)]


class _IsWell(_Plugin):
    """Says nothing of how it is."""

    @hookimpl
    def grove_health_checks(self) -> list[HealthCheck]:
        """Offer a check."""
        return [HealthCheck(name="well", run=lambda _: Health(ok=True, detail=""))]


class _ChangesItsMind(_Plugin):
    """Offers another command each time."""

    def __init__(self) -> None:
        self._times = 0

    @hookimpl
    def grove_commands(self) -> list[CommandSpec]:
        """Offer a command."""
        self._times += 1
        return [CommandSpec(name=f"c{self._times}", target="grove_gone:command", help="Is gone.")]


from_the_future = _FromTheFuture()
from_nowhere = _FromNowhere()
misspelt = _Misspelt()
unmarked = _Unmarked()
wants_more = _WantsMore()
wraps = _Wraps()
says_no_in_words = _SaysNoInWords()
objects_without_reason = _ObjectsWithoutReason()
one_backend_alone = _OneBackendAlone()
command_from_nowhere = _CommandFromNowhere()
needs_a_key = _NeedsAKey()
raises = _Raises()
leaves_a_mark = _LeavesAMark()
reads_plain_text_only = _ReadsPlainTextOnly()
scores_the_best = _ScoresTheBest()
is_well = _IsWell()
changes_its_mind = _ChangesItsMind()

BROKEN_PLUGINS: Final = {
    f"{IMPORTING}.heavy": "test_importing_is_cheap_and_quiet",
    f"{IMPORTING}.talkative": "test_importing_is_cheap_and_quiet",
    f"{IMPORTING}.curious": "test_importing_is_cheap_and_quiet",
    f"{HERE}:from_the_future": "test_api_is_said_and_spoken",
    f"{HERE}:from_nowhere": "test_api_is_said_and_spoken",
    f"{HERE}:misspelt": "test_it_registers_without_a_problem",
    f"{HERE}:unmarked": "test_it_registers_without_a_problem",
    f"{HERE}:wants_more": "test_it_registers_without_a_problem",
    f"{HERE}:wraps": "test_it_registers_without_a_problem",
    f"{HERE}:says_no_in_words": "test_hooks_of_a_sessions_life_take_what_comes",
    f"{HERE}:objects_without_reason": "test_hooks_of_a_sessions_life_take_what_comes",
    f"{HERE}:raises": "test_hooks_of_a_sessions_life_take_what_comes",
    f"{HERE}:one_backend_alone": "test_offers_are_sound",
    f"{HERE}:changes_its_mind": "test_offers_are_sound",
    f"{HERE}:leaves_a_mark": "test_looking_for_backends_touches_nothing",
    f"{HERE}:reads_plain_text_only": "test_readers_read_any_shell_text",
    f"{HERE}:scores_the_best": "test_engines_score_every_learning",
    f"{HERE}:is_well": "test_health_checks_tell_how_it_stands",
    f"{HERE}:command_from_nowhere": "test_commands_have_help",
    f"{HERE}:needs_a_key": "test_settings_have_defaults",
}
"""The target of each, and the test that catches it."""
