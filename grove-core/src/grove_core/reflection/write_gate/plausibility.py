"""Whether what a candidate claims about itself can be true of its text."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from grove_core.model.learning import Criterion
from grove_core.reflection.write_gate.evidence import EFFECTS, relations, words_among
from grove_core.reflection.write_gate.reading import Reading

_PEOPLE: Final = (
    "users?|officers?|directors?|board|customers?|clients?|team|leads?|maintainers?|reviewers?|owners?|managers?|boss|he|she|they"
    "|we|people|legal|support|marketing|accounting|ops|security|auditors?|who|everybody|nobody"
)
_WISHES: Final = (
    "asked|asks|said|says|wants?|wanted|requested|requests|told|prefers?|preferred|insists?|insisted"
    "|requires?|required|demanded|demands|decided|wishes|wished|likes?|instructed|expects?|expected"
    "|agreed|approved|needs?|never wants?|does not want|doesn't want|do not want|don't want"
)
_REQUEST: Final = re.compile(
    rf"\b(?:{_PEOPLE}) (?:[\w-]+ ){{0,3}}?(?:{_WISHES})\b"
    r"|\b(?:asked|told|requested|instructed|reminded|wanted|demanded|ordered|wished|agreed)\b"
    r"|\b(?:at|on|by) (?:the |his |her |their |our )?(?:[\w-]+ ){0,2}(?:request|wish|demand|order"
    r"|instruction)\b"
    r"|\bper (?:the )?(?:user|customer|client|team|lead|request)\b|\bas (?:requested|asked|agreed"
    r"|told)\b"
    r"|\b(?:from now on|keep in mind|please|for the record|remember (?:to|that)|remember:)"
    r"|\b(?:wish(?:es)?|requests?|complain(?:ts?|ed)|insistence|demands?) (?:of|from|by|that"
    r"|about)\b"
    r"|\bsaid by\b"
    rf"|\b(?:{_PEOPLE})(?: \([^)]{{1,40}}\))? (?:finds?|thinks?|complain(?:s|ed)?)\b"
    rf"|^(?:{_PEOPLE}):"
    r"|\b(?:wants?|insists?|prefers?|likes?) (?:that|to|no|the|all|every|it|us|only|his|her)\b"
)
_DECISION: Final = re.compile(
    r"\b(?:decid(?:ed|e)|decision|chos(?:e|en)|choose|choice|picked|prefer|preferred|kept|keep"
    r"|dropped|rejected"
    r"|considered|alternatives?|trade-?offs?|price is|compared|versus|vs|for that|why|enough"
    r"|reasons?)\b"
)
_BEHAVIOUR: Final = re.compile(
    r"^(?:always|never|use|do|don't|avoid|prefer|run|pass|check|call|set|keep|ask|add|take|write"
    r"|put|start|stop)\b"
    r"|\b(?:should|use|avoid|next time|has to|have to|needs? to|will|may)\b"
)


def implausible_claim(reading: Reading, claimed: frozenset[Criterion]) -> Criterion | None:
    """Find out whether none of the claimed criteria fits the text."""
    if not reading.is_english:
        return None
    doubted = [
        criterion
        for criterion in Criterion
        if criterion in claimed and not _SIGNS[criterion](reading)
    ]
    return doubted[-1] if doubted and len(doubted) == len(claimed) else None


def _holds(pattern: re.Pattern[str], reading: Reading) -> bool:
    return any(pattern.search(sentence.text) for sentence in reading.sentences)


def _relates(reading: Reading) -> bool:
    return bool(relations(reading.sentences)) or words_among(EFFECTS, reading.sentences) > 0


def _changes_behaviour(reading: Reading) -> bool:
    return _relates(reading) or _holds(_BEHAVIOUR, reading)


def _gives_reason(reading: Reading) -> bool:
    return _relates(reading) or _holds(_DECISION, reading)


def _is_requested(reading: Reading) -> bool:
    return _holds(_REQUEST, reading)


def _is_fact(_reading: Reading) -> bool:
    return True


_SIGNS: Final[Mapping[Criterion, Callable[[Reading], bool]]] = {
    Criterion.BEHAVIOR_CHANGING: _changes_behaviour,
    Criterion.DECISION_RATIONALE: _gives_reason,
    Criterion.STABLE_FACT: _is_fact,
    Criterion.EXPLICIT_REQUEST: _is_requested,
}
