"""Every configuration key: its type, default, bounds and meaning, and what values fit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, Final, get_args, get_origin

from grove_core.codec import reader_of, shown
from grove_core.model.gate import AutoSkipDecider, GatePolicy
from grove_core.retrieval import RetrievalEngine, RetrievalStrategy
from grove_core.text import escape_invisible

_LONGEST_DAYS: Final = 36_500
_LONGEST_SECONDS: Final = 31_536_000
_DIGEST_LENGTH: Final = 16
_DIGITS: Final = frozenset("0123456789abcdef")
_NEAR_ENOUGH: Final = 0.6
_TRUTH: Final = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


class SessionGate(Enum):
    """Where session mode applies when no ticket system is active."""

    INITIALIZED = "initialized"
    ALWAYS = "always"
    NEVER = "never"


class WriteGateMode(Enum):
    """What the write gate does about a candidate it does not like."""

    ENFORCE = "enforce"
    WARN = "warn"
    OFF = "off"


class Setting:
    """A key as it is declared in its section: its type, default, meaning, and what values fit.

    ``within`` are the least value and the greatest. ``check`` raises ``ValueError`` for a value of
    the right type that makes no sense; the message goes on where the key's name ends.
    """

    def __init__(
        self,
        default: object,
        help_text: str,
        within: tuple[float | None, float | None] = (None, None),
        *,
        check: Callable[[Any], object] | None = None,
    ) -> None:
        self.annotation: Any = None
        self.default = default
        self.help = help_text
        self.minimum, self.maximum = within
        self.check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self.annotation = owner.__annotations__[name]

    def __get__(self, section: object, owner: type) -> Any:  # noqa: ANN401 - as it is declared
        """Give what counts in a section where nothing is said."""
        return self.default if section is not None else self

    @property
    def bounds(self) -> str:
        """Which numbers fit, in words; empty for any."""
        if self.maximum is not None:
            return f"from {self.minimum} to {self.maximum}"
        return "" if self.minimum is None else f"at least {self.minimum}"


# To the type checker, what is declared with it is of the type that is written before it.
setting: Callable[..., Any] = Setting


class Section:
    """A table of the files; attrs would take longer to make it than a hook takes to read it."""

    def __init__(self, **said: Any) -> None:  # noqa: ANN401 - as the keys are declared
        vars(self).update(said)


def _check_patterns(tables: Any) -> None:  # noqa: ANN401 - whatever a file says
    # Hardly any configuration has some, and every hook reads the configuration.
    if tables:
        from grove_core.ticket_patterns import read_patterns

        read_patterns(tables)


def _check_digests(values: Sequence[str]) -> None:
    for place, value in enumerate(values, start=1):
        # It is not quoted: it may be the secret itself.
        if len(value) != _DIGEST_LENGTH or not _DIGITS.issuperset(value):
            raise ValueError(
                f"holds what is no digest: number {place}; a refusal names the digest of a value,"
                f" {_DIGEST_LENGTH} characters of 0-9 and a-f"
            )


class TicketingSettings(Section):
    """Section ``ticketing``: which ticket systems are enabled."""

    discovery: tuple[str, ...] = setting(
        ("tissue", "beads", "tasks", "session"),
        "Order in which ticket systems are looked for; further installed ones follow.",
    )
    overrides: Mapping[str, bool] = setting(
        {}, "By name: false blocks a system, true turns on what is off by default."
    )
    patterns: tuple[Mapping[str, Any], ...] = setting(
        (), "Commands of your own that close a ticket, one table each.", check=_check_patterns
    )


class BackendsSettings(Section):
    """Section ``backends``: where learnings are kept."""

    discovery: tuple[str, ...] = setting(
        ("config", "total-recall", "mcp", "markdown"),
        "Order in which backends are looked for; config stands for the one named by primary.",
    )
    primary: str | None = setting(None, "The backend for the project's learnings; empty for none.")
    personal: str = setting("markdown", "The backend for personal learnings.")
    overrides: Mapping[str, bool] = setting({}, "By name: false blocks a backend.")


class AutoSkipSettings(Section):
    """Section ``gate.auto_skip``: small changes in session mode."""

    enabled: bool = setting(True, "Whether small changes pass without a reflection.")  # noqa: FBT003
    line_threshold: int = setting(5, "The most changed lines of a small change.", (0, None))
    decider: AutoSkipDecider = setting(
        AutoSkipDecider.AGENT, "Who decides: the agent, always skip, or never skip."
    )


class WriteGateSettings(Section):
    """Section ``gate.write_gate``: whether a candidate says anything."""

    mode: WriteGateMode = setting(
        WriteGateMode.ENFORCE, "What happens to a candidate that says too little."
    )


class GateSettings(Section):
    """Section ``gate``: when a reflection is asked for."""

    session: SessionGate = setting(
        SessionGate.INITIALIZED, "Where work without a ticket system is gated as a whole session."
    )
    session_rearm_lines: int = setting(
        50, "Further changed lines before a session is asked a second time.", (1, None)
    )
    auto_skip: AutoSkipSettings = AutoSkipSettings()
    write_gate: WriteGateSettings = WriteGateSettings()


class GatesSettings(Section):
    """Section ``gates``: gates that plugins bring."""

    order: tuple[str, ...] = setting((), "Order of plugins' gates; others follow by name.")


class CircuitBreakerSettings(Section):
    """Section ``circuit_breaker``: how often the agent is stopped."""

    max_blocks: int = setting(3, "How often the agent is stopped for one reflection.", (1, 6))
    cooldown_seconds: int = setting(
        300,
        "Seconds since the last stop after which the count starts again.",
        (1, _LONGEST_SECONDS),
    )


class ReflectionSettings(Section):
    """Section ``reflection``: what one reflection may bring."""

    max_learnings: int = setting(5, "The most learnings that one reflection stores.", (1, 50))


class DecaySettings(Section):
    """Section ``decay``: when unused learnings are archived."""

    passive_duration_days: int = setting(
        90, "Days without use after which a learning is archived.", (1, _LONGEST_DAYS)
    )
    immunity_hit_rate: float = setting(
        0.8, "Share of showings that were used from which a learning stays.", (0, 1)
    )


class RetrievalSettings(Section):
    """Section ``retrieval``: what is shown to the agent."""

    strategy: RetrievalStrategy = setting(
        RetrievalStrategy.MODERATE, "How freely learnings are shown."
    )
    max_injections: int = setting(5, "The most learnings shown at the start of a session.", (0, 50))
    max_chars: int = setting(4000, "The most characters of learnings shown at once.", (200, 8000))
    engine: RetrievalEngine = setting(
        RetrievalEngine.DEFAULT, "What scores how well learnings fit."
    )
    on_prompt: bool = setting(True, "Whether a prompt may bring up further learnings.")  # noqa: FBT003
    on_file: bool = setting(True, "Whether a touched file may bring up its learnings.")  # noqa: FBT003
    recency_days_to_30_percent: int = setting(
        90, "Days after which an unused learning counts for 30 percent.", (1, _LONGEST_DAYS)
    )
    max_per_prompt: int = setting(3, "The most learnings shown with one prompt.", (0, 50))
    max_per_session: int = setting(
        8, "The most learnings shown with prompts in one session.", (0, 500)
    )
    max_per_file_session: int = setting(
        5, "The most learnings shown for touched files in one session.", (0, 500)
    )


class LayoutSetting(Enum):
    """How learnings lie in the project, as far as the configuration says."""

    AUTO = "auto"
    SINGLE = "single"
    SPREAD = "spread"


class StorageSettings(Section):
    """Section ``storage``: how learnings lie in the project."""

    layout: LayoutSetting = setting(
        LayoutSetting.AUTO,
        "A file for each learning (spread), or one for all (single); auto is spread, unless"
        " .grove/learnings.md exists.",
    )


class StatsSettings(Section):
    """Section ``stats``: what others learn of the event log."""

    share: bool = setting(True, "Whether events are published with a stored learning.")  # noqa: FBT003


class SecretsSettings(Section):
    """Section ``secrets``: what the secret scanner lets pass."""

    allow: tuple[str, ...] = setting(
        (), "Digests of known false alarms, as the refusal names them.", check=_check_digests
    )


class HooksSettings(Section):
    """Section ``hooks``: how grove behaves towards the client."""

    deadline_ms: int = setting(
        2500,
        "Milliseconds of processor time after which a hook gives up and lets work go on.",
        (100, 60_000),
    )


class Config(Section):
    """The whole configuration; every attribute is a section of the files."""

    ticketing: TicketingSettings = TicketingSettings()
    backends: BackendsSettings = BackendsSettings()
    gate: GateSettings = GateSettings()
    gates: GatesSettings = GatesSettings()
    circuit_breaker: CircuitBreakerSettings = CircuitBreakerSettings()
    reflection: ReflectionSettings = ReflectionSettings()
    decay: DecaySettings = DecaySettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    storage: StorageSettings = StorageSettings()
    stats: StatsSettings = StatsSettings()
    secrets: SecretsSettings = SecretsSettings()
    hooks: HooksSettings = HooksSettings()


@cache
def config_keys() -> Mapping[str, Setting]:
    """List every key by its dotted name, in the order of declaration."""
    return dict(_keys_of(Config, ""))


def _keys_of(section: type[Section], prefix: str) -> Iterator[tuple[str, Setting]]:
    for name, declared in vars(section).items():
        if isinstance(declared, Section):
            yield from _keys_of(type(declared), f"{prefix}{name}.")
        elif isinstance(declared, Setting):
            yield f"{prefix}{name}", declared


def gate_policy(config: Config) -> GatePolicy:
    """Give the gate its numbers."""
    auto_skip = config.gate.auto_skip
    return GatePolicy(
        max_blocks=config.circuit_breaker.max_blocks,
        cooldown_seconds=config.circuit_breaker.cooldown_seconds,
        auto_skip_enabled=auto_skip.enabled,
        auto_skip_line_threshold=auto_skip.line_threshold,
        auto_skip_decider=auto_skip.decider,
        session_rearm_lines=config.gate.session_rearm_lines,
    )


# --- Whether a configured value fits its key ------------------------------------------------------


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
            least, most = about.minimum, about.maximum
            if (least is not None and checked < least) or (most is not None and checked > most):
                raise ValueError(f"must be {about.bounds}, not {shown(value)}")  # noqa: TRY301 - below
        if about and about.check is not None:
            about.check(checked)
    except ValueError as error:
        keys = getattr(error, "keys", ())
        # People count from one.
        names = [f"number {key + 1}" if type(key) is int else key for key in keys]
        start = "".join(f"holds a wrong value: {name} " for name in names)
        raise ValueProblem(escape_invisible(f"{start}{error}")) from error
    return checked


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

    others = [one for one in known if not key.startswith(f"{one}.")]
    near = get_close_matches(key, others, n=1, cutoff=_NEAR_ENOUGH)
    return f"is not known; did you mean {near[0]}?" if near else "is not known"
