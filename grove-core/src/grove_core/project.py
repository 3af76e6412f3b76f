"""Everything that a command or a hook may need, opened when it is first asked for."""

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, TypeVar

from attrs import evolve

from grove_core import __version__
from grove_core.config.load import LoadedConfig, Source, load_config
from grove_core.config.schema import Config, LayoutSetting, gate_policy
from grove_core.environment import fingerprint
from grove_core.errors import CodecError, StorageError
from grove_core.model.gate import MOST_BLOCKS_IN_A_ROW, GatePolicy
from grove_core.model.memory import StorageLayout
from grove_core.model.session import Session
from grove_core.prefilter import Prefilter
from grove_core.storage.diagnostics import Diagnostics
from grove_core.storage.paths import (
    Paths,
    ProjectPaths,
    foreign_directory,
    grove_home,
    project_root,
)
from grove_core.storage.sessions import Parsed, SessionStore

if TYPE_CHECKING:
    # Imported by those who come to need them: many hooks log and count nothing.
    from grove_core.config.plugin_section import PluginSection
    from grove_core.finder import Finder
    from grove_core.git import WorkTree
    from grove_core.memory.library import MemoryLibrary
    from grove_core.memory.outbox import Outbox
    from grove_core.model.events import StatsEvent
    from grove_core.model.learning import Learning, LearningStats
    from grove_core.model.statistics import Statistics
    from grove_core.plugins.descriptors import BackendContext, ProjectContext
    from grove_core.plugins.discovery import PluginProblem
    from grove_core.plugins.manager import Contribution, OpenGate, Plugins
    from grove_core.retrieval.terms import Entry
    from grove_core.stats.cache import Numbers
    from grove_core.stats.decay import DecayRule
    from grove_core.storage.cache import Cache
    from grove_core.storage.hidden import Hidden
    from grove_core.storage.installation import Environment
    from grove_core.storage.origins import Origins
    from grove_core.ticketing import TicketSystems

_T = TypeVar("_T")

OWN_VARIABLE: Final = "GROVE_SESSION_ID"
"""Holds a session's id in the shells of an agent whose client lets grove set variables."""
_MOST_BESIDE_OTHERS: Final = 5
"""Blocks of a reflection; a plugin's gate may have three by default, the client takes eight."""


class WarmCache:
    """What a process keeps between projects and hooks, while it looks the same.

    One that ``lasts`` looks whether plugins were installed or removed meanwhile.
    """

    def __init__(self, *, lasts: bool = True) -> None:
        self.lasts = lasts
        self.sessions: Parsed = {}
        self.kept: dict[str, tuple[object, Any]] = {}

    def keep(
        self,
        what: str,
        key: object,
        load: Callable[[], _T],
        is_current: Callable[[_T], bool] = lambda _: True,
    ) -> _T:
        """What is kept under a name; loaded again for another key, or when it is out of date."""
        kept = self.kept.get(what)
        if kept is None or kept[0] != key or not is_current(kept[1]):
            kept = self.kept[what] = key, load()
        found: _T = kept[1]
        return found

    def take_plugins(self, other: "WarmCache") -> None:
        """Take over what another thread has loaded, now that it is done with it."""
        if plugins := other.kept.get("plugins"):
            self.kept.setdefault("plugins", plugins)


