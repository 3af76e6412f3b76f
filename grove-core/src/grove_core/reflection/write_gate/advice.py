"""What the agent is told about a candidate that was refused: what to mend, and how."""

from typing import Final

from grove_core.model.learning import Criterion
from grove_core.reflection.write_gate.genericness import PASSING, VAGUE
from grove_core.reflection.write_gate.measures import Measures
from grove_core.reflection.write_gate.reading import Reading

MANIPULATION: Final = (
    "it gives orders to the agent that reads it, against its user or its rules: say what is true of"
    " the project, and leave it to people to tell agents what to do"
)
OUTPUT: Final = (
    "it is the output of a program without the lesson: say in one or two sentences what it means,"
    " what causes it and what to do, and quote at most the line that identifies it"
)
_REPEATED: Final = (
    "the detail says no more than the summary: add the cause, the consequence, or where it applies"
)
_RETOLD: Final = (
    "this says what was changed, which the history of the code tells already, not what the next"
    " person must know: name the reason, the trap behind it or the rule that follows, or leave it "
    "out"
)
_TOLD: Final = (
    "this tells how the work went: say what turned out to be true of the project, with the cause "
    "and"
    " the name of the thing, or leave it out"
)
_TAUGHT: Final = (
    "this is true in every project and can be read anywhere: say where and how it shows in this"
    " project, with the name, number or event that taught it, or leave it out"
)
_VAGUE: Final = (
    "this could be said of any project: say what exactly goes wrong or holds here, and why, and"
    " replace words such as {words} by what happens"
)
FOREIGN: Final = (
    "this names nothing of the project: name the file, number, person or case that it is about, and"
    " say why, or what happens otherwise"
)
CLAIMS: Final = {
    Criterion.EXPLICIT_REQUEST: (
        "you claim explicit_request but nothing says who asked for what: name them and quote the"
        " wish, or claim another criterion"
    ),
    Criterion.DECISION_RATIONALE: (
        "you claim decision_rationale but nothing says why: name the reason, or what was chosen "
        "over"
        " what, or claim another criterion"
    ),
    Criterion.BEHAVIOR_CHANGING: (
        "you claim behavior_changing but nothing says what to do differently, when, or what happens"
        " otherwise: say so, or claim another criterion"
    ),
}
_PASSING: Final = (
    'this will be out of date soon ("{sign}"): if there is a lasting lesson behind it, write that,'
    " with its cause; otherwise leave it out"
)
_LACKS: Final = (
    "this says too little that lasts and is particular to this project: {missing}; if it only tells"
    " of a change, of a state that passes, or what any manual says, leave it out"
)
_MISSING: Final = {
    "names": "name the file, function, command, version, number or person it is about",
    "relations": "say why it is so, when it applies, and what happens otherwise",
    "topics": "say what it is about in the words of this project rather than of programming at "
    "large",
}
_CLEAR: Final = 0.3
_HALF: Final = 0.5
_WORDS_SHOWN: Final = 3


def advice(reading: Reading, measures: Measures) -> str:
    """Return how to mend a candidate whose score is too low."""
    if measures.repeated > _HALF:
        return _REPEATED
    faults = {
        "passing": measures.passing,
        "retold": measures.retold,
        "told": measures.told,
        "taught": measures.taught,
        "vague": (measures.vague + measures.urged) / 2,
    }
    worst = max(faults, key=lambda name: faults[name])
    if faults[worst] < _CLEAR:
        return _LACKS.format(missing=_missing(measures))
    if worst == "passing":
        return _PASSING.format(sign=_sign_of_passing(reading))
    if worst == "vague":
        return _VAGUE.format(words=_vague_words(reading))
    return {"retold": _RETOLD, "told": _TOLD, "taught": _TAUGHT}[worst]


def _missing(measures: Measures) -> str:
    parts = [text for name, text in _MISSING.items() if getattr(measures, name) < _HALF] or list(
        _MISSING.values()
    )[:2]
    return "; ".join(parts)


def _sign_of_passing(reading: Reading) -> str:
    for sentence in reading.sentences:
        found = PASSING.search(sentence.text)
        if found:
            return found.group()
    return ""


def _vague_words(reading: Reading) -> str:
    found = dict.fromkeys(
        word for sentence in reading.sentences for word in sentence.words if word in VAGUE
    )
    return ", ".join(f'"{word}"' for word in list(found)[:_WORDS_SHOWN]) or "its general ones"
