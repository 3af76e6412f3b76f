"""Learn the weights of the write gate from the labelled candidates that are for learning.

Needs scikit-learn, which the project does not: ``pip install scikit-learn`` into an environment
that has grove-core. It is run by hand; the same candidates give the same weights. It reads the
parts of ``tests/data/lessons`` that are for learning. Texts by strangers, which may not be
copied there, are read where they lie, as JSON lines with ``summary``, ``detail`` and ``project``:
whole documents that are worth keeping, and pull requests, which retell a change. The projects in
``HELD_OUT`` are not read. It prints how well each author is judged by what was learnt from the
others, and writes ``weights.json`` of the package.

A logistic regression over the measures and the words: a word's column is scaled by how rare it is
and by how unevenly the labels share it, so that rare telling words are shrunk less.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np  # type: ignore[import-not-found]
from attrs import frozen
from sklearn.linear_model import LogisticRegression  # type: ignore[import-not-found]

from grove_core.reflection.write_gate import parse

ROOT: Final = Path(__file__).resolve().parent.parent
WEIGHTS: Final = ROOT / "grove-core/src/grove_core/reflection/data/weights.json"
STRENGTH: Final = 0.2  # the inverse of the regularisation; 0.1 to 0.3 do about as well
MEASURE_SCALE: Final = 0.5
OCCURRENCES_MIN: Final = 5
WEIGHT_MIN: Final = 0.03
"""Words that weigh less are left out of the file."""
PASSING: Final = 0.95
SURE: Final = 0.85
"""The shares of what is worth keeping, by unknown authors, above the two thresholds."""
CUT: Final = 600
CHANGES: Final = 400
VALIDATED: Final = ("a", "b", "blind", "development", "short")
FAULTS: Final = frozenset(
    "platitude restatement retelling transient status narration vague buzzword".split()
)
HELD_OUT: Final = frozenset("compound-engineering-plugin plug dotfiles thala cinzel uv".split())
LEARNT: Final = ("development", "training", "blind", "short")
Array = Any

sys.path.insert(0, str(ROOT / "tests" / "harness"))
from lessons import load  # type: ignore[import-not-found]  # noqa: E402 - beside its tests


@frozen(kw_only=True)
class Example:
    """One labelled candidate in English."""

    author: str
    kind: str
    is_worth_keeping: bool
    measures: tuple[float, ...]
    words: frozenset[str]


@frozen(kw_only=True)
class Model:
    """A learnt formula."""

    bias: float
    measures: tuple[float, ...]
    words: Mapping[str, float]

    def score(self, example: Example) -> float:
        """Compute the score of an example."""
        words = sum(self.words.get(word, 0.0) for word in example.words)
        return self.bias + words + float(np.dot(self.measures, example.measures))


def _example(
    author: str, candidate: Mapping[str, Any], kind: str, *, is_worth_keeping: bool
) -> Example | None:
    text = parse(candidate["summary"], candidate["detail"])
    if not text.is_english:
        return None
    return Example(
        author=author,
        kind=kind,
        is_worth_keeping=is_worth_keeping,
        measures=tuple(text.measures.values()),
        words=text.phrases,
    )


def examples(documents: Path | None, changes: Path | None) -> list[Example]:
    """Read what is for learning; secrets and orders are other checks' business."""
    found: list[Example | None] = []
    for part in LEARNT:
        for item in load(part):
            if item.kind not in {"secret", "injection", "raw-log"}:
                author = item.id[0] if part == "training" else part
                keep = item.label == "keep"
                found.append(_example(author, item.candidate, item.kind, is_worth_keeping=keep))
    for one in _strangers(documents):
        # Whole, and as the beginning that somebody might send.
        for cut in (None, CUT):
            text = {**one, "detail": one["detail"][:cut]}
            found.append(_example("documents", text, "long", is_worth_keeping=True))
    found += [
        _example("changes", one, "change", is_worth_keeping=False)
        for one in _strangers(changes)[:CHANGES]
    ]
    return [one for one in found if one is not None]


def _strangers(path: Path | None) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    texts = [json.loads(line) for line in lines]
    return [one for one in texts if one["project"] not in HELD_OUT]


def learn(known: Sequence[Example]) -> Model:
    """Learn a formula; both labels weigh the same."""
    labels = np.array([example.is_worth_keeping for example in known])
    counts = Counter(word for example in known for word in example.words)
    listed = sorted(word for word, n in counts.items() if n >= OCCURRENCES_MIN)
    place = {word: n for n, word in enumerate(listed)}
    words = np.zeros((len(known), len(listed)))
    for row, example in enumerate(known):
        for word in example.words & place.keys():
            words[row, place[word]] = 1
    scale = _scale(words, labels)
    measures = np.array([example.measures for example in known]) * MEASURE_SCALE
    fitted = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=5000, tol=1e-7).fit(
        np.hstack([measures, words * scale]), labels
    )
    found = fitted.coef_[0]
    split = measures.shape[1]
    weighed = zip(listed, found[split:] * scale, strict=True)
    return Model(
        bias=float(fitted.intercept_[0]),
        measures=tuple(found[:split] * MEASURE_SCALE),
        words={word: weight for word, weight in weighed if abs(weight) >= WEIGHT_MIN},
    )


def _scale(words: Array, labels: Array) -> Array:
    """Scale words by the root of their rarity and the fourth root of how much they tell."""
    rarity = np.sqrt(np.log(len(labels) / words.sum(axis=0) + 1))
    kept = (words[labels].sum(axis=0) + 1) / labels.sum()
    refused = (words[~labels].sum(axis=0) + 1) / (~labels).sum()
    telling = np.abs(np.log(kept / refused)) ** 0.25
    scale = rarity * telling
    return scale / scale.mean()


def thresholds(known: Sequence[Example]) -> tuple[float, float]:
    """Find the scores that good candidates of unknown authors reach."""
    good: list[float] = []
    bad: list[float] = []
    for author in VALIDATED:
        model = learn([example for example in known if example.author != author])
        own = [one for one in known if one.author == author]
        good += [model.score(one) for one in own if one.is_worth_keeping]
        bad += [model.score(one) for one in own if one.kind in FAULTS]
    passing, sure = (float(np.quantile(good, 1 - share)) for share in (PASSING, SURE))
    for name, limit in (("passes", passing), ("is sure", sure)):
        rates = (np.mean(np.array(scores) >= limit) for scores in (good, bad))
        print(f"{name}: {' of good, '.join(f'{rate:.1%}' for rate in rates)} of bad")
    return passing, sure


def main() -> int:
    """Validate, learn from everything, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path, help="JSON lines of whole documents")
    parser.add_argument("--changes", type=Path, help="JSON lines of pull requests")
    options = parser.parse_args()
    known = examples(options.documents, options.changes)
    passing, sure = thresholds(known)
    model = learn(known)
    names = parse("", "").measures
    measures = (round(float(one), 2) for one in model.measures)
    document: dict[str, Any] = {
        "threshold": round(passing - model.bias, 2),
        "sure": round(sure - model.bias, 2),
        "measures": dict(zip(names, measures, strict=True)),
        "words": {word: round(weight, 2) for word, weight in sorted(model.words.items())},
    }
    WEIGHTS.write_text(json.dumps(document, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(known)} examples, {len(document['words'])} words")
    return 0


if __name__ == "__main__":
    sys.exit(main())
