"""What speaks against a candidate: sentences that tell the next reader nothing that lasts."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from grove_core.reflection.write_gate.evidence import EFFECTS, names
from grove_core.reflection.write_gate.reading import Reading, Sentence
from grove_core.reflection.write_gate.vocabulary import FUNCTION_WORDS, stem

_CHANGED: Final = (
    "added|adjusted|aligned|applied|bumped|changed|cleaned|committed|completed|configured|converted"
    "|corrected|covered|created|deleted|deployed|disabled|documented|enabled|enhanced|exposed"
    "|extended|extracted|finished|fixed|implemented|improved|inlined|integrated|introduced|made"
    "|merged|migrated|modified|moved|optimi[sz]ed|polished|ported|pushed|redesigned|refactored"
    "|reformatted|regenerated|registered|removed|renamed|reorgani[sz]ed|replaced|resolved"
    "|restructured|reverted|reworked|rewritten|rewrote|set up|simplified|split|swapped|switched"
    "|tweaked|updated|upgraded|wired|written|wrote|wrapped"
)
RETOLD: Final = re.compile(
    r"^(?:this|that|the|my|our|in this) (?:pr|mr|commit|change|patch|branch|pull request|diff"
    r"|task)\b"
    rf"|^(?:also |then |finally |successfully |and |just |has |have )?(?:{_CHANGED})\b"
    rf"|\b(?:was|were|been|got|is now|are now) (?:\w+ly )?(?:now )?(?:{_CHANGED})\b"
    rf"|\b(?:i|we|i've|we've|and|,) (?:also |then |just |now |have |had )?(?:{_CHANGED})\b"
    rf"|(?<!is )(?<!are )(?<!be )\b(?:{_CHANGED}) (?:with|by|to|into|in)\b"
    r"|\btests? (?:now )?(?:pass|ok|green)\b|\beverything (?:now )?works\b"
    r"|^(?:changes|new (?:endpoint|field|column|method|class|function|component|page|button"
    r"|option))\b"
    r"|\bthe (?:old|former|hand-written|unused|two|three) (?:[\w-]+ ){1,3}(?:is|are|was|were)"
    r" (?:gone|out)\b"
    r"|\b(?:is|are) gone\b|\bconsists? of (?:two|three|four|five)\b|\btests (?:prove|cover)\b"
    r"|\bnow (?:uses|has|have|reads|returns|supports|knows|validates|calls)\b|\bnow[.]?$|\bbecame\b"
)
PASSING: Final = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|right now|just now|for now|at the moment|for the moment"
    r"|as of (?:now|today|this)|currently|in the meantime|later today|until then|in an hour"
    r"|(?:this|next|last) (?:morning|afternoon|evening|week|sprint|session|iteration)|sprint \d"
    r"|this (?:pr|mr|branch|pull request|session|conversation)|my (?:branch|machine|laptop)"
    r"|(?:until|by|till|this|next) (?:mon|tues|wednes|thurs|fri)day"
    r"|(?:this|next|last) month|till then|used up|todo|fixme|wip|waiting (?:for|on)"
    r"|waits for (?:review|approval|feedback|the merge)|awaiting|pending|in review|under review"
    r"|in progress"
    r"|half done|% done|so far|not (?:yet )?(?:merged|finished|done|started|reviewed|deployed)"
    r"|still (?:needs?|open|red|failing|pending|waiting|missing|ha[sv]e? to|to do|to be|running"
    r"|down|broken)|remaining|follow-?up|temporar(?:y|ily)|blocked (?:on|by)|(?:is|are) (?:red"
    r"|down)"
    r"|left to do|next steps?|open points?|come back|once [^.]{1,40} (?:been|is) merged"
    r"|will (?:be )?(?:continue|look|finish|fix|add|re-?enabled|merge|investigate|compare|confirm)"
    r"|meanwhile|for the time being|until (?:further notice|we|she|he|they)"
    r"|(?:go|goes) on (?:with|from)"
    r"|continue with|(?:is|are|be) back|on holiday|no decision|nothing decided"
    r"|(?:has not|have not|hasn't|haven't) (?:answered|arrived|come|been)"
    r"|(?:was|were|is|are) (?:promised|expected|scheduled|ordered)|over the weekend|by the weekend"
    r"|after (?:lunch|the weekend|the milestone)|next would be|expect (?:an )?answer"
    r"|i'll|restart later|has to be rebased|to be continued)\b"
)
TOLD: Final = re.compile(
    r"(?<![-\w])(?:i|i'm|i've|i'd|i'll)(?= [a-z])"
    r"|\b(?:we|agent|assistant) (?:\w+ )?(?:spent|looked|worked|learned|learnt|managed|discovered"
    r"|noticed|debugged|investigated|struggled|explored|enjoyed|found out)\b"
    r"|^(?:spent|looked|worked|learned|learnt|investigated|explored|discussed|debugged|started by"
    r"|went|successfully|finally|tried (?:several|many|some|a few|various|out|to))\b"
    r"|\b(?:great|awesome|excellent|amazing|fantastic|wonderful|smoothly|smooth|nicely|happy|proud"
    r"|pleased|pleasure|satisfied|impressive|perfectly|well done|good job|teamwork|productive"
    r"|thanks|thx|valuable insights?|very interesting|had fun|a lot done|pays? off|rewarding"
    r"|many attempts|culprit|successful|successfully|worked well|quickly)\b"
)
URGED: Final = re.compile(
    r"^(?:please |always |never )?(?:always|never|make sure|ensure|remember|be|don't|do not|try"
    r"|consider"
    r"|keep|avoid|use|write|take|pay|think|follow|prefer|check|read|document|validate|handle|test"
    r"|review|update|choose|measure|optimi[sz]e|focus|strive|ask|watch|plan|invest|extract|put)\b"
    r"|\b(?:should|it(?:'s| is) (?:important|best|good|better|crucial|essential|necessary|vital"
    r"|helpful)|important|need to|needs to|have to be|has to consider|best practices?|crucial"
    r"|essential|matters?|must be)\b"
)
TAUGHT: Final = re.compile(
    r"\b(?:is|are) (?:a|an) (?:[\w-]+ ){0,3}(?:that|which|for|of|system|language|tool|framework"
    r"|library|pattern|method|structure|mechanism)\b|\bstands? for\b|\brefers? to\b"
    r"|\bconsists? of\b"
    r"|\b(?:is|are) (?:commonly |often |typically |usually |generally )?(?:used (?:to|for)|known as"
    r"|called|defined as)\b|\ballows? (?:you|us|developers|users|programmers|one)\b"
    r"|\bin (?:computer science|programming|software|general|python|java|javascript|rust|go|git"
    r"|c)\b"
    r"|\b(?:developers|programmers|attackers?|recommends?|commonly|typically|generally|usually"
    r"|often)\b|\byour?\b"
)
VAGUE: Final = frozenset(
    """
    properly proper carefully careful various tricky stuff somehow appropriate appropriately good
    better best clean cleaner robust quality important importance issue issues problem problems nice
    efficient efficiently correctly necessary relevant certain several some well easier easily easy
    maintainable readable readability maintainability simple simpler effective useful helpful
    crucial essential thorough thoroughly consistent consistently consistency complex complicated
    many lot
    sometimes weird strange strangely maybe perhaps might could probably possibly seems seem
    apparently interesting difficult hard bad help helps improve improves improved improvement save
    saves prevent prevents reduce reduces regularly early reliable reliability mistake mistakes
    unexpected gracefully common frequently often maintenance burden cheaper depends depending
    understand understood principle principles practice practices risk risks future harder valuable
    circumstances factors noticeable unclear misunderstandings fragile subtle flexible scalable
    """.split()
)
_CLAUSE: Final = re.compile(r"\b(?:when|because|since|after|although|if|once|until|before)\b")
_DETERMINERS: Final = frozenset(
    "the our this that these those its each every both their his her two three no".split()
)
_REPETITION_NEW_MAX: Final = 2


def content_words(sentences: Sequence[Sentence]) -> list[str]:
    """List the stems of all words that are no mere function words."""
    return [
        stem(word)
        for sentence in sentences
        for word in sentence.words
        if word not in FUNCTION_WORDS
    ]


def is_told(sentence: Sentence) -> bool:
    """Return whether a sentence tells a story, or praises."""
    return TOLD.search(sentence.text) is not None


def is_urged(sentence: Sentence) -> bool:
    """Return whether a sentence gives advice."""
    return URGED.search(sentence.text) is not None


def is_taught(sentence: Sentence) -> bool:
    """Return whether a sentence speaks in the manner of a textbook."""
    return TAUGHT.search(sentence.text) is not None


def share(is_of_kind: Callable[[Sentence], bool], sentences: Sequence[Sentence]) -> float:
    """Measure how many sentences are of a kind."""
    return sum(map(is_of_kind, sentences)) / max(len(sentences), 1)


def is_retold(sentence: Sentence) -> bool:
    """Return whether a sentence only says what was changed."""
    found = RETOLD.search(sentence.text)
    if found is None or not EFFECTS.isdisjoint(sentence.words):
        return False
    return not _CLAUSE.search(sentence.text[: found.start()])


def vague_share(sentences: Sequence[Sentence]) -> float:
    """Measure how much of a text is evaluation and vagueness."""
    vague = sum(1 for sentence in sentences for word in sentence.words if word in VAGUE)
    return vague / (len(content_words(sentences)) + 2)


def circularity(reading: Reading) -> float:
    """Measure how far a text goes round in a circle."""
    if reading.code_lines or not reading.detail:
        return 0.0
    said = set(content_words(reading.summary))
    added = set(content_words(reading.detail)) - said
    new_names = names(reading.detail) - names(reading.summary)
    if len(added) + 2 * len(new_names) <= _REPETITION_NEW_MAX:
        return 1.0
    words = [*content_words(reading.sentences), *new_names]
    return 1 - len(set(words)) / max(len(words), 1)


def definite_topics(sentences: Sequence[Sentence]) -> int:
    """Count the topics that are spoken of as known things: "the carrier", not "carriers"."""
    found: set[str] = set()
    for sentence in sentences:
        for position, word in enumerate(sentence.words):
            before = sentence.words[max(position - 2, 0) : position]
            base = stem(word.partition("'")[0])
            if base in sentence.topics and not _DETERMINERS.isdisjoint(before):
                found.add(base)
    return len(found)
