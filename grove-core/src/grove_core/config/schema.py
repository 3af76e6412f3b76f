"""Every configuration key: its type, default, bounds and meaning, and what values fit."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, Final, get_args, get_origin

from attrs import Factory, field, fields

from grove_core.codec import reader_of, shown
from grove_core.model.gate import AutoSkipDecider, GatePolicy
from grove_core.model.value import Value, frozen
from grove_core.retrieval import RetrievalEngine, RetrievalStrategy
from grove_core.text import escape_invisible

_LONGEST_DAYS: Final = 36_500
_LONGEST_SECONDS: Final = 31_536_000
_METADATA_KEY: Final = "grove_setting"
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


@frozen(kw_only=True, eq=False, repr=False)
class Setting(Value):
    """What is known about a key besides its type.

    ``check`` raises ``ValueError`` for a value of the right type that makes no sense; the message
    goes on where the key's name ends.
    """

    help: str
    minimum: float | None = None
    maximum: float | None = None
    check: Callable[[Any], object] | None = None

    @property
    def bounds(self) -> str:
        """Which numbers fit, in words; empty for any."""
        if self.maximum is not None:
            return f"from {self.minimum} to {self.maximum}"
        return "" if self.minimum is None else f"at least {self.minimum}"


def setting(
    default: object,
    help_text: str,
    within: tuple[float | None, float | None] = (None, None),
    *,
    check: Callable[[Any], object] | None = None,
) -> Any:  # noqa: ANN401 - an attrs field, which is any type to the type checker
    """Declare a key; ``within`` are the least value and the greatest."""
    about = Setting(help=help_text, minimum=within[0], maximum=within[1], check=check)
    return field(default=default, metadata={_METADATA_KEY: about})


def setting_of(attribute: Any) -> Setting | None:  # noqa: ANN401 - an attrs attribute
    """Return what ``setting`` recorded about an attribute, if it was declared with it."""
    about: Setting | None = attribute.metadata.get(_METADATA_KEY)
    return about


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


@frozen(kw_only=True, eq=False, repr=False)
class TicketingSettings(Value):
    """Section ``ticketing``: which ticket systems are enabled."""

    discovery: tuple[str, ...] = setting(
        ("tissue", "beads", "tasks", "session"),
        "Order in which ticket systems are looked for; further installed ones follow.",
    )
    overrides: Mapping[str, bool] = setting(
        Factory(dict), "By name: false blocks a system, true turns on what is off by default."
    )
    patterns: tuple[Mapping[str, Any], ...] = setting(
        (), "Commands of your own that close a ticket, one table each.", check=_check_patterns
    )


@frozen(kw_only=True, eq=False, repr=False)
class BackendsSettings(Value):
    """Section ``backends``: where learnings are kept."""

    discovery: tuple[str, ...] = setting(
        ("config", "total-recall", "mcp", "markdown"),
        "Order in which backends are looked for; config stands for the one named by primary.",
    )
    primary: str | None = setting(None, "The backend for the project's learnings; empty for none.")
    personal: str = setting("markdown", "The backend for personal learnings.")
    overrides: Mapping[str, bool] = setting(Factory(dict), "By name: false blocks a backend.")


@frozen(kw_only=True, eq=False, repr=False)
class AutoSkipSettings(Value):
    """Section ``gate.auto_skip``: small changes in session mode."""

    enabled: bool = setting(True, "Whether small changes pass without a reflection.")  # noqa: FBT003
    line_threshold: int = setting(5, "The most changed lines of a small change.", (0, None))
    decider: AutoSkipDecider = setting(
        AutoSkipDecider.AGENT, "Who decides: the agent, always skip, or never skip."
    )


@frozen(kw_only=True, eq=False, repr=False)
class WriteGateSettings(Value):
    """Section ``gate.write_gate``: whether a candidate says anything."""

    mode: WriteGateMode = setting(
        WriteGateMode.ENFORCE, "What happens to a candidate that says too little."
    )


@frozen(kw_only=True, eq=False, repr=False)
class GateSettings(Value):
    """Section ``gate``: when a reflection is asked for."""

    session: SessionGate = setting(
        SessionGate.INITIALIZED, "Where work without a ticket system is gated as a whole session."
    )
    session_rearm_lines: int = setting(
        50, "Further changed lines before a session is asked a second time.", (1, None)
    )
    auto_skip: AutoSkipSettings = AutoSkipSettings()
    write_gate: WriteGateSettings = WriteGateSettings()


@frozen(kw_only=True, eq=False, repr=False)
class GatesSettings(Value):
    """Section ``gates``: gates that plugins bring."""

    order: tuple[str, ...] = setting((), "Order of plugins' gates; others follow by name.")


@frozen(kw_only=True, eq=False, repr=False)
class CircuitBreakerSettings(Value):
    """Section ``circuit_breaker``: how often the agent is stopped."""

    max_blocks: int = setting(3, "How often the agent is stopped for one reflection.", (1, 6))
    cooldown_seconds: int = setting(
        300,
        "Seconds since the last stop after which the count starts again.",
        (1, _LONGEST_SECONDS),
    )


@frozen(kw_only=True, eq=False, repr=False)
class ReflectionSettings(Value):
    """Section ``reflection``: what one reflection may bring."""

    max_learnings: int = setting(5, "The most learnings that one reflection stores.", (1, 50))


@frozen(kw_only=True, eq=False, repr=False)
class DecaySettings(Value):
    """Section ``decay``: when unused learnings are archived."""

    passive_duration_days: int = setting(
        90, "Days without use after which a learning is archived.", (1, _LONGEST_DAYS)
    )
    immunity_hit_rate: float = setting(
        0.8, "Share of showings that were used from which a learning stays.", (0, 1)
    )


@frozen(kw_only=True, eq=False, repr=False)
class RetrievalSettings(Value):
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


@frozen(kw_only=True, eq=False, repr=False)
class StorageSettings(Value):
    """Section ``storage``: how learnings lie in the project."""

    layout: LayoutSetting = setting(
        LayoutSetting.AUTO,
        "A file for each learning (spread), or one for all (single); auto is spread, unless"
        " .grove/learnings.md exists.",
    )


@frozen(kw_only=True, eq=False, repr=False)
class StatsSettings(Value):
    """Section ``stats``: what others learn of the event log."""

    share: bool = setting(True, "Whether events are published with a stored learning.")  # noqa: FBT003


@frozen(kw_only=True, eq=False, repr=False)
class SecretsSettings(Value):
    """Section ``secrets``: what the secret scanner lets pass."""

    allow: tuple[str, ...] = setting(
        (), "Digests of known false alarms, as the refusal names them.", check=_check_digests
    )


@frozen(kw_only=True, eq=False, repr=False)
class HooksSettings(Value):
    """Section ``hooks``: how grove behaves towards the client."""

    deadline_ms: int = setting(
        2500,
        "Milliseconds of processor time after which a hook gives up and lets work go on.",
        (100, 60_000),
    )


@frozen(kw_only=True, eq=False, repr=False)
class Config(Value):
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


@frozen(kw_only=True, eq=False, repr=False)
class ConfigKey(Value):
    """A key as it is declared: its dotted name, type, default and what else is known of it."""

    key: str
    annotation: Any
    setting: Setting
    default: Any


@cache
def config_keys() -> Mapping[str, ConfigKey]:
    """List every key by its dotted name, in the order of declaration."""
    return {declared.key: declared for declared in _keys_of(Config, "")}


def _keys_of(section: Any, prefix: str) -> list[ConfigKey]:  # noqa: ANN401 - an attrs class
    found = []
    for attribute in fields(section):
        key = f"{prefix}{attribute.name}"
        about = setting_of(attribute)
        if about is None:
            found += _keys_of(attribute.type, f"{key}.")
            continue
        default = getattr(section(), attribute.name)
        found.append(ConfigKey(key=key, annotation=attribute.type, setting=about, default=default))
    return found


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

    near = get_close_matches(key, known, n=1, cutoff=_NEAR_ENOUGH)
    return f"is not known; did you mean {near[0]}?" if near else "is not known"
