"""The default engine on real collections, which are not part of the repository.

``GROVE_EVAL_COLLECTIONS`` names a folder of folders that each hold ``corpus.jsonl``,
``queries.jsonl``, ``qrels.tsv`` and perhaps ``meta.json``.
"""

import os
from pathlib import Path

import pytest

from grove_core.evaluation.engines import engines_for
from grove_core.evaluation.protocol import run
from grove_core.evaluation.reading import read_collection
from grove_core.evaluation.schedule import schedule_of
from grove_core.evaluation.summary import summarise
from grove_core.plugins.engines import Engine as Judge
from grove_core.plugins.own import grove_retrieval_engines

FOLDER = os.environ.get("GROVE_EVAL_COLLECTIONS", "")
COLLECTIONS = sorted(Path(FOLDER).glob("*/corpus.jsonl")) if FOLDER else []


@pytest.mark.skipif(not COLLECTIONS, reason="GROVE_EVAL_COLLECTIONS names no folder of collections")
@pytest.mark.parametrize(
    "corpus", COLLECTIONS or [None], ids=lambda corpus: corpus.parent.name if corpus else "none"
)
def test_the_default_engine_beats_the_rules_and_is_not_below_bm25f(corpus):
    folder = corpus.parent
    collection = read_collection(corpus, folder / "queries.jsonl", folder / "qrels.tsv", None)
    judges = {
        one.name: Judge(name=one.name, floor=one.floor, score=one.score)
        for one in grove_retrieval_engines()
    }
    schedule = schedule_of(collection)
    outcomes = {
        engine.name: run(engine, schedule, lambda: None)
        for engine in engines_for(["rules", "bm25f", "default"], collection.learnings, judges)
    }
    better = {
        one.reference: one.measures
        for one in summarise(outcomes).differences
        if one.engine == "default"
    }
    for measure in ("recall@5", "ndcg@10"):
        assert better["rules"][measure].low > 0, measure
        assert better["bm25f"][measure].high >= 0, measure