class Project:
    """A project as seen from one directory, at one moment."""

    def __init__(
        self,
        start: Path,
        environment: Mapping[str, str],
        now: datetime,
        *,
        plugins: bool = True,
        warm: WarmCache | None = None,
    ) -> None:
        """Find the project; open nothing yet."""
        self.start = start
        self.environment = environment
        self.now = now
        self.paths = Paths(grove_home(environment))
        self.root = project_root(start, self.paths.home)
        self.files = ProjectPaths(self.root, self.paths.home)
        self.diagnostics = Diagnostics(self.paths)
        self._warm = warm or WarmCache(lasts=False)
        self.sessions = SessionStore(self.paths.sessions, self._warm.sessions)
        self.prefilter = Prefilter(self.paths.cache)
        # Of a hook: by the clock for what others do, in processor time for what grove does.
        self.deadline: float | None = None
        self.work_deadline: float | None = None
        # The processor time of its thread when the hook began; a process of its own begins at 0.
        self.work_started = 0.0
        self.problems: list[PluginProblem] = []
        # For commands to tell of; hooks let work go on without a word.
        self.lost_events: list[str] = []
        self.has_logged = False
        # The latest look of this process, for those who need no newer one.
        self.work_tree: WorkTree | None = None
        self._uses_plugins = plugins
        self._tickets: dict[tuple[Path, str], TicketSystems] = {}

    def elsewhere(self, root: Path, now: datetime | None = None) -> "Project":
        """Look at another project, or at another moment, in the same way."""
        other = Project(
            root, self.environment, now or self.now, plugins=self._uses_plugins, warm=self._warm
        )
        other.deadline, other.work_deadline = self.deadline, self.work_deadline
        other.problems = self.problems
        other.lost_events = self.lost_events
        return other

    @property
    def project_cache(self) -> Path:
        """The directory of files derived from this project."""
        return self.paths.cache / self.files.key

    @property
    def foreign_notice(self) -> str:
        """What to say of a ``.grove`` of another user's here; empty when there is none."""
        foreign = foreign_directory(self.start, self.root)
        return f"{foreign} belongs to another user, so it is not used" if foreign else ""

    @cached_property
    def outbox(self) -> "Outbox":
        """What waits for its backend."""
        from grove_core.memory.outbox import Outbox

        return Outbox(self.paths.outbox)

    @cached_property
    def loaded_config(self) -> LoadedConfig:
        """The configuration, with origins and problems."""
        load = partial(load_config, self.paths.home, self.root, self.environment)
        looks = fingerprint(str(self.root), str(self.paths.home), "")
        return self._warm.keep("config", looks, load)

    @property
    def config(self) -> Config:
        """The effective configuration."""
        return self.loaded_config.config

    @property
    def policy(self) -> GatePolicy:
        """What the gate works with."""
        policy = gate_policy(self.config)
        origin = self.loaded_config.origins.get("circuit_breaker.max_blocks")
        if origin is None or origin.source is not Source.PROJECT or not self.plugins.gates():
            return policy
        # A project's file leaves a gate of the user's the room that it has by default.
        return evolve(policy, max_blocks=min(policy.max_blocks, _MOST_BESIDE_OTHERS))

    @cached_property
    def plugins(self) -> "Plugins":
        """The installed plugins."""
        from grove_core.plugins import discovery
        from grove_core.plugins.manager import Plugins
        from grove_core.storage.installation import look, looks_the_same

        config = self.config
        # `config` stands for the backend that the configuration names.
        places = {"config": config.backends.primary}
        order = (places.get(name, name) for name in config.backends.discovery)
        settings = discovery.PluginSettings(
            orders={
                discovery.TICKET_GROUP: config.ticketing.discovery,
                discovery.BACKEND_GROUP: tuple(filter(None, order)),
                discovery.GATES: config.gates.order,
            },
            overrides={
                discovery.TICKET_GROUP: config.ticketing.overrides,
                discovery.BACKEND_GROUP: config.backends.overrides,
            },
            enabled=self._uses_plugins,
            allowed=discovery.read_allow_list(self.environment),
        )

        def load() -> "tuple[Environment, Plugins]":
            environment = look() if self._warm.lasts else []
            found = discovery.discover(self.paths.home)
            return environment, Plugins(found, settings, self._report_problem)

        _, kept = self._warm.keep("plugins", settings, load, lambda one: looks_the_same(one[0]))
        kept.serve(self._report_problem, self.deadline, self.work_deadline)
        return kept

    @cached_property
    def library(self) -> "MemoryLibrary":
        """The memory backends."""
        from grove_core.memory.library import MemoryLibrary

        return MemoryLibrary(
            self.plugins,
            self.backend_context,
            personal_backend=self.config.backends.personal,
            settings=self._read("backends"),
            outbox=self.outbox,
            primary=self.config.backends.primary,
        )

    @property
    def unread(self) -> "Collection[str]":
        """The backends that should have been read and could not be."""
        return self.library.unread if "library" in vars(self) else ()

    @property
    def layout(self) -> StorageLayout:
        """How learnings lie in the project; one that has a file for all keeps it."""
        chosen = self.config.storage.layout
        if chosen is not LayoutSetting.AUTO:
            return StorageLayout(chosen.value)
        is_single = os.path.exists(self.files.learnings_file)  # noqa: PTH110 - hooks ask
        return StorageLayout.SINGLE if is_single else StorageLayout.SPREAD

    @cached_property
    def backend_context(self) -> "BackendContext":
        """Where memory backends are to work; each has settings of its own besides."""
        from grove_core.plugins.descriptors import BackendContext

        return BackendContext(
            root=self.root,
            home=self.paths.home,
            environment=self.environment,
            layout=self.layout,
            in_hook=self.deadline is not None,
            trusted=self.trusted,
        )

    @cached_property
    def trusted(self) -> frozenset[str]:
        """Digests of what the user has agreed to in this project; nothing when it is unknown."""
        if not os.path.lexists(self.paths.trust_file):
            return frozenset()
        from grove_core.storage.trust import TrustStore

        try:
            return frozenset(TrustStore(self.paths.trust_file).agreements(self.root))
        except (CodecError, StorageError) as error:
            self.diagnostics.log("error", str(error))
            return frozenset()

    @property
    def client_session(self) -> str:
        """The session whose agent runs this process, as the client's variables say; else empty.

        Where one client's agent has started another client, that is the one that was busy last.
        """
        hosts = self.plugins.hosts()
        names = [name for one in hosts for name in one.value.abilities.session_variables]
        found = [*filter(None, map(self.environment.get, names))]
        known = [*filter(None, map(self.session, found))] if len({*found}) > 1 else []
        if known:
            return max(known, key=lambda one: one.updated_at).id
        return next(iter(found), "") or self.environment.get(OWN_VARIABLE, "")

    @property
    def is_run_by_agent(self) -> bool:
        """Whether an agent runs this process, as far as the client's variables tell."""
        hosts = self.plugins.hosts()
        marks = (name for one in hosts for name in one.value.abilities.shell_variables)
        return bool(self.client_session) or any(name in self.environment for name in marks)

    def session(self, session_id: str) -> Session | None:
        """Fetch a session; state that cannot be read counts as none."""
        try:
            return self.sessions.get(session_id)
        except (CodecError, StorageError):
            return None

    def context(self, cwd: Path | str = "", session_id: str = "") -> "ProjectContext":
        """Describe the project to plugins."""
        from grove_core.plugins.descriptors import ProjectContext

        return ProjectContext(
            root=self.root,
            cwd=Path(cwd) if cwd else self.start,
            environment=self.environment,
            session_id=session_id,
        )

    def tickets(self, cwd: Path | str = "", session_id: str = "") -> "TicketSystems":
        """Look at the project's ticket systems, once from each place."""
        from grove_core.ticketing import TicketSystems

        context = self.context(cwd, session_id)
        key = (context.cwd, session_id)
        if key not in self._tickets:
            self._tickets[key] = TicketSystems(
                self.plugins,
                context,
                self.config.ticketing,
                initialised=self.files.initialised,
                settings=self._read("tickets"),
            )
        return self._tickets[key]

    def publish_events(self) -> None:
        """Write beside changed learnings what is in this machine's log alone; faults are logged."""
        from grove_core.event_log import publish

        try:
            if self.files.initialised and self.config.stats.share:
                publish(self.files, self.now)
        except StorageError as error:  # the next time tries again
            self.diagnostics.log("error", f"events were not published: {error}")

    def log_events(self, events: "Iterable[StatsEvent]", *, personal: bool = False) -> None:
        """Write events to the log; a fault is collected and logged, and does not stop anything."""
        events = list(events)
        if not events or not (personal or self.files.initialised):
            return
        from grove_core.event_log import append

        path = self.paths.personal_events if personal else self.files.events_file
        try:
            append(path, events, __version__)
            self.has_logged = True
            self._notice_use(events, personal=personal)
        except StorageError as error:
            self.diagnostics.log("error", f"events were lost: {error}")
            self.lost_events.append(str(error))

    def log_by_area(self, events: "Iterable[tuple[StatsEvent, bool]]") -> None:
        """Write events, each with whether it is personal, to the log that it belongs to."""
        listed = list(events)
        for personal in (False, True):
            self.log_events([one for one, own in listed if own is personal], personal=personal)

    def _notice_use(self, events: "Iterable[StatsEvent]", *, personal: bool) -> None:
        """Take what was used for the user's own, and show again what decay has hidden of it."""
        from grove_core.model.events import Imported, Rated, Referenced, Restored

        used = {
            one.learning_id
            for one in events
            if isinstance(one, Referenced | Restored | Imported)
            or (isinstance(one, Rated) and one.useful)
        }
        if not used:
            return
        if not personal:
            found = (self.library.get(name) for name in sorted(used))
            self.note_origin([one.hit.learning for one in found if one is not None])
        if back := used & self.hidden.keys():
            from grove_core.storage.hidden import unhide

            unhide(self.paths.decay_file if personal else self.files.decay_file, back)
            self.hidden = {name: one for name, one in self.hidden.items() if name not in back}

    def note_origin(self, learnings: "Iterable[Learning]") -> None:
        """Note what was written or used on this machine; a fault costs a word, no more."""
        with suppress(StorageError):
            self.origins.note(learnings)

    def is_foreign(self, entry: "Entry") -> bool:
        """Return whether a learning came with the repository and nobody has used it here."""
        if entry.personal:
            return False
        fields = entry.fields()
        return not self.origins.knows(entry.id, fields["summary"], fields["detail"])

    @cached_property
    def origins(self) -> "Origins":
        """Which learnings were written or used on this machine."""
        from grove_core.storage.origins import Origins

        return Origins(self.files.origins_file, self.paths.key_file)

    @cached_property
    def hidden(self) -> "Mapping[str, Hidden]":
        """The learnings that decay hides on this machine, by id."""
        from grove_core.storage.hidden import read_decay_run

        paths = (self.paths.decay_file, self.files.decay_file)
        return {name: one for path in paths for name, one in read_decay_run(path).hidden.items()}

    @cached_property
    def cache(self) -> "Cache":
        """What is kept of the project between processes."""
        from grove_core.storage.cache import Cache, cache_in

        in_hook = self.work_deadline is not None
        load = partial(cache_in, self.project_cache, self.paths.home, in_hook=in_hook)
        # SQLite's connections belong to a thread.
        key = self.project_cache, get_ident()
        return self._warm.keep("cache", key, load, Cache.is_current)

    @cached_property
    def numbers(self) -> "Numbers":
        """What is counted in this project and in the user's own log."""
        from grove_core.event_log import event_files
        from grove_core.stats.cache import Numbers

        personal = os.fspath(self.paths.personal_events)
        shared = [*map(os.fspath, event_files(self.files))]
        own = os.fspath(self.files.events_file)
        foreign = frozenset(shared) - {own}
        until = self._half_time()
        return Numbers(
            self.cache, [*shared, personal], personal=personal, foreign=foreign, until=until
        )

    @cached_property
    def finder(self) -> "Finder":
        """What finds learnings, with the configured engine."""
        from grove_core.finder import Finder

        finder = Finder(
            self.library,
            self.cache,
            self.now,
            self.usage,
            recency_days=self.config.retrieval.recency_days_to_30_percent,
            engine=self.config.retrieval.engine,
            until=self._half_time,
        )
        finder.hidden = self.hidden.keys()
        return finder

    def index_what_was_written(self) -> None:
        """Bring the index up to date at once, so that the next hook finds nothing to read."""
        if "library" in self.__dict__ and self.library.has_written and self.paths.home.is_dir():
            self.library.has_written = False
            self.finder.refresh()

    def _half_time(self) -> float | None:
        # A hook has more to do than to read files; what is left is read the next time.
        return None if self.work_deadline is None else (time.thread_time() + self.work_deadline) / 2

    def decay_rule(self, *, personal: bool = False) -> "DecayRule":
        """When learnings go stale; no project decides about the user's own, which all share."""
        from grove_core.stats.decay import DecayRule

        own = load_config(self.paths.home, None, self.environment).config if personal else None
        decay = (own or self.config).decay
        return DecayRule(decay.passive_duration_days, decay.immunity_hit_rate)

    def statistics(self, since: datetime | None = None) -> "Statistics":
        """Count everything in the project's log and in the personal one."""
        from grove_core.stats.counts import statistics
        from grove_core.storage.files import largest_size

        counted = statistics(
            self.numbers,
            self.finder.index.content,
            self.finder.index.catalogue,
            self.now,
            self.decay_rule(),
            personal_rule=self.decay_rule(personal=True),
            since=since,
        )
        return counted._replace(learnings_bytes=largest_size(self.library.sources() or ()))

    def usage(self, learning_ids: "Iterable[str] | None" = None) -> "Mapping[str, LearningStats]":
        """Return how learnings have fared."""
        return self.numbers.usage(learning_ids)

    def gates(self, session_id: str = "") -> "list[OpenGate]":
        """Open the gates of plugins that are on."""
        if not self.plugins.gates():
            return []
        left = MOST_BLOCKS_IN_A_ROW - self.policy.max_blocks
        return self.plugins.open_gates(
            self.context(session_id=session_id), self.gate_settings(), left
        )

    def gate_settings(self) -> Mapping[str, Any]:
        """What the own sections of plugins' gates say, by the gates' names; most say nothing."""
        loaded = self.loaded_config
        said = [*loaded.plugin_sections, *loaded.plugin_variables]
        if not any(name.lower().replace("grove_", "").startswith("gates") for name in said):
            return {}
        return self._read("gates")

    def sections(self, family: str) -> "Mapping[str, PluginSection]":
        """The own sections of backends, tickets or gates, by the names of those that have some."""
        from grove_core.config.plugin_section import section_of

        offers: Mapping[str, Callable[[], Iterable[Contribution[Any]]]] = {
            "backends": self.plugins.memory_backends,
            "tickets": self.plugins.ticket_probes,
            "gates": self.plugins.gates,
        }
        loaded, trusted = self.loaded_config, lambda: self.trusted
        kinds = {one.value.name: one.value.settings for one in offers[family]()}
        return {
            name: section_of(loaded, f"{family}.{name}", kind, trusted)
            for name, kind in kinds.items()
            if kind is not None
        }

    def _read(self, family: str) -> Mapping[str, Any]:
        """Read settings; a bad key falls back by itself and is reported."""
        settings: dict[str, Any] = {}
        for name, section in self.sections(family).items():
            settings[name], problems = section.read()
            for problem in problems:
                self.diagnostics.log("warning", str(problem))
        return settings

    def _report_problem(self, problem: "PluginProblem") -> None:
        self.problems.append(problem)
        self.diagnostics.log("error", f"plugin {problem}")
