"""The configuration: declared in ``schema``, read by ``load``."""

from grove_core.config.load import ConfigProblem, LoadedConfig, Origin, Source, load_config
from grove_core.config.schema import (
    SESSION_END_DEADLINE_MS,
    Config,
    ConfigKey,
    SessionGate,
    Setting,
    WriteGateMode,
    config_keys,
    gate_policy,
)
from grove_core.model.memory import StorageLayout
from grove_core.retrieval import RetrievalStrategy

__all__ = [
    "SESSION_END_DEADLINE_MS",
    "Config",
    "ConfigKey",
    "ConfigProblem",
    "LoadedConfig",
    "Origin",
    "RetrievalStrategy",
    "SessionGate",
    "Setting",
    "Source",
    "StorageLayout",
    "WriteGateMode",
    "config_keys",
    "gate_policy",
    "load_config",
]
