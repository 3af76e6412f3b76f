"""Text that grove has shown in this session and that comes back as if it were new."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from grove_core.model.learning import Candidate, Rejection
from grove_core.model.value import Value
from grove_core.reflection.limits import SUMMARY_LENGTH_MAX
from grove_core.reflection.similarity import stems
from grove_core.text import clean_line

_NEW_SHARE: Final = 0.2
_NEW_TERMS: Final = 4
_SAID_MIN: Final = 3


@frozen(kw_only=True, eq=False, repr=False)
class ShownText(Value):
    """A text that grove has put before the agent."""

    text: str
    learning_id: str = ""
    summary: str = ""


def find_echo(candidate: Candidate, shown: Sequence[ShownText]) -> Rejection | None:
    """Object to a candidate that merely repeats what was shown."""
    said = stems(f"{candidate.summary} {candidate.detail}")
    texts = [one for one in shown if one.learning_id not in candidate.supersedes]
    if len(said) < _SAID_MIN or not texts:
        return None
    terms = [stems(one.text) for one in texts]
    nearest = max(range(len(texts)), key=lambda place: len(said & terms[place]))
    # One text must hold it: the words of many together hold almost anything.
    new = said - terms[nearest]
    if len(new) >= _NEW_TERMS or len(new) > _NEW_SHARE * len(said):
        return None
    return _rejection(texts[nearest])


def _rejection(shown: ShownText) -> Rejection:
    if not shown.learning_id:
        return Rejection(
            reason="this is the text of grove's own form: put in its place what the work taught",
            field="summary",
        )
    summary = clean_line(shown.summary, SUMMARY_LENGTH_MAX)
    return Rejection(
        reason=(
            f'says only what {shown.learning_id} ("{summary}") has told you in this session:'
            f' if it helped, put {{"id": "{shown.learning_id}", "how": "..."}} into'
            ' "learnings_used"; if you found out more, submit that; if it is wrong, correct it with'
            f' "supersedes": ["{shown.learning_id}"]'
        ),
        field="detail",
        existing_id=shown.learning_id,
    )
