"""The measures of a candidate's text, each from 0 to 1."""

from attrs import fields, frozen

from grove_core.model.value import Value
from grove_core.reflection.write_gate.evidence import (
    EFFECTS,
    EXACT,
    REASONED,
    is_pinned,
    names,
    relations,
    topics,
    words_among,
)
from grove_core.reflection.write_gate.genericness import (
    PASSING,
    circularity,
    content_words,
    definite_topics,
    is_retold,
    is_taught,
    is_told,
    is_urged,
    share,
    vague_share,
)
from grove_core.reflection.write_gate.reading import Reading, Sentence, is_topic


@frozen(kw_only=True, eq=False, repr=False)
class Measures(Value):
    """What was measured; the names are those of the page about the write gate."""

    topics: float
    known: float
    names: float
    relations: float
    effects: float
    exact: float
    pinned: float
    claims: float
    density: float
    retold: float
    passing: float
    told: float
    urged: float
    taught: float
    vague: float
    repeated: float

    def items(self) -> tuple[tuple[str, float], ...]:
        """All measures with their names, in order."""
        return tuple((each.name, getattr(self, each.name)) for each in fields(type(self)))


def measure(reading: Reading) -> Measures:
    """Measure a text."""
    sentences = reading.sentences
    lasting, reasoned = _lasting(sentences)
    own, half = topics(lasting), topics(reasoned)
    named, half_named = names(lasting), names(reasoned)
    passing = sum(len(PASSING.findall(sentence.text)) for sentence in sentences)
    topic_words = sum(1 for sentence in sentences for word in sentence.words if is_topic(word))
    claims = sum(1 for sentence in lasting if sentence.topics and not is_urged(sentence))
    return Measures(
        topics=_up_to(6, len(own) + len(half - own) / 2),
        known=_up_to(4, definite_topics(lasting)),
        names=_up_to(4, len(named) + len(half_named - named) / 2),
        relations=_up_to(4, len(relations(lasting + reasoned))),
        effects=_up_to(3, words_among(EFFECTS, lasting + reasoned)),
        exact=_up_to(4, words_among(EXACT, lasting + reasoned)),
        pinned=_up_to(3, sum(1 for sentence in lasting if is_pinned(sentence))),
        claims=_up_to(4, claims),
        density=_up_to(0.5, topic_words / (len(content_words(sentences)) + 2)),
        retold=_retold(reading),
        passing=_up_to(2, passing),
        told=share(is_told, sentences),
        urged=share(is_urged, sentences),
        taught=share(is_taught, sentences),
        vague=_up_to(0.3, vague_share(sentences)),
        repeated=_up_to(0.1, max(circularity(reading) - 0.36, 0.0)),
    )


def _lasting(
    sentences: tuple[Sentence, ...],
) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
    """Choose the sentences that may hold a lesson, and those that do if there is a reason."""
    lasting: list[Sentence] = []
    reasoned: list[Sentence] = []
    for sentence in sentences:
        if PASSING.search(sentence.text):
            continue
        if not is_retold(sentence) and not is_told(sentence):
            lasting.append(sentence)
        elif relations([sentence]) & REASONED:
            reasoned.append(sentence)
    return tuple(lasting), tuple(reasoned)


def _retold(reading: Reading) -> float:
    """Measure retelling: in the summary it is half a fault; one sentence of a detail is none."""
    in_detail = _up_to(0.4, max(share(is_retold, reading.detail) - 0.3, 0.0))
    return (share(is_retold, reading.summary) + in_detail) / 2


def _up_to(enough: float, count: float) -> float:
    return min(count / enough, 1.0)
