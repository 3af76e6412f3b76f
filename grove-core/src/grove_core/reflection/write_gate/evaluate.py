"""The assessment of a candidate: a learnt sum, a few plain refusals, and advice that helps."""

import re
from collections.abc import Mapping
from typing import Final

from grove_core.model.learning import Candidate, Criterion, Rejection
from grove_core.model.value import frozen
from grove_core.reflection.data_files import load_json
from grove_core.reflection.write_gate.measures import count_words, measure, relations
from grove_core.reflection.write_gate.text import (
    MESSAGES,
    OTHER_LANGUAGES,
    PATTERNS,
    WORDS,
    Text,
    parse,
)

# How many phrases that speak for a candidate, and how many against it, are told apart.
_SHOWN: Final = 4
_OTHER_WORDS: Final = "other words"
_QUOTED: Final = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")
_LONG: Final = 40
_CLEAR: Final = 0.3
_HALF: Final = 0.5
_WORDS_SHOWN: Final = 3


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
    score: float
    threshold: float
    components: tuple[Component, ...]


def evaluate(candidate: Candidate) -> Assessment:
    """Evaluate whether a candidate says something specific, of the kind that it claims."""
    text = parse(candidate.summary, candidate.detail)
    measures = measure(text)
    weights = load_json("weights.json")
    measured = (
        Component(name, round(value, 3), round(value * weights["measures"][name], 3))
        for name, value in measures.items()
    )
    words = _words(text.phrases, weights["phrases"])
    components = (*measured, *words) if text.is_english else ()
    score = round(sum(component.points for component in components), 3)
    reason = _reason(candidate, text, measures, is_scored_low=score < weights["threshold"])
    return Assessment(
        rejection=None if reason is None else Rejection(reason=reason[1], field=reason[0]),
        score=score,
        threshold=weights["threshold"],
        components=components,
    )


def _words(said: frozenset[str], weights: Mapping[str, float]) -> tuple[Component, ...]:
    """Return what the words add: those that weigh most on either side, and the rest in one sum."""
    weighed = sorted((weights[phrase], phrase) for phrase in said if phrase in weights)
    against = [pair for pair in weighed[:_SHOWN] if pair[0] < 0]
    speaking = [pair for pair in weighed[-_SHOWN:] if pair[0] > 0]
    shown = [*reversed(speaking), *against]
    rest = sum(points for points, _ in weighed) - sum(points for points, _ in shown)
    share = (len(weighed) - len(shown)) / max(len(said), 1)
    return (
        *(Component(f'"{phrase}"', 1, points) for points, phrase in shown),
        Component(_OTHER_WORDS, round(share, 3), round(rest, 3)),
    )


def _reason(
    candidate: Candidate, text: Text, measures: Mapping[str, float], *, is_scored_low: bool
) -> tuple[str, str] | None:
    """Find the field at fault and what to do about it."""
    if _commands_reader(f"{candidate.summary}\n{candidate.detail}"):
        return "detail", MESSAGES["manipulation"]
    if text.is_raw_output:
        return "detail", MESSAGES["output"]
    if not text.is_english:
        return None if _is_worth_keeping(text) else ("detail", MESSAGES["foreign"])
    if is_scored_low:
        return "detail", _advice(text, measures)
    doubted = _implausible_claim(text, candidate.criteria_met)
    return None if doubted is None else ("criteria_met", MESSAGES[doubted.value])


def _commands_reader(text: str) -> bool:
    """Return whether a text gives orders to the agent that reads it."""
    whole = " ".join(text.lower().replace("’", "'").split())
    plain = " ".join(_QUOTED.sub(" … ", text).lower().replace("’", "'").split())
    if PATTERNS["remote_script"].search(whole) and PATTERNS["order"].search(plain):
        return True
    if PATTERNS["upload"].search(whole) and PATTERNS["agent"].search(plain):
        return True
    if any(PATTERNS[kind].search(plain) for kind in ("authority", "secrecy", "pretence")):
        return True
    sent = PATTERNS["exfiltration"].search(whole)
    return sent is not None and not PATTERNS["forbidden"].search(whole[: sent.start()][-40:])


def _is_worth_keeping(text: Text) -> bool:
    """Return whether a text in another language is specific, by its structure."""
    whole = "".join(sentence.text for sentence in text.sentences)
    names = frozenset[str]().union(*(sentence.names for sentence in text.sentences))
    # German writes all nouns with a capital: only what is no plain word counts as a name.
    named = sum(1 for name in names if not name.isalpha())
    words = frozenset(text.words)

    def count(kind: str) -> int:
        parts = OTHER_LANGUAGES[f"{kind}_in_text"]
        return len(words & OTHER_LANGUAGES[kind]) + sum(part in whole for part in parts)

    # In doubt for it: a text of some length is taken to say something.
    trust = int(len(whole) >= _LONG)
    against = count("evaluations") + 2 * (count("passing") + count("changes"))
    return trust + min(named, 3) + min(count("reasons"), 2) > against


def _implausible_claim(text: Text, claimed: frozenset[Criterion]) -> Criterion | None:
    """Find out whether none of the claimed criteria fits the text."""
    doubted = [one for one in Criterion if one in claimed and not _fits(one, text)]
    return doubted[-1] if doubted and len(doubted) == len(claimed) else None


def _fits(criterion: Criterion, text: Text) -> bool:
    if criterion is Criterion.STABLE_FACT:
        return True
    if criterion is Criterion.EXPLICIT_REQUEST:
        return _holds("request", text)
    if relations(text.sentences) or count_words("effects", text.sentences):
        return True
    return _holds("behaviour" if criterion is Criterion.BEHAVIOR_CHANGING else "decision", text)


def _holds(kind: str, text: Text) -> bool:
    return any(PATTERNS[kind].search(sentence.text) for sentence in text.sentences)


def _advice(text: Text, measures: Mapping[str, float]) -> str:
    """Say how to fix a candidate whose score is too low."""
    if measures["repeated"] > _HALF:
        return MESSAGES["repeated"]
    faults = {name: measures[name] for name in ("passing", "retold", "told", "taught")}
    faults["vague"] = (measures["vague"] + measures["urged"]) / 2
    worst = max(faults, key=lambda name: faults[name])
    if faults[worst] < _CLEAR:
        kinds = ("names", "relations", "topics")
        lacking = [kind for kind in kinds if measures[kind] < _HALF] or kinds[:2]
        missing = "; ".join(MESSAGES[f"lacks_{kind}"] for kind in lacking)
        return MESSAGES["lacks"].format(missing=missing)
    passing = (PATTERNS["passing"].search(sentence.text) for sentence in text.sentences)
    vague = dict.fromkeys(f'"{word}"' for word in text.words if word in WORDS["vague"])
    return MESSAGES[worst].format(
        sign=next((match.group() for match in passing if match), ""),
        words=", ".join(list(vague)[:_WORDS_SHOWN]) or "its general ones",
    )
