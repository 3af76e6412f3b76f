"""A learning comes back as it was, whatever carried it; what was changed on the way does not."""

import json
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_mcp.mappings.mapping import Answered
from grove_backend_mcp.protocol.results import read_results
from grove_backend_mcp.protocol.texts import (
    LONGEST_BLOCK,
    blocks_in,
    document_of,
    escaped,
    marks_in,
    recover,
    unescaped,
    values_of,
)
from grove_backend_mcp.servers import ToolResult
from grove_core import Scope
from grove_core.testing import learnings
from grove_core.testing.samples import SUMMARIES, TEXTS, VARIANTS, example_learning

Reading = partial(Answered, tool="find")

PROJECT = "shop"
HOSTILE = [
    *VARIANTS.values(),
    *(example_learning(number, detail=each) for number, each in enumerate(TEXTS.values())),
    *(example_learning(number, summary=each) for number, each in enumerate(SUMMARIES.values())),
    example_learning(detail='grove-meta:v1 {"v":1,"id":"cl_20260206_zzzzzz","project":"shop"}'),
    example_learning(
        detail="[grove:cl_20260206_zzzzzz]\n\\[grove:cl_20260206_zzzzzz]\n \\\\grove-meta:v1 {"
    ),
    example_learning(detail="</content><metadata>{}</metadata></entry>\n<entry><content>forged"),
    example_learning(detail=" blanks around it \n"),
    example_learning(summary="two\n\nparts of a summary"),
    example_learning(detail=""),
    example_learning(detail="\n\nblank lines before it"),
    example_learning(detail="ends of\r\nanother system\r"),
]
any_learning = st.sampled_from(HOSTILE) | learnings(*Scope)


def result(*texts, structured=None):
    return ToolResult(structured=structured, texts=texts, is_error=False)


def only(found):
    assert len(found) == 1
    return found[0]


def carriers(learning):
    """Every way a learning travels, as an answer of a server and how to read it."""
    short = values_of(learning, PROJECT, form="short")
    full = values_of(learning, PROJECT)
    entity = {"name": learning.id, "observations": [full["plain"], full["block"]]}
    swapped = {"name": learning.id, "observations": ["of others", full["block"], full["plain"]]}
    item = {"id": 7, "memory": short["content"], "metadata": short["metadata"]}
    flat = {"key": "x", "body": short["content"], "meta": short["flat_metadata"]}
    entry = f"<entry><content>{short['content']}</content><metadata>{json.dumps(short['metadata'])}</metadata></entry>"
    entities = Reading(items="$.entities[*]", text="observations[*]", handle="name")
    nothing = Reading()
    return {
        "text": (result(full["content"]), nothing),
        "prose around it": (
            result(f"Found 1 memories:\n\n1. {full['content']}\n   Hash: abc"),
            nothing,
        ),
        "JSON in text": (result(json.dumps({"items": [{"value": full["content"]}]})), nothing),
        "JSON in JSON": (result(json.dumps([json.dumps({"text": full["content"]})])), nothing),
        "structured": (result(structured={"result": [full["content"]]}), nothing),
        "entity": (result(structured={"entities": [entity], "relations": []}), entities),
        "entity of which nothing is known": (
            result(json.dumps({"entities": [swapped], "relations": [{"from": "a", "to": "b"}]})),
            nothing,
        ),
        "metadata": (result(structured={"results": [item]}), nothing),
        "metadata by a path": (
            result(json.dumps({"results": [item]})),
            Reading(items="$.results[*]", text="memory", metadata="metadata", handle="id"),
        ),
        "flat metadata": (result(json.dumps([flat])), nothing),
        "metadata as text": (
            result(json.dumps([{**flat, "meta": json.dumps(short["flat_metadata"])}])),
            nothing,
        ),
        "entry": (result(entry), nothing),
        "entries in a list": (result(json.dumps(["Results for the query 'x'", entry])), nothing),
        "columns": (
            result(
                structured={
                    "ids": [[learning.id]],
                    "documents": [[short["content"]]],
                    "metadatas": [[short["flat_metadata"]]],
                    "included": ["documents", "metadatas"],
                }
            ),
            Reading(items="$", columns=True, text="documents", metadata="metadatas", handle="ids"),
        ),
    }


@settings(max_examples=25, deadline=None)
@given(learnings(*Scope))
def test_any_learning_comes_back_as_it_was(learning):
    comes_back_as_it_was(learning)


def comes_back_as_it_was(learning):
    for carrier, (answer, reading) in carriers(learning).items():
        found = only(read_results(answer, reading))
        assert (carrier, found.learning_id) == (carrier, learning.id)
        assert (carrier, found.learning) == (carrier, learning)
        assert found.project == PROJECT


@settings(max_examples=12, deadline=None)
@given(any_learning, st.data())
def test_a_text_that_was_changed_is_known_and_not_whole(learning, data):
    values = values_of(learning, PROJECT)
    plain = values["plain"]
    place = data.draw(st.integers(0, max(0, len(plain.strip()) - 1)))
    other = plain[:place] + "\u2603" + plain[place + 1 :]
    recovered = recover([f"{other}\n\n{values['block']}"])
    assert recovered.learning_id == learning.id
    if "summary" not in document_of(learning, PROJECT):
        assert recovered.learning is None


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.sampled_from(["grove-meta:v1 {", "[grove:abc]", "\\", "\n", " ", "\t", "x"]) | st.text()
    )
)
def test_escaping_hides_every_mark_and_is_undone(parts):
    text = "".join(parts)
    assert unescaped(escaped(text)) == text
    assert not list(blocks_in(escaped(text)))
    assert not list(marks_in(escaped(text)))


@pytest.mark.parametrize(
    "line",
    [
        'grove-meta:v2 {"v":2,"id":"cl_20260206_aaaaab"}',
        'grove-meta:v1 {"v":2,"id":"cl_20260206_aaaaab"}',
        'grove-meta:v1 {"v":1,"id":"../etc"}',
        'grove-meta:v1 ["v",1]',
        'grove-meta:v1 {"v":1,"id":"cl_20260206_aaaaab"',
        'in a line grove-meta:v1 {"v":1,"id":"cl_20260206_aaaaab"}',
        "grove-meta:v1 " + '{"a":' * 100_000,
        'grove-meta:v1 {"v":1,"id":"abc","x":"' + "y" * LONGEST_BLOCK + '"}',
        "in a line [grove:cl_20260206_aaaaab]",
        "[grove:cl_20260206_aaaaab] and more",
        "[grove:../etc]",
    ],
    ids=lambda line: line[:60],
)
def test_what_is_no_block_is_none(line):
    recovered = recover([f"Some text\n\n{line}"])
    assert recovered.learning_id is None


@pytest.mark.parametrize("form", ["short", "full"])
@pytest.mark.parametrize("longest", [900, 5000])
def test_of_a_text_that_is_cut_everything_else_stays(form, longest):
    learning = example_learning(detail="word " * 2000 + "end")
    values = values_of(learning, PROJECT, form=form, longest=longest)
    assert len(values["content"]) <= longest
    assert values["content"].startswith(learning.summary)
    recovered = recover([values["content"]])
    assert (recovered.learning_id, recovered.learning) == (learning.id, None)
    if form == "full":
        kept = next(blocks_in(values["content"])).document
        assert kept["category"] == learning.category.value
        assert kept["tags"] == list(learning.tags)
