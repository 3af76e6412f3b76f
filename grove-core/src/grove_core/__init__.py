"""grove: a compound-learning gate for coding agents, and the plugin framework it stands on.

The names listed in ``__all__`` are the public interface for plugin authors; every other module is
private. Names are loaded when they are first used, so that importing the package costs nothing.
"""

# Type checkers take this for typing.TYPE_CHECKING. Importing typing itself would double the modules
# that a hook with nothing to do loads.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from grove_core.clock import format_instant, parse_instant
    from grove_core.codec.documents import learning_from_dict, learning_to_dict
    from grove_core.errors import (
        BackendError,
        CodecError,
        ConfigError,
        DiscoveryError,
        GroveError,
        InvalidStateError,
        LearningNotFoundError,
        PluginError,
        ReflectionError,
        SessionNotFoundError,
        StorageError,
        UnsupportedError,
    )
    from grove_core.files import append_text, edit_text, read_text
    from grove_core.identifiers import is_learning_id
    from grove_core.model.gate import Gate, GateStatus
    from grove_core.model.learning import (
        Candidate,
        Category,
        Confidence,
        Criterion,
        Learning,
        LearningStatus,
        Rejection,
        Scope,
    )
    from grove_core.model.memory import (
        Capability,
        Detection,
        Filters,
        Health,
        Hit,
        Query,
        Receipt,
        ReceiptStatus,
        StorageLayout,
    )
    from grove_core.model.session import Session
    from grove_core.model.statistics import (
        CrossPollination,
        GateStats,
        GoingStale,
        GroupStats,
        Insight,
        LearningRecord,
        LearningStats,
        LogFault,
        LogStats,
        ReflectionStats,
        RetrospectiveMiss,
        Share,
        SkipMiss,
        SkipStats,
        Statistics,
        UsageStats,
        WeekStats,
        WriteGateStats,
    )
    from grove_core.model.ticket import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
    from grove_core.plugins.descriptors import (
        Area,
        BackendContext,
        BackendSpec,
        CloseMatcher,
        CommandReader,
        CommandSpec,
        FileBacked,
        HealthCheck,
        MemoryBackend,
        Participation,
        ProjectContext,
        ReflectionContext,
        Repair,
        TicketProbe,
    )
    from grove_core.plugins.markers import GROVE_API, hookimpl, hookspec
    from grove_core.retrieval.rules import rule_relevance

_MODULE_OF_NAME = {
    "format_instant": "clock",
    "parse_instant": "clock",
    "learning_from_dict": "codec.documents",
    "learning_to_dict": "codec.documents",
    "BackendError": "errors",
    "CodecError": "errors",
    "ConfigError": "errors",
    "DiscoveryError": "errors",
    "GroveError": "errors",
    "InvalidStateError": "errors",
    "LearningNotFoundError": "errors",
    "PluginError": "errors",
    "ReflectionError": "errors",
    "SessionNotFoundError": "errors",
    "StorageError": "errors",
    "UnsupportedError": "errors",
    "append_text": "files",
    "edit_text": "files",
    "read_text": "files",
    "is_learning_id": "identifiers",
    "Gate": "model.gate",
    "GateStatus": "model.gate",
    "Candidate": "model.learning",
    "Category": "model.learning",
    "Confidence": "model.learning",
    "Criterion": "model.learning",
    "Learning": "model.learning",
    "LearningStatus": "model.learning",
    "Rejection": "model.learning",
    "Scope": "model.learning",
    "Capability": "model.memory",
    "Detection": "model.memory",
    "Filters": "model.memory",
    "Health": "model.memory",
    "Hit": "model.memory",
    "Query": "model.memory",
    "Receipt": "model.memory",
    "ReceiptStatus": "model.memory",
    "StorageLayout": "model.memory",
    "Session": "model.session",
    "CrossPollination": "model.statistics",
    "GateStats": "model.statistics",
    "GoingStale": "model.statistics",
    "GroupStats": "model.statistics",
    "Insight": "model.statistics",
    "LearningRecord": "model.statistics",
    "LearningStats": "model.statistics",
    "LogFault": "model.statistics",
    "LogStats": "model.statistics",
    "ReflectionStats": "model.statistics",
    "RetrospectiveMiss": "model.statistics",
    "Share": "model.statistics",
    "SkipMiss": "model.statistics",
    "SkipStats": "model.statistics",
    "Statistics": "model.statistics",
    "UsageStats": "model.statistics",
    "WeekStats": "model.statistics",
    "WriteGateStats": "model.statistics",
    "Confirmation": "model.ticket",
    "Ticket": "model.ticket",
    "TicketClose": "model.ticket",
    "ToolCall": "model.ticket",
    "ToolResult": "model.ticket",
    "Area": "plugins.descriptors",
    "BackendContext": "plugins.descriptors",
    "BackendSpec": "plugins.descriptors",
    "CloseMatcher": "plugins.descriptors",
    "CommandReader": "plugins.descriptors",
    "CommandSpec": "plugins.descriptors",
    "FileBacked": "plugins.descriptors",
    "HealthCheck": "plugins.descriptors",
    "MemoryBackend": "plugins.descriptors",
    "Participation": "plugins.descriptors",
    "ProjectContext": "plugins.descriptors",
    "ReflectionContext": "plugins.descriptors",
    "Repair": "plugins.descriptors",
    "TicketProbe": "plugins.descriptors",
    "GROVE_API": "plugins.markers",
    "hookimpl": "plugins.markers",
    "hookspec": "plugins.markers",
    "rule_relevance": "retrieval.rules",
}

__all__ = [
    "GROVE_API",
    "Area",
    "BackendContext",
    "BackendError",
    "BackendSpec",
    "Candidate",
    "Capability",
    "Category",
    "CloseMatcher",
    "CodecError",
    "CommandReader",
    "CommandSpec",
    "Confidence",
    "ConfigError",
    "Confirmation",
    "Criterion",
    "CrossPollination",
    "Detection",
    "DiscoveryError",
    "FileBacked",
    "Filters",
    "Gate",
    "GateStats",
    "GateStatus",
    "GoingStale",
    "GroupStats",
    "GroveError",
    "Health",
    "HealthCheck",
    "Hit",
    "Insight",
    "InvalidStateError",
    "Learning",
    "LearningNotFoundError",
    "LearningRecord",
    "LearningStats",
    "LearningStatus",
    "LogFault",
    "LogStats",
    "MemoryBackend",
    "Participation",
    "PluginError",
    "ProjectContext",
    "Query",
    "Receipt",
    "ReceiptStatus",
    "ReflectionContext",
    "ReflectionError",
    "ReflectionStats",
    "Rejection",
    "Repair",
    "RetrospectiveMiss",
    "Scope",
    "Session",
    "SessionNotFoundError",
    "Share",
    "SkipMiss",
    "SkipStats",
    "Statistics",
    "StorageError",
    "StorageLayout",
    "Ticket",
    "TicketClose",
    "TicketProbe",
    "ToolCall",
    "ToolResult",
    "UnsupportedError",
    "UsageStats",
    "WeekStats",
    "WriteGateStats",
    "__version__",
    "append_text",
    "edit_text",
    "format_instant",
    "hookimpl",
    "hookspec",
    "is_learning_id",
    "learning_from_dict",
    "learning_to_dict",
    "parse_instant",
    "read_text",
    "rule_relevance",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Load a public name when it is first used (PEP 562)."""
    module = _MODULE_OF_NAME.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names without loading them."""
    return list(__all__)
