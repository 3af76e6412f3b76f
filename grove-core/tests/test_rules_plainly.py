"""The rule scorer takes short cuts; what it says is what it says the long way round."""

import re
from datetime import UTC, datetime
from pathlib import PurePosixPath

from hypothesis import example, given, settings
from hypothesis import strategies as st

from grove_core.model.learning import Category, Learning
from grove_core.model.memory import Query
from grove_core.retrieval.rules import keywords, overlaps, rule_relevance

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
WORD = re.compile(r"\w+(?:[-_]\w+)*")

words = st.sampled_from(
    "row rows a-row row-a row_a one-row-a tax taxi syntax n-plus-one plus-one one plus data database"
    " DATABASE ärger İstanbul straße ǅ 123 12a the a b ab".split()
)
pieces = words | st.sampled_from([*" -_.,\n\t\0/", "--", "-_-", "\u0307", "\u200b", "\ud800"])
texts = st.lists(pieces | st.text(max_size=3), max_size=12).map("".join) | st.lists(
    words, max_size=8
).map(" ".join)
tags = st.lists(words | texts, max_size=4).map(tuple)
paths = st.lists(
    st.sampled_from(["", ".", "..", "a", "b", "b.py", "a b", "\0", "ä", ".b"]), max_size=5
).map("/".join)
files = st.lists(paths | texts, max_size=4).map(tuple)
tickets = st.sampled_from(["", "T-1", "t-1"])

queries = st.builds(
    Query,
    text=texts,
    ticket_id=tickets,
    ticket_title=texts,
    ticket_description=texts,
    tags=tags,
    files=files,
    error_signature=texts,
)
learnings = st.builds(
    Learning,
    id=st.just("cl_1"),
    category=st.just(Category.PITFALL),
    summary=texts,
    detail=texts,
    session_id=st.just("s"),
    timestamp=st.just(NOW),
    tags=tags,
    context_files=files,
    ticket_id=st.none() | tickets,
)


def a_learning(**fields):
    given_fields = {"summary": "", "detail": "", **fields}
    return Learning(
        id="cl_1", category=Category.PITFALL, session_id="s", timestamp=NOW, **given_fields
    )


def plain_relevance(query, learning):
    """Compare everything with everything."""
    score = 0.0
    reasons = []
    named = keywords(f"{query.text} {query.ticket_title}")
    wanted = {*query.tags, *named}
    exact = [tag for tag in learning.tags if tag in wanted]
    partial = [tag for tag in learning.tags if any(plain_part(word, tag) for word in wanted)]
    if exact:
        score += 1.0
        reasons.append("tag " + ", ".join(exact))
    elif partial:
        score += 0.5
        reasons.append("part of tag " + ", ".join(partial))
    same = [file for file in learning.context_files if plain_overlaps(file, query.files)]
    if same:
        score += 0.8
        reasons.append("file " + ", ".join(same))
    found = plain_found(
        named | keywords(f"{query.ticket_description} {query.error_signature}"), learning
    )
    if found:
        score += 0.3 * len(found)
        reasons.append("words " + ", ".join(found))
    if query.ticket_id and query.ticket_id == learning.ticket_id:
        score += 1.0
        reasons.append(f"ticket {query.ticket_id}")
    return min(1.0, score), tuple(reasons)


def plain_part(word, tag):
    return min(len(word), len(tag)) >= 4 and (word in tag or tag in word)


def plain_overlaps(file, others):
    parts = PurePosixPath(file).parts
    for other in others:
        other_parts = PurePosixPath(other).parts
        shorter = min(len(parts), len(other_parts))
        if shorter and parts[-shorter:] == other_parts[-shorter:]:
            return True
    return False


def plain_found(wanted, learning):
    text = f"{learning.summary}\n{learning.detail}".lower()
    found = frozenset(WORD.findall(text))
    return sorted(word for word in wanted if word in found or (len(word) >= 4 and word in text))


@settings(max_examples=400)
@given(query=queries, learning=learnings)
def test_a_learning_scores_as_when_everything_is_compared(query, learning):
    assert rule_relevance(query, learning) == plain_relevance(query, learning)


@settings(max_examples=400)
@given(text=texts)
def test_short_words_count_where_they_stand_alone(text):
    query = Query(text="row tax ab_ a-b 12a")
    learning = a_learning(summary=text)
    assert rule_relevance(query, learning) == plain_relevance(query, learning)


def test_a_tag_that_spans_two_words_is_part_of_neither():
    query = Query(tags=("abcd", "efgh"))
    learning = a_learning(tags=("cd\nef", "gh\nab", "bcd"))
    assert rule_relevance(query, learning) == (0.0, ())


@settings(max_examples=50)
@given(
    asked=st.lists(st.tuples(st.integers(0, 2), learnings), max_size=8),
    three=st.tuples(*[queries] * 3),
)
def test_queries_asked_in_turn_are_not_mixed_up(asked, three):
    for which, learning in asked:
        query = three[which]
        assert rule_relevance(query, learning) == plain_relevance(query, learning)


@settings(max_examples=400)
@given(file=paths | texts, others=files)
@example(file="//a", others=("/a",))
@example(file="///a", others=("/a",))
@example(file="/", others=("//", "/./"))
@example(file="a//b/./c/", others=("./b/c",))
def test_paths_overlap_as_posix_reads_them(file, others):
    assert overlaps(file, others) is plain_overlaps(file, others)
