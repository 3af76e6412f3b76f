"""Every error that grove raises on purpose."""


class GroveError(Exception):
    """The base of all errors that grove raises on purpose."""


class StorageError(GroveError):
    """A file could not be read or written."""


class BackendError(GroveError):
    """A memory backend could not do what it was asked."""


class UnsupportedError(BackendError):
    """A memory backend was asked for something that its capabilities do not name."""


class CodecError(GroveError):
    """Stored text could not be turned into a value."""


class SessionNotFoundError(GroveError):
    """No session has the given id."""


class LearningNotFoundError(GroveError):
    """No active backend holds a learning with the given id."""


class ConfigError(GroveError):
    """A configuration file could not be used."""


class ReflectionError(GroveError):
    """A reflection could not be read at all."""


class TooSoonError(ReflectionError):
    """A reflection came too soon after another one; later it may count."""


class PluginError(GroveError):
    """A plugin failed to load or broke its contract."""
