"""Measure the default engine's relevance on collections, and fit its numbers again.

Needs numpy and scikit-learn, which the project does not, and PyStemmer for the baselines: install
them into an environment that has grove-core, and give the directory that holds the collections and
their ``baseline.py``::

    python scripts/tune_retrieval.py DIRECTORY compare

``compare`` prints the engine beside the baselines, with intervals; ``ablate`` what each component
brings; ``fit`` the numbers of the log odds, which are put into ``ranking.py`` by hand; ``floor``
noise and answers by floor, pair and size. Each takes minutes.

It calls the production modules and changes their constants for a variant. The same collections give
the same numbers. A collection is scored as its ``baseline.py`` does it: only learnings older than
the query and its embargo, only the query's own project, ten of them at least, the newest first of
equals; how rare a term is comes from the learnings known at that time.
"""

import argparse
import importlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np  # type: ignore[import-not-found]
from retrieval_cases import FEATURES, SIZES, Case, gather
from retrieval_collections import Array, Collection, Json
from sklearn.linear_model import LogisticRegression  # type: ignore[import-not-found]

from grove_core.retrieval import ranking, terms

COLLECTIONS: Final = ("compound", "prs", "beads", "dupbugs")
BASELINES: Final = ("recent", "rule", "fts5", "bm25", "bm25f")
METRICS: Final = {"recall@5": 1, "mrr@10": 3, "ndcg@10": 4}
CHOSEN_NOISE: Final = 0.014
"""In the mean of the collections; below the 0.02 that are wanted, since others are kept back."""
STRENGTH: Final = 0.3  # the inverse of the regularisation
FEWEST_QUERIES: Final = 10
PRECISION: Final = 1e-6
Module = Any
Value = Any
SCALE: Final = 0.5
"""Unscaled, the best values come so close to 1 that recency and use would decide their order."""
RELATED: Final = {"beads", "gastown"}
"""One is built upon the other: that its tickets find the other's learnings is not all noise."""


