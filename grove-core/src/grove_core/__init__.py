"""grove: a compound-learning gate for coding agents, and the plugin framework it stands on.

The names listed in ``__all__`` are the public interface for plugin authors; every other module is
private. Names are loaded when they are first used, so that importing the package costs nothing.
"""

# Type checkers take this for typing.TYPE_CHECKING. Importing typing itself would double the modules
# that a hook with nothing to do loads.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from grove_core.clock import format_instant as format_instant
    from grove_core.clock import parse_instant as parse_instant
    from grove_core.codec import learning_from_dict as learning_from_dict
    from grove_core.codec import learning_to_dict as learning_to_dict
    from grove_core.errors import BackendError as BackendError
    from grove_core.errors import CodecError as CodecError
    from grove_core.errors import ConfigError as ConfigError
    from grove_core.errors import GroveError as GroveError
    from grove_core.errors import LearningNotFoundError as LearningNotFoundError
    from grove_core.errors import StorageError as StorageError
    from grove_core.errors import UnsupportedError as UnsupportedError
    from grove_core.git import is_ignored_by_git as is_ignored_by_git
    from grove_core.identifiers import check_storable as check_storable
    from grove_core.identifiers import is_learning_id as is_learning_id
    from grove_core.model.check import CheckResult as CheckResult
    from grove_core.model.check import Status as Status
    from grove_core.model.hook import CONTEXT_LIMIT as CONTEXT_LIMIT
    from grove_core.model.hook import HookAnswer as HookAnswer
    from grove_core.model.hook import HookEvent as HookEvent
    from grove_core.model.hook import HookInput as HookInput
    from grove_core.model.hook import HookReply as HookReply
    from grove_core.model.hook import StartSource as StartSource
    from grove_core.model.learning import Candidate as Candidate
    from grove_core.model.learning import Category as Category
    from grove_core.model.learning import Confidence as Confidence
    from grove_core.model.learning import Criterion as Criterion
    from grove_core.model.learning import Learning as Learning
    from grove_core.model.learning import LearningStatus as LearningStatus
    from grove_core.model.learning import Rejection as Rejection
    from grove_core.model.learning import Scope as Scope
    from grove_core.model.learning import Share as Share
    from grove_core.model.memory import Capability as Capability
    from grove_core.model.memory import Changes as Changes
    from grove_core.model.memory import Detection as Detection
    from grove_core.model.memory import Filters as Filters
    from grove_core.model.memory import Health as Health
    from grove_core.model.memory import Hit as Hit
    from grove_core.model.memory import Query as Query
    from grove_core.model.memory import Receipt as Receipt
    from grove_core.model.memory import ReceiptStatus as ReceiptStatus
    from grove_core.model.memory import StorageLayout as StorageLayout
    from grove_core.model.memory import Synchronised as Synchronised
    from grove_core.model.session import Session as Session
    from grove_core.model.ticket import BackgroundTask as BackgroundTask
    from grove_core.model.ticket import Confirmation as Confirmation
    from grove_core.model.ticket import Ticket as Ticket
    from grove_core.model.ticket import TicketClose as TicketClose
    from grove_core.model.ticket import ToolCall as ToolCall
    from grove_core.model.ticket import ToolResult as ToolResult
    from grove_core.model.value import PROJECT_ADDS as PROJECT_ADDS
    from grove_core.model.value import TRUSTED_ALONE as TRUSTED_ALONE
    from grove_core.model.value import TRUSTED_ONLY as TRUSTED_ONLY
    from grove_core.model.value import USER_ONLY as USER_ONLY
    from grove_core.plugins.descriptors import Area as Area
    from grove_core.plugins.descriptors import BackendContext as BackendContext
    from grove_core.plugins.descriptors import BackendSpec as BackendSpec
    from grove_core.plugins.descriptors import CloseMatcher as CloseMatcher
    from grove_core.plugins.descriptors import CommandReader as CommandReader
    from grove_core.plugins.descriptors import CommandSpec as CommandSpec
    from grove_core.plugins.descriptors import Discovered as Discovered
    from grove_core.plugins.descriptors import EnabledWhen as EnabledWhen
    from grove_core.plugins.descriptors import EveryCapability as EveryCapability
    from grove_core.plugins.descriptors import Freshness as Freshness
    from grove_core.plugins.descriptors import HealthCheck as HealthCheck
    from grove_core.plugins.descriptors import MemoryBackend as MemoryBackend
    from grove_core.plugins.descriptors import ProjectContext as ProjectContext
    from grove_core.plugins.descriptors import ReflectionContext as ReflectionContext
    from grove_core.plugins.descriptors import Repair as Repair
    from grove_core.plugins.descriptors import TicketProbe as TicketProbe
    from grove_core.plugins.gates import GateAnswer as GateAnswer
    from grove_core.plugins.gates import GateCall as GateCall
    from grove_core.plugins.gates import GateSpec as GateSpec
    from grove_core.plugins.gates import PluginGate as PluginGate
    from grove_core.plugins.hookspecs import GROVE_API as GROVE_API
    from grove_core.plugins.hookspecs import hookimpl as hookimpl
    from grove_core.plugins.hosts import Hold as Hold
    from grove_core.plugins.hosts import HostAbilities as HostAbilities
    from grove_core.plugins.hosts import HostContext as HostContext
    from grove_core.plugins.hosts import HostFile as HostFile
    from grove_core.plugins.hosts import HostSetup as HostSetup
    from grove_core.plugins.hosts import HostSpec as HostSpec
    from grove_core.plugins.hosts import Registration as Registration
    from grove_core.retrieval.rules import best_first as best_first
    from grove_core.retrieval.rules import rule_hits as rule_hits
    from grove_core.retrieval.rules import rule_relevance as rule_relevance
    from grove_core.services.gate_sessions import GateSessions as GateSessions
    from grove_core.services.gate_sessions import SessionWork as SessionWork
    from grove_core.storage.backoff import Backoff as Backoff
    from grove_core.storage.files import append_text as append_text
    from grove_core.storage.files import confined as confined
    from grove_core.storage.files import edit_text as edit_text
    from grove_core.storage.files import fingerprint_of as fingerprint_of
    from grove_core.storage.files import locked as locked
    from grove_core.storage.files import read_bytes as read_bytes
    from grove_core.storage.files import read_text as read_text
    from grove_core.storage.files import replace_text as replace_text
    from grove_core.storage.jsonl_store import JsonlStore as JsonlStore
    from grove_core.storage.trust import TrustRequest as TrustRequest

