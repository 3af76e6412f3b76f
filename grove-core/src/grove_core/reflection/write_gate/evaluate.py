"""The assessment of a candidate: a learnt sum of its words, and what would help it."""

from typing import Final

from grove_core.model.learning import Candidate, Rejection
from grove_core.model.value import frozen
from grove_core.reflection.data_files import load_json
from grove_core.reflection.write_gate.text import Text, parse, vocabulary
from grove_core.text import shorten

REASON_LENGTH_MAX: Final = 160
# How many words that speak for a candidate, and how many against it, are told apart.
_SHOWN: Final = 4
_WORDS_QUOTED: Final = 2
_OTHER_WORDS: Final = "other words"


@frozen
class Component:
    """One term of the score."""

    name: str
    value: float
    points: float


@frozen
class Assessment:
    """What the write gate thinks of a candidate."""

    rejection: Rejection | None
    hint: str
    """What would help one that passes by little, or whose language is not known."""
    score: float
    threshold: float
    components: tuple[Component, ...]


def evaluate(candidate: Candidate) -> Assessment:
    """Evaluate whether a candidate says something that is worth keeping."""
    text = parse(candidate.summary, candidate.detail)
    weights = load_json("weights.json")
    measured = [
        Component(name, round(value, 3), round(value * weights["measures"][name], 3))
        for name, value in text.measures.items()
    ]
    listed: dict[str, float] = weights["words"]
    phrases = {one: listed[one] for one in text.phrases if one in listed}
    components = (*measured, *_strongest(phrases, len(text.phrases))) if text.is_english else ()
    score = round(sum(one.points for one in components), 3)
    low, sure = weights["threshold"], weights["sure"]
    advice = _advice(candidate.summary, text, phrases) if score < sure else ""
    is_refused = text.is_english and score < low
    return Assessment(
        rejection=Rejection(reason=advice, field="detail") if is_refused else None,
        hint="" if is_refused else advice,
        score=score,
        threshold=low,
        components=components,
    )


def _strongest(phrases: dict[str, float], said: int) -> list[Component]:
    """Return the words that weigh most on either side, and the rest in one sum."""
    weighed = sorted((points, word) for word, points in phrases.items())
    against = [pair for pair in weighed[:_SHOWN] if pair[0] < 0]
    speaking = [pair for pair in reversed(weighed[-_SHOWN:]) if pair[0] > 0]
    shown = [Component(f'"{word}"', 1, points) for points, word in (*speaking, *against)]
    rest = sum(phrases.values()) - sum(one.points for one in shown)
    share = (len(phrases) - len(shown)) / max(said, 1)
    return [*shown, Component(_OTHER_WORDS, round(share, 3), round(rest, 3))]


def _advice(summary: str, text: Text, phrases: dict[str, float]) -> str:
    """Name what this text lacks, and show its summary with that added."""
    is_nowhere = not text.names and not text.topics
    plain = vocabulary().little_words
    words = [
        one
        for one, word in text.words.items()
        if one.isalpha() and word not in plain and phrases.get(one, 0) < 0
    ]
    against = sorted(words, key=lambda one: phrases[one])
    quoted = ", ".join(f'"{text.words[one]}"' for one in against[:_WORDS_QUOTED])
    if not text.is_english:
        missing, added = "Only English can be judged", "because …"
    elif is_nowhere:
        missing, added = "It names no file, number or thing of this project", "in FILE, because …"
    elif text.passing:
        missing, added = f'"{min(text.passing)}" will soon be over', "because …; else …"
    elif not text.relations:
        missing, added = "It says neither why, nor when, nor what else happens", "because …; else …"
    elif quoted:
        missing, added = f"Words such as {quoted} could stand for any work", "otherwise …"
    else:
        missing, added = "It says little that the next session would not do anyway", "otherwise …"
    room = REASON_LENGTH_MAX - len(f'{missing}; say for example: "… {added}".')
    return f'{missing}; say for example: "{shorten(summary.rstrip(" .!"), room)} {added}".'
