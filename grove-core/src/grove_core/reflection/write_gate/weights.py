"""The weights of the write gate, as they were learnt from labelled candidates."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from attrs import frozen

from grove_core.model.value import Value


@frozen(kw_only=True, eq=False, repr=False)
class Weights(Value):
    """What counts how much in the score of a candidate."""

    threshold: float
    measures: Mapping[str, float]
    phrases: Mapping[str, float]


@cache
def load_weights() -> Weights:
    """Read the weights that this package comes with."""
    path = Path(__file__).with_name("weights.json")
    return Weights(**json.loads(path.read_text(encoding="utf-8")))
