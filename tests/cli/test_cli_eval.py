"""`grove eval run` and `grove eval noise` on a tiny collection of two projects."""

from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "shop-and-blog"
TEXTS = ("--corpus", EXAMPLE / "corpus.jsonl", "--queries", EXAMPLE / "queries.jsonl")
FILES = (*TEXTS, "--qrels", EXAMPLE / "qrels.tsv")
MEASURES = ("recall@5", "precision@5", "mrr@10", "ndcg@10", "hit@5")
PLUGIN = """
from grove_core import EngineSpec, hookimpl

grove_api = 1


@hookimpl
def grove_retrieval_engines():
    return [EngineSpec(name="broken", score=broken, floor=0.5)]


def broken(query, learnings):
    raise ValueError("no vectors today")
"""


def test_three_engines_side_by_side(world):
    done = world.grove("eval", "run", *FILES, "--json")
    assert (done.code, done.stderr) == (0, "")
    found = done.json
    assert (found["collection"], found["queries"], found["learnings"]) == ("shop-and-blog", 6, 25)
    assert list(found["engines"]) == ["rules", "bm25f", "default"]
    for engine in found["engines"].values():
        assert engine["ms_per_query"] > 0
        for name in MEASURES:
            low, high = engine["ci"][name]
            assert 0 <= low <= engine[name] <= high <= 1
    default, bm25f = found["engines"]["default"], found["engines"]["bm25f"]
    assert default["ndcg@10"] > 0.8
    assert bm25f["injected"] is bm25f["abstention"] is None
    assert (default["injected"]["queries"], default["abstention"]["queries"]) == (6, 1)
    compared = [(one["engine"], one["reference"]) for one in found["differences"]]
    assert compared == [("bm25f", "rules"), ("default", "rules"), ("default", "bm25f")]
    # Everything was kept in memory.
    assert not (world.project / ".grove").exists()
    assert not (world.grove_home / "cache").exists()


def test_an_engine_that_fails_is_named_and_finds_nothing(world):
    world.install_plugin("acme_engines", PLUGIN)
    done = world.grove("eval", "run", *FILES, "--engine", "broken", "--json")
    assert done.code == 1
    complaint = "the engine broken failed on 7 of 7 queries: ValueError: no vectors today"
    assert done.json["error"] == complaint
    assert f"grove: {complaint}\n" in done.stderr


def test_noise_by_pair_of_projects(world):
    done = world.grove("eval", "noise", *FILES, "--json")
    assert (done.code, done.stderr) == (0, "")
    found = done.json
    assert (found["queries"], found["projects"]) == (8, ["blog", "shop"])
    default = found["engines"]["default"]
    assert default["queries"] == 8
    pairs = [(one["queries_of"], one["learnings_of"], one["queries"]) for one in default["pairs"]]
    assert pairs == [("blog", "shop", 3), ("shop", "blog", 5)]
    assert default["injected"] == sum(one["injected"] for one in default["pairs"])
    assert default["own_project"]["injected"] > 0
    shown = world.grove("eval", "noise", *TEXTS)
    assert shown.code == 0
    assert "own project" not in shown.stdout


@pytest.mark.parametrize(
    ("command", "words", "complaint"),
    [
        ("run", ["--engine", "wishful"], "there is no engine wishful"),
        ("noise", ["--engine", "bm25"], "bm25 is a baseline"),
        ("run", ["--corpus", "/nowhere/corpus.jsonl"], "does not exist"),
    ],
)
def test_a_wrong_command_line(world, command, words, complaint):
    done = world.grove("eval", command, *FILES, *words, "--json", COLUMNS="200")
    assert (done.code, done.stdout) == (2, "")
    assert complaint in done.stderr
