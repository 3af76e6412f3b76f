"""Learn the weights of the write gate from the labelled candidates that are for learning.

Needs scikit-learn, which the project does not: ``pip install scikit-learn`` into an environment
that has grove-core. It is run by hand; the same candidates give the same weights. It reads
``development.jsonl``, ``training.jsonl`` and ``blind.jsonl`` of ``tests/data/lessons``, prints how
well variants do on authors that they have not learnt from, and writes ``weights.json`` of the
package. The test half is not read. The blind set was blind for the weights before these.

The threshold is the one at which the worst of all precisions and recalls of the validated authors
is best: each puts more or less plainly what is worth keeping, and who comes next is unknown.

A logistic regression over the measures and the words: a word's column is scaled by how rare it is
and by how unevenly the labels share it, so that rare telling words are shrunk less. Every author
weighs by the number of candidates, ``keep`` and ``reject`` of each author the same.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np  # type: ignore[import-not-found]
from attrs import frozen
from sklearn.ensemble import GradientBoostingClassifier  # type: ignore[import-not-found]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-not-found]

from grove_core.reflection.candidates import ReadCandidate, read_candidate
from grove_core.reflection.write_gate.measures import measure
from grove_core.reflection.write_gate.text import parse

ROOT: Final = Path(__file__).resolve().parent.parent
WEIGHTS: Final = ROOT / "grove-core/src/grove_core/reflection/data/weights.json"
STRENGTH: Final = 0.3  # the inverse of the regularisation; 0.1 to 1 do about as well
MEASURE_SCALE: Final = 0.5  # measures are shrunk more: they were made on some of the candidates
OCCURRENCES_MIN: Final = 3
IMPORTANCE_OF_D: Final = 0.5
"""What a candidate of author "d" counts, who had seen which of the others are mistaken."""
WEIGHT_MIN: Final = 0.02
"""Words that weigh less are left out of the file."""
VALIDATED: Final = ("a", "b", "development", "blind")
Array = Any

sys.path.insert(0, str(ROOT / "tests"))
from lessons import load  # type: ignore[import-not-found]  # noqa: E402 - beside its tests


@frozen(kw_only=True)
class Example:
    """One labelled candidate in English."""

    author: str
    is_worth_keeping: bool
    measures: tuple[float, ...]
    phrases: frozenset[str]


@frozen(kw_only=True)
class Model:
    """A learnt formula."""

    bias: float
    measures: tuple[float, ...]
    phrases: dict[str, float]

    def score(self, example: Example) -> float:
        """Compute the score of an example."""
        words = sum(self.phrases.get(phrase, 0.0) for phrase in example.phrases)
        return self.bias + words + float(np.dot(self.measures, example.measures))


def examples() -> list[Example]:
    """Read what is for learning; candidates with secrets and in other languages are left out."""
    found = []
    for part in ("development", "training", "blind"):
        for item in load(part):
            candidate = read_candidate(item.candidate)
            assert isinstance(candidate, ReadCandidate), item.id
            text = parse(candidate.candidate.summary, candidate.candidate.detail)
            if item.kind == "secret" or not text.is_english:
                continue
            found.append(
                Example(
                    author=item.id.partition("-")[0] if part == "training" else part,
                    is_worth_keeping=item.label == "keep",
                    measures=tuple(measure(text).values()),
                    phrases=text.phrases,
                )
            )
    return found


def learn(
    known: Sequence[Example], *, with_measures: bool = True, with_words: bool = True
) -> Model:
    """Learn a formula."""
    labels = np.array([example.is_worth_keeping for example in known])
    counts = Counter(phrase for example in known for phrase in example.phrases)
    listed = sorted(phrase for phrase, n in counts.items() if n >= OCCURRENCES_MIN)
    words = _columns(known, listed if with_words else [])
    scale = _scale(words, labels)
    measures = np.array([example.measures for example in known]) * MEASURE_SCALE * with_measures
    fitted = LogisticRegression(C=STRENGTH, max_iter=5000, tol=1e-7).fit(
        np.hstack([measures, words * scale]), labels, sample_weight=_importance(known)
    )
    found = fitted.coef_[0]
    split = measures.shape[1]
    return Model(
        bias=float(fitted.intercept_[0]),
        measures=tuple(found[:split] * MEASURE_SCALE * with_measures),
        phrases=dict(zip(listed, found[split:] * scale, strict=False)),
    )


def _columns(known: Sequence[Example], listed: Sequence[str]) -> Array:
    place = {phrase: n for n, phrase in enumerate(listed)}
    columns = np.zeros((len(known), len(listed)))
    for row, example in enumerate(known):
        for phrase in example.phrases & place.keys():
            columns[row, place[phrase]] = 1
    return columns


def _scale(words: Array, labels: Array) -> Array:
    """Scale words by the root of their rarity and the fourth root of how much they tell."""
    if not words.shape[1]:
        return np.ones(0)
    rarity = np.sqrt(np.log(len(labels) / words.sum(axis=0)))
    kept = (words[labels].sum(axis=0) + 1) / labels.sum()
    refused = (words[~labels].sum(axis=0) + 1) / (~labels).sum()
    telling = np.abs(np.log(kept / refused)) ** 0.25
    return rarity / rarity.mean() * telling / telling.mean()


def _importance(known: Sequence[Example]) -> Array:
    pairs = Counter((example.author, example.is_worth_keeping) for example in known)
    authors = Counter(example.author for example in known)
    return np.array(
        [
            (IMPORTANCE_OF_D if example.author == "d" else 1.0)
            * authors[example.author]
            / (2 * pairs[example.author, example.is_worth_keeping])
            for example in known
        ]
    )


# --- validation across authors ------------------------------------------------------------------


def scores_of_strangers(known: Sequence[Example], **variant: bool) -> list[tuple[Example, float]]:
    """Score the examples of each validated author by what was learnt from all others."""
    found = []
    for author in VALIDATED:
        model = learn([example for example in known if example.author != author], **variant)
        strangers = [example for example in known if example.author == author]
        found += [(example, model.score(example)) for example in strangers]
    return found


def boosted(known: Sequence[Example]) -> list[tuple[Example, float]]:
    """Score the examples of each validated author by gradient boosting over the measures."""
    found = []
    for author in VALIDATED:
        others = [example for example in known if example.author != author]
        strangers = [example for example in known if example.author == author]
        trees = GradientBoostingClassifier(n_estimators=150, subsample=0.7, random_state=0).fit(
            [e.measures for e in others], [e.is_worth_keeping for e in others]
        )
        points = trees.decision_function([e.measures for e in strangers])
        found += list(zip(strangers, points, strict=True))
    return found


def balance(scored: Sequence[tuple[Example, float]]) -> tuple[float, float, float]:
    """Find the threshold at which precision and recall are alike."""
    thresholds = sorted({points for _, points in scored})
    best = max(thresholds, key=lambda one: min(_rates(scored, one)))
    return best, *_rates(scored, best)


def _validate(known: Sequence[Example]) -> float:
    """Print how the variants do, and give the threshold of the one that is shipped."""
    variants = {
        "measures only": scores_of_strangers(known, with_words=False),
        "words only": scores_of_strangers(known, with_measures=False),
        "gradient boosting over measures": boosted(known),
        "both": scores_of_strangers(known),
    }
    strangers = variants["both"]
    print("| variant | " + " | ".join(VALIDATED) + " | together |")
    print("|---|" + "---|" * (len(VALIDATED) + 1))
    for name, scored in variants.items():
        parts = [[pair for pair in scored if pair[0].author == author] for author in VALIDATED]
        shown = [balance(part) for part in (*parts, scored)]
        print(f"| {name} | " + " | ".join(f"{p:.3f} / {r:.3f}" for _, p, r in shown) + " |")
    parts = [[pair for pair in strangers if pair[0].author == one] for one in VALIDATED]
    thresholds = sorted({points for _, points in strangers})
    return max(thresholds, key=lambda one: min(min(_rates(part, one)) for part in parts))


def _rates(scored: Sequence[tuple[Example, float]], threshold: float) -> tuple[float, float]:
    """Give precision and recall at a threshold."""
    kept = [example for example, points in scored if points >= threshold]
    right = sum(example.is_worth_keeping for example in kept)
    return right / max(1, len(kept)), right / sum(one.is_worth_keeping for one, _ in scored)


def main() -> int:
    """Validate, learn from everything, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-validation", action="store_true", help="keep the threshold")
    options = parser.parse_args()
    known = examples()
    old = json.loads(WEIGHTS.read_text(encoding="utf-8")) if options.no_validation else {}
    model = learn(known)
    threshold = old.get("threshold") or round(_validate(known) - model.bias, 2)
    names = list(measure(parse("", "")))
    listed = {
        phrase: round(weight, 2)
        for phrase, weight in sorted(model.phrases.items())
        if abs(weight) >= WEIGHT_MIN
    }
    weights = [round(float(one), 2) for one in model.measures]
    document = {
        "threshold": threshold,
        "measures": dict(zip(names, weights, strict=True)),
        "phrases": listed,
    }
    WEIGHTS.write_text(json.dumps(document, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(known)} examples, {len(listed)} phrases, threshold {threshold}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
