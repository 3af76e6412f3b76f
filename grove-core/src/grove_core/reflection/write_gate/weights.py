"""The weights of the write gate, as they were learnt from labelled candidates.

``scripts/train_write_gate.py`` writes them to ``weights.json`` beside this file.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from attrs import frozen

from grove_core.model.value import Value


@frozen(kw_only=True, eq=False, repr=False)
class Weights(Value):
    """What counts how much in the score of a candidate.

    Attributes:
        threshold: The least score of a candidate that is worth keeping.
        measures: What each measure adds, times its value, by its name.
        phrases: What each word or pair of words adds if it occurs.
    """

    threshold: float
    measures: Mapping[str, float]
    phrases: Mapping[str, float]


@cache
def load_weights() -> Weights:
    """Read the weights that this package comes with.

    Returns:
        The weights; they are read once.
    """
    path = Path(__file__).with_name("weights.json")
    return Weights(**json.loads(path.read_text(encoding="utf-8")))
