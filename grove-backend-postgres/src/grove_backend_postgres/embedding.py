"""The function of the user's that makes vectors of texts."""

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from grove_core import BackendError, ConfigError

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Gives a vector for each text, all of the same length."""


def load_embedding(name: str) -> Embed:
    """Import the function that makes vectors."""
    module, _, attribute = name.partition(":")
    try:
        found: Any = getattr(import_module(module), attribute)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise ConfigError(
            f"`backends.postgres.embedding` names {name!r}, which can not be imported ({said});"
            " write `module:function` of something that is installed beside grove"
        ) from error
    if not callable(found):
        raise ConfigError(f"`backends.postgres.embedding` names {name!r}, which is no function")
    embed: Embed = found
    return embed


def vectors_of(embed: Embed, texts: Sequence[str]) -> list[str]:
    """Make vectors, and write them as the database reads them."""
    try:
        vectors = [[float(number) for number in vector] for vector in embed(texts)]
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise BackendError(f"the function that makes vectors has failed: {said}") from error
    sizes = {len(vector) for vector in vectors}
    sound = all(math.isfinite(number) for vector in vectors for number in vector)
    if len(vectors) != len(texts) or len(sizes - {0}) != 1 or 0 in sizes or not sound:
        raise BackendError(
            "the function that makes vectors must give one for each text, all of the same length"
            " and of finite numbers"
        )
    return ["[" + ",".join(map(repr, vector)) + "]" for vector in vectors]