def interval(differences: Array, rounds: int = 2000) -> tuple[float, float, float]:
    """Give the mean and its 95 % interval by resampling queries."""
    values = np.asarray(differences, float)
    random_numbers = np.random.default_rng(7)
    means = values[random_numbers.integers(0, len(values), (rounds, len(values)))].mean(1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(values.mean()), float(low), float(high)


def compare(collections: Sequence[Collection]) -> None:
    """Print the default engine beside the baselines of the same run."""
    means: dict[str, list[list[float]]] = defaultdict(list)
    for collection in collections:
        memo: dict[str, Any] = {}
        for scope in collection.scopes():
            rows = {"grove": collection.evaluate(collection.scorer(scope), scope)}
            rows["grove, all candidates"] = collection.evaluate(
                collection.scorer(scope, len(collection.documents)), scope
            )
            for name in BASELINES:
                engine = collection.baseline.build(
                    name, collection.documents, collection.name, memo
                )
                rows[name] = collection.evaluate(engine, scope)
            print(f"\n{collection.name}, {scope}: {len(rows['grove'])} queries")
            for name, scored in rows.items():
                line = [f"{name:22s}"]
                for metric, at in METRICS.items():
                    mean, low, high = interval(
                        [rows["grove"][query][at] - scored[query][at] for query in scored]
                    )
                    own = float(np.mean([row[at] for row in scored.values()]))
                    line.append(f"{metric} {own:.3f}  grove {mean:+.3f} [{low:+.3f}, {high:+.3f}]")
                print("  ".join(line))
                if scope == "project":
                    means[name].append(
                        [
                            float(np.mean([row[at] for row in scored.values()]))
                            for at in METRICS.values()
                        ]
                    )
    print("\nmean of the collections")
    for name, values in means.items():
        print(f"{name:22s}" + "  ".join(f"{value:.4f}" for value in np.mean(values, axis=0)))


@contextmanager
def changed(module: Module, **values: Value) -> Iterator[None]:
    """Give constants of a module other values for a while."""
    before = {name: getattr(module, name) for name in values}
    try:
        for name, value in values.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


_WORDS: Final = terms.words


def _only_parts(text: str) -> list[str]:
    return [
        word
        for chunk in terms._CHUNK.findall(text)  # noqa: SLF001 - a variant of the same module
        for segment in terms._SEGMENT_END.split(chunk)  # noqa: SLF001
        for part in terms._PART_END.split(segment)  # noqa: SLF001
        for word in _WORDS(part)
    ]


def _no_keys(_values: Iterable[str]) -> list[str]:
    return []


# Row, module, its changed constants, whether learnings have to be made into terms again.
VARIANTS: Final[tuple[tuple[str, tuple[tuple[Any, Json], ...], bool], ...]] = (
    ("no stems", ((terms, {"_stemmed": list}),), True),
    (
        "no wholes of identifiers",
        ((terms, {"words": _only_parts}), (terms, {"words": _only_parts})),
        True,
    ),
    ("no wholes of paths and dotted names", ((terms, {"_MOST_SEGMENTS": 1}),), True),
    ("no stop words", ((terms, {"STOP_WORDS": frozenset()}),), True),
    ("no extra weight of the title", ((terms, {"TITLE_WEIGHT": 1.0}),), False),
    ("each word counts once", ((terms, {"log": lambda _count: 0.0}),), False),
    ("no weight of the summary", ((ranking, {"SUMMARY_WEIGHT": 0.0}),), False),
    ("no weight of tags", ((ranking, {"TAGS_WEIGHT": 0.0}),), False),
    ("no words of paths", ((ranking, {"PATHS_WEIGHT": 0.0}),), False),
    ("no exact files", ((terms, {"FILE_WEIGHT": 0.0}),), False),
    ("no exact directories", ((terms, {"DIRECTORY_WEIGHT": 0.0}),), False),
    ("no exact tags", ((terms, {"TAG_WEIGHT": 0.0}),), False),
    (
        "no paths at all",
        (
            (ranking, {"PATHS_WEIGHT": 0.0}),
            (terms, {"FILE_WEIGHT": 0.0, "DIRECTORY_WEIGHT": 0.0}),
        ),
        False,
    ),
    ("length share 0.5", ((ranking, {"LENGTH_SHARE": 0.5}),), False),
    ("length share 0.9", ((ranking, {"LENGTH_SHARE": 0.9}),), False),
    ("saturation 2", ((ranking, {"SATURATION": 2.0}),), False),
    *(
        (f"recency to the {weight}", ((ranking, {"RECENCY_WEIGHT": weight}),), False)
        for weight in (0.0, 0.1, 0.2, 0.5, 1.0)
    ),
)


def ablate(collections: Sequence[Collection]) -> None:
    """Print what every component brings: the variant against the engine as it is."""
    before = [collection.evaluate(collection.scorer("project")) for collection in collections]
    for name, changes, reindex in VARIANTS:
        with _all_changed(changes):
            if reindex:
                for collection in collections:
                    collection.reindex()
            after = [
                collection.evaluate(collection.scorer("project")) for collection in collections
            ]
        cells, totals = [], []
        for collection, old, new in zip(collections, before, after, strict=True):
            recall = np.mean([new[query][1] - old[query][1] for query in old])
            mean, low, high = interval([new[query][4] - old[query][4] for query in old], 1000)
            totals.append((recall, mean))
            cells.append(f"{collection.name} {recall:+.3f} / {mean:+.3f} [{low:+.3f}, {high:+.3f}]")
        recall, mean = np.mean(totals, axis=0)
        print(f"{name:36s} mean {recall:+.4f} / {mean:+.4f} | " + " | ".join(cells), flush=True)
        if reindex:
            for collection in collections:
                collection.reindex()


@contextmanager
def _all_changed(changes: Sequence[tuple[Any, Json]]) -> Iterator[None]:
    if not changes:
        yield
        return
    module, values = changes[0]
    with changed(module, **values), _all_changed(changes[1:]):
        yield


def _weights(cases: Sequence[Case]) -> Array:
    """Let each collection count the same, and in it own and foreign projects."""
    groups: dict[tuple[str, bool, bool, str], int] = defaultdict(int)
    for case in cases:
        groups[_group(case)] += 1
    share = {True: 0.5, False: 1.0}
    return np.array(
        [
            share[case.size > 0] * share[case.kind == "title"] / groups[_group(case)]
            for case in cases
        ]
    )


def _group(case: Case) -> tuple[str, bool, bool, str]:
    return case.collection, case.is_own, case.size > 0, case.kind


def fitted(cases: Sequence[Case]) -> Array:
    """Fit the slopes of the log odds: what tells a project's own matter from a stranger's, scaled.

    The bias is set by hand. It moves value and floor together, and as long as the best values are
    well below 1 nothing else.
    """
    columns = np.array([case.features for case in cases])
    labels = np.array([case.is_own for case in cases])
    spread = columns.std(0) + PRECISION
    weights = _weights(cases)
    related = [not case.is_own and {case.query_project, case.project} == RELATED for case in cases]
    weights[related] = 0
    model = LogisticRegression(C=STRENGTH, max_iter=5000)
    scaled = (columns - columns.mean(0)) / spread
    model.fit(scaled, labels, sample_weight=weights / weights.mean())
    return SCALE * model.coef_[0] / spread


def fit(collections: Sequence[Collection]) -> None:
    """Print the slopes of the log odds, and how those of the other collections do on each."""
    cases = gather(collections)
    slopes = fitted(cases)
    print("slopes:", dict(zip(FEATURES, np.round(slopes, 2).tolist(), strict=True)))
    _print_rates(cases, _values(cases, slopes))
    for collection in collections:
        rest = [case for case in cases if case.collection != collection.name]
        its_slopes = fitted(rest)
        its_floor = _floor(rest, _values(rest, its_slopes), CHOSEN_NOISE)
        chosen = [case for case in cases if case.collection == collection.name]
        over = _values(chosen, its_slopes) >= its_floor
        print(f"slopes and floor without {collection.name}, on it:", _rates(chosen, over))


def _values(cases: Sequence[Case], slopes: Array) -> Array:
    """Give the log odds; without any evidence there is no value."""
    columns = np.array([case.features for case in cases])
    return np.where(columns[:, 0] > 0, columns @ slopes + ranking.BIAS, -np.inf)


def _floor(cases: Sequence[Case], values: Array, noise: float) -> float:
    """Find the lowest floor of so little noise in the mean of the collections."""
    foreign = [
        values[[_is_plain(case) and not case.is_own and case.collection == name for case in cases]]
        for name in {case.collection for case in cases}
    ]
    for floor in np.quantile(np.concatenate(foreign), np.linspace(0.8, 1, 1000), method="nearest"):
        if np.mean([(one >= floor).mean() for one in foreign]) <= noise:
            return float(floor)
    return float(values.max())


def _is_plain(case: Case) -> bool:
    return case.size == 0 and case.kind == "whole"


def _rates(cases: Sequence[Case], over: Array) -> str:
    cells = []
    for name, wanted in (("answered", True), ("noise", False)):
        chosen = np.array([_is_plain(case) and case.is_own == wanted for case in cases])
        mean, low, high = interval(over[chosen])
        cells.append(f"{name} {mean:.3f} [{low:.3f}, {high:.3f}] of {chosen.sum()}")
    return ", ".join(cells)


def _print_rates(cases: Sequence[Case], values: Array) -> None:
    for noise in (0.01, CHOSEN_NOISE, 0.02, 0.03):
        floor = _floor(cases, values, noise)
        print(f"noise {noise}, log odds {floor:.2f}, value {1 / (1 + np.exp(-floor)):.4f}")
        for name in COLLECTIONS:
            its = [case.collection == name for case in cases]
            part = [case for case, is_its in zip(cases, its, strict=True) if is_its]
            print(f"    {name:9s}", _rates(part, values[its] >= floor))


def show_floor(collections: Sequence[Collection]) -> None:
    """Print noise and answers of the engine as it is: by floor, size, kind and pair."""
    cases = gather(collections)
    values = np.array([case.value for case in cases])
    for times in (0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0):
        level = ranking.FLOOR * times
        print(f"\nfloor {level:.4f}{'  <- FLOOR' if times == 1.0 else ''}")
        for name in COLLECTIONS:
            its = [case.collection == name for case in cases]
            part = [case for case, is_its in zip(cases, its, strict=True) if is_its]
            print(f"    {name:9s}", _rates(part, values[its] >= level))
        print(f"    {'all':9s}", _rates(cases, values >= level))
    over = values >= ranking.FLOOR
    print("\nby the number of learnings: answered, noise")
    for size in (*SIZES, 0):
        chosen = [case.size == size and case.kind == "whole" for case in cases]
        print(f"    {size or 'all':5}", _answered_and_noise(cases, over, chosen))
    print("\nnothing but the title asked: answered, noise")
    for name in COLLECTIONS:
        chosen = [case.collection == name and case.kind == "title" for case in cases]
        print(f"    {name:9s}", _answered_and_noise(cases, over, chosen))
    own = [case for case in cases if _is_plain(case) and case.is_own]
    spread = np.percentile([case.shown for case in own], [25, 50, 75])
    print("\ncandidates over the floor in the own project, quartiles:", spread)
    spread = np.round(np.percentile([case.value for case in own], [5, 25, 50, 75, 95]), 4)
    print("best value in the own project, 5, 25, 50, 75, 95 %:", spread)
    _print_pairs(cases, over)


def _answered_and_noise(cases: Sequence[Case], over: Array, chosen: Sequence[bool]) -> str:
    cells = []
    for is_own in (True, False):
        mask = np.array(chosen) & np.array([case.is_own == is_own for case in cases])
        mean, low, high = interval(over[mask])
        cells.append(f"{mean:.3f} [{low:.3f}, {high:.3f}] of {mask.sum()}")
    return "   ".join(cells)


def _print_pairs(cases: Sequence[Case], over: Array) -> None:
    pairs: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for case, is_over in zip(cases, over, strict=True):
        if _is_plain(case) and not case.is_own:
            pairs[case.query_project, case.project].append(bool(is_over))
    print("\npairs of projects with any noise, of", len(pairs))
    for pair, hits in sorted(pairs.items(), key=lambda one: -float(np.mean(one[1]))):
        if len(hits) >= FEWEST_QUERIES and any(hits):
            mean, low, high = interval(np.array(hits))
            print(f"    {pair[0]} -> {pair[1]}: {mean:.3f} [{low:.3f}, {high:.3f}] of {len(hits)}")


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("task", choices=("compare", "ablate", "fit", "floor"))
    asked = parser.parse_args()
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(asked.directory))
    baseline = importlib.import_module("baseline")
    collections = [Collection(baseline, name) for name in COLLECTIONS]
    {"compare": compare, "ablate": ablate, "fit": fit, "floor": show_floor}[asked.task](collections)


if __name__ == "__main__":
    main()