_PUBLIC = {
    "clock": "format_instant parse_instant",
    "codec": "learning_from_dict learning_to_dict",
    "errors": (
        "BackendError CodecError ConfigError GroveError LearningNotFoundError StorageError "
        "UnsupportedError"
    ),
    "git": "is_ignored_by_git",
    "identifiers": "check_storable is_learning_id",
    "model.check": "CheckResult Status",
    "model.hook": "CONTEXT_LIMIT HookAnswer HookEvent HookInput HookReply StartSource",
    "model.learning": (
        "Candidate Category Confidence Criterion Learning LearningStatus Rejection Scope Share"
    ),
    "model.memory": (
        "Capability Changes Detection Filters Health Hit Query Receipt ReceiptStatus "
        "StorageLayout Synchronised"
    ),
    "model.session": "Session",
    "model.ticket": "BackgroundTask Confirmation Ticket TicketClose ToolCall ToolResult",
    "storage.trust": "TrustRequest",
    "model.value": "PROJECT_ADDS TRUSTED_ALONE TRUSTED_ONLY USER_ONLY",
    "plugins.descriptors": (
        "Area BackendContext BackendSpec CloseMatcher CommandReader CommandSpec Discovered "
        "EnabledWhen EveryCapability Freshness HealthCheck MemoryBackend "
        "ProjectContext ReflectionContext Repair TicketProbe"
    ),
    "plugins.gates": "GateAnswer GateCall GateSpec PluginGate",
    "plugins.hookspecs": "GROVE_API hookimpl",
    "plugins.hosts": ("Hold HostAbilities HostContext HostFile HostSetup HostSpec Registration"),
    "services.gate_sessions": "GateSessions SessionWork",
    "retrieval.rules": "best_first rule_hits rule_relevance",
    "storage.backoff": "Backoff",
    "storage.files": (
        "append_text confined edit_text fingerprint_of locked read_bytes read_text replace_text"
    ),
    "storage.jsonl_store": "JsonlStore",
}
_MODULE_OF_NAME = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__version__ = "0.2.0"
__all__ = ["__version__", *sorted(_MODULE_OF_NAME)]  # noqa: PLE0604 - names, from the table above


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
