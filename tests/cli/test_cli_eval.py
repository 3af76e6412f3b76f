"""`grove eval run` and `grove eval noise` as processes, on a tiny collection of two projects."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "shop-and-blog"
MEASURES = ("recall@5", "precision@5", "mrr@10", "ndcg@10", "hit@5")
PLUGIN = """
from grove_core import EngineSpec, hookimpl

grove_api = 1


@hookimpl
def grove_retrieval_engines():
    return [
        EngineSpec(name="backwards", score=backwards, floor=0.5),
        EngineSpec(name="broken", score=broken, floor=0.5),
        EngineSpec(name="nonsense", score=lambda query, learnings: [], floor=0.5),
    ]


def backwards(query, learnings):
    return [(0.9 if one.id[-1] in "13579" else 0.1, ("odd",)) for one in learnings]


def broken(query, learnings):
    raise ValueError("no vectors today")
"""


@pytest.fixture
def collection(world):
    """A copy of the example that a test may spoil."""
    folder = world.others / "tiny"
    folder.mkdir(parents=True)
    for file in EXAMPLE.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def files_of(folder, *, judged=True):
    files = ["--corpus", folder / "corpus.jsonl", "--queries", folder / "queries.jsonl"]
    return [*files, "--qrels", folder / "qrels.tsv"] if judged else files


def asked_for(*names):
    return [word for name in names for word in ("--engine", name)]


def test_three_engines_side_by_side(world, collection):
    done = world.grove("eval", "run", *files_of(collection), "--json")
    assert (done.code, done.stderr) == (0, "")
    found = done.json
    assert (found["collection"], found["queries"], found["learnings"]) == ("tiny", 6, 25)
    assert (found["scope"], found["embargo_days"], found["warnings"]) == ("project", 1, [])
    assert found["skipped"]["few_candidates"] == found["skipped"]["nothing_relevant"] == 1
    assert list(found["engines"]) == ["rules", "bm25f", "default"]
    for engine in found["engines"].values():
        assert engine["ms_per_query"] > 0
        for name in MEASURES:
            low, high = engine["ci"][name]
            assert 0 <= low <= engine[name] <= high <= 1
    default, bm25f = found["engines"]["default"], found["engines"]["bm25f"]
    assert default["ndcg@10"] > 0.8
    assert bm25f["injected"] is bm25f["abstention"] is None
    assert default["injected"]["queries"] == 6
    assert default["abstention"]["queries"] == 1
    compared = [(one["engine"], one["reference"]) for one in found["differences"]]
    assert compared == [("bm25f", "rules"), ("default", "rules"), ("default", "bm25f")]
    for one in found["differences"]:
        expected = found["engines"][one["engine"]]["mrr@10"]
        expected -= found["engines"][one["reference"]]["mrr@10"]
        assert one["mrr@10"] == pytest.approx(expected, abs=1e-5)


def test_the_same_files_give_the_same_numbers(world, collection):
    words = ("eval", "run", *files_of(collection), "--json")
    first, second = world.grove(*words).json, world.grove(*words).json
    for found in (first, second):
        for engine in found["engines"].values():
            del engine["ms_per_query"]
    assert first == second


def test_the_baselines_and_another_scope(world, collection):
    names = ("recent", "bm25", "fts5")
    words = (*files_of(collection), *asked_for(*names, "bm25"), "--scope", "pooled", "--json")
    found = world.grove("eval", "run", *words).json
    assert list(found["engines"]) == list(names)
    assert found["scope"] == "pooled"
    assert found["engines"]["recent"]["ndcg@10"] < found["engines"]["bm25"]["ndcg@10"]
    assert [one["reference"] for one in found["differences"]] == ["recent", "recent"]


def test_engines_of_plugins_stand_beside_the_others(world, collection):
    world.install_plugin("acme_engines", PLUGIN)
    words = (*files_of(collection), *asked_for("backwards", "default"), "--json")
    done = world.grove("eval", "run", *words)
    assert (done.code, done.stderr) == (0, "")
    backwards, default = done.json["engines"].values()
    assert backwards["ndcg@10"] < default["ndcg@10"]
    assert backwards["injected"]["learnings"] > 0


def test_an_engine_that_fails_is_named_and_finds_nothing(world, collection):
    world.install_plugin("acme_engines", PLUGIN)
    done = world.grove("eval", "run", *files_of(collection), *asked_for("broken"), "--json")
    assert done.code == 1
    assert done.json["engines"]["broken"]["recall@5"] == 0
    assert done.json["engines"]["broken"]["failed"] == 7
    complaint = "the engine broken failed on 7 of 7 queries: ValueError: no vectors today"
    assert done.json["error"] == complaint
    assert f"grove: {complaint}\n" in done.stderr
    assert "score of broken" in done.stderr


@pytest.mark.parametrize("name", ["broken", "nonsense"])
def test_the_row_of_an_engine_that_fails_says_so(world, collection, name):
    world.install_plugin("acme_engines", PLUGIN)
    done = world.grove("eval", "run", *files_of(collection), *asked_for(name, "default"))
    assert done.code == 1
    rows = [line for line in done.stdout.splitlines() if line.startswith(name)]
    assert rows[0].startswith(f"{name}: failed 7 of 7")
    assert "default: failed" not in done.stdout


def test_noise_of_an_engine_that_fails_is_no_silence(world, collection):
    world.install_plugin("acme_engines", PLUGIN)
    done = world.grove("eval", "noise", *files_of(collection), *asked_for("broken"), "--json")
    assert done.code == 1
    # Eight that are asked of the other project, seven of their own.
    assert done.json["engines"]["broken"]["failed"] == 15
    assert "the engine broken failed on 15 of 15 queries" in done.json["error"]


def test_an_engine_whose_floor_is_none_is_not_measured(world, collection):
    world.install_plugin("acme_engines", PLUGIN.replace("floor=0.5", "floor=50.0", 1))
    words = (*files_of(collection), *asked_for("backwards"))
    done = world.grove("eval", "run", *words, COLUMNS="200")
    assert done.code == 2
    assert "there is no engine backwards" in done.stderr
    assert "floor of backwards" in done.stderr


def test_an_engine_that_is_not_there_since_its_plugin_is_broken(world, collection):
    world.install_plugin("acme_engines", "import nothing_like_that")
    done = world.grove("eval", "run", *files_of(collection), *asked_for("backwards"), COLUMNS="200")
    assert done.code == 2
    assert "there is no engine backwards" in done.stderr
    assert "No module named 'nothing_like_that'" in done.stderr


def test_tables_for_people(world, collection):
    done = world.grove("eval", "run", *files_of(collection))
    assert (done.code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("tiny: 6 queries, 25 learnings")
    (difference,) = [line for line in lines if line.startswith("default - bm25f")]
    assert difference.count("[") == 4
    assert world.grove("eval", "run", *files_of(collection), "-q").stdout == ""


def test_noise_by_pair_of_projects(world, collection):
    done = world.grove("eval", "noise", *files_of(collection), "--json")
    assert (done.code, done.stderr) == (0, "")
    found = done.json
    assert (found["queries"], found["projects"]) == (8, ["blog", "shop"])
    default = found["engines"]["default"]
    assert default["queries"] == 8
    assert [
        (one["queries_of"], one["learnings_of"], one["queries"]) for one in default["pairs"]
    ] == [
        ("blog", "shop", 3),
        ("shop", "blog", 5),
    ]
    assert default["injected"] == sum(one["injected"] for one in default["pairs"])
    assert default["own_project"]["queries"] == 6
    assert default["own_project"]["injected"] > 0
    shown = world.grove("eval", "noise", *files_of(collection, judged=False))
    assert shown.code == 0
    assert "own project" not in shown.stdout


def test_noise_of_another_collection(world, collection):
    other = world.others / "wiki"
    other.mkdir()
    lines = (collection / "corpus.jsonl").read_text().replace('"shop"', '"wiki"').splitlines()
    (other / "corpus.jsonl").write_text("\n".join(lines))
    words = (*files_of(collection, judged=False), "--other-corpus", other / "corpus.jsonl")
    found = world.grove("eval", "noise", *words, "--json").json
    assert found["projects"] == ["blog", "shop", "wiki/blog", "wiki/wiki"]
    default = found["engines"]["default"]
    assert default["own_project"] is None
    shop = [one for one in default["pairs"] if one["learnings_of"] == "wiki/wiki"]
    assert {one["queries_of"]: one["queries"] for one in shop} == {"shop": 5, "blog": 3}
    # A project of another collection is another one, whatever its name is.
    blog = [one for one in default["pairs"] if one["learnings_of"] == "wiki/blog"]
    assert {one["queries_of"]: one["queries"] for one in blog} == {"shop": 5, "blog": 3}
    # They are the shop's own learnings under another name.
    assert next(one for one in shop if one["queries_of"] == "shop")["injected"] > 0


def test_a_judgment_of_something_unknown_is_left_out_and_named(world, collection):
    with (collection / "qrels.tsv").open("a") as file:
        file.write("q99\tshop-01\t1\nq1\tshop-99\t1\nq2\tshop-99\t1\n")
    done = world.grove("eval", "run", *files_of(collection), "--json")
    assert done.code == 0
    assert done.json["queries"] == 6
    assert done.json["skipped"]["judgments_of_unknown_queries"] == 1
    assert done.json["skipped"]["judgments_of_unknown_learnings"] == 2
    assert "1 judgment left out, naming a query that is not in the file of queries" in done.stderr
    assert "2 judgments left out, naming a learning that is not in the corpus" in done.stderr


# --- what cannot be done ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("corpus.jsonl", '{"id": "a"\n', "corpus.jsonl:1 is no JSON"),
        ("queries.jsonl", '{"id": "q1"}\n', "queries.jsonl:1 ticket_title is missing"),
        ("qrels.tsv", "q1 shop-01 1\nq1 shop-02 1\n", "qrels.tsv:1 is no judgment"),
        ("meta.json", '{"scope": "everything"}', "meta.json: scope is 'everything'"),
    ],
)
@pytest.mark.parametrize("command", ["run", "noise"])
def test_files_that_cannot_be_used(world, collection, command, name, text, complaint):
    (collection / name).write_text(text)
    done = world.grove("eval", command, *files_of(collection), "--json")
    assert done.code == 1
    assert complaint in done.json["error"]
    assert done.stderr == f"grove: {done.json['error']}\n"


def test_without_a_query_that_counts_there_is_nothing_to_measure(world, collection):
    (collection / "qrels.tsv").write_text("q5\tblog-01\t1\n")
    done = world.grove("eval", "run", *files_of(collection))
    assert done.code == 1
    assert "no query counts: 1 have fewer than ten candidates, and 7 no relevant one" in done.stderr


def test_noise_needs_another_project(world, collection):
    lines = (collection / "corpus.jsonl").read_text().splitlines()
    (collection / "corpus.jsonl").write_text("\n".join(one for one in lines if "shop" in one))
    queries = (collection / "queries.jsonl").read_text().splitlines()
    (collection / "queries.jsonl").write_text("\n".join(one for one in queries if '"shop"' in one))
    done = world.grove("eval", "noise", *files_of(collection, judged=False))
    assert done.code == 1
    assert "name --other-corpus" in done.stderr


@pytest.mark.parametrize(
    ("command", "words", "complaint"),
    [
        ("run", ["--engine", "wishful"], "there is no engine wishful"),
        ("noise", ["--engine", "bm25"], "bm25 is a baseline"),
        ("run", ["--scope", "all"], "'all' is not one of"),
        ("run", ["--corpus", "/nowhere/corpus.jsonl"], "does not exist"),
    ],
)
def test_a_wrong_command_line(world, collection, command, words, complaint):
    done = world.grove("eval", command, *files_of(collection), *words, "--json", COLUMNS="200")
    assert (done.code, done.stdout) == (2, "")
    assert complaint in done.stderr


def test_progress_is_shown_on_a_terminal_and_apart_from_the_results(world, collection):
    ours, theirs = pty.openpty()
    words = [str(word) for word in files_of(collection)]
    done = subprocess.Popen(
        [sys.executable, "-m", "grove_core._entry", "eval", "run", *words, "--json"],
        cwd=world.project,
        env={**world.environment, "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    out, _ = done.communicate(timeout=60)
    shown = b""
    while True:
        try:
            read = os.read(ours, 65_536)
        except OSError:  # Linux's way to say that the other end is closed
            break
        if not read:
            break
        shown += read
    os.close(ours)
    assert b"default" in shown
    assert json.loads(out)["queries"] == 6


def test_it_leaves_nothing_behind(world, collection):
    """Neither in the project nor in grove's home: everything is kept in memory."""
    assert world.grove("eval", "run", *files_of(collection)).code == 0
    assert not (world.project / ".grove").exists()
    assert not (world.grove_home / "cache").exists()
