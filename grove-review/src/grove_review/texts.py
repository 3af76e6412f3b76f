"""What is said to agents: why they are held, and what opens the way."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from grove_core import GateCall
from grove_review.state import Cycle

DEFAULT: Final = "default"
_BUILT_IN: Final = Path(__file__).with_name("templates") / f"block-{DEFAULT}.md"
ASKED_BY_PROMPT: Final = (
    "grove: the user wants this work reviewed. When it is done, and before you finish, have the"
    " reviewer agent look at it; grove holds you until it has decided."
)
SWITCHED_OFF: Final = "grove: the review that was owed is called off by the user."
_ID: Final = re.compile(r"[\w.#/:@-]{1,64}")
_LARGEST_TEMPLATE: Final = 6_000
LONGEST_MESSAGE: Final = 6_000
"""Characters of a reviewer's message, which is given whole."""


def read_templates(folder: Path, weights: Mapping[str, int]) -> dict[str, str]:
    """Read the messages that the settings name; one that is missing gives way to the default."""
    found = {}
    for name in weights:
        if text := _template(folder, name):
            found[name] = text
    if not found:
        found[DEFAULT] = _BUILT_IN.read_text("utf-8")
    return found


def _template(folder: Path, name: str) -> str:
    if not name.replace("-", "").replace("_", "").isalnum():
        return ""
    try:
        with (folder / f"block-{name}.md").open(encoding="utf-8") as file:
            return file.read(_LARGEST_TEMPLATE)
    except (OSError, UnicodeError):
        if name != DEFAULT:
            return ""
    return _BUILT_IN.read_text("utf-8")


def filled(template: str, call: GateCall, cycle: Cycle, reviewers: Sequence[str]) -> str:
    """Fill a block message's placeholders."""
    places = {
        "session_id": call.session_id,
        "about": cycle.about,
        "reviewer": " or ".join(reviewers),
        "tickets": ", ".join(named(one.ticket_id) for one in call.tickets) or "none",
        "previous_issues": _previous(cycle),
    }
    for name, text in places.items():
        template = template.replace(f"{{{{{name}}}}}", text)
    return "\n".join(line for line in template.splitlines() if line.strip())


def named(ticket_id: str | None) -> str:
    """Name a ticket; an id that could be read as a sentence is not said."""
    return ticket_id if ticket_id and _ID.fullmatch(ticket_id) else "a ticket"


def _previous(cycle: Cycle) -> str:
    if not cycle.issues:
        return ""
    return f"The last review found: {quoted(cycle.issues[-1].message)}"


def issues(session_id: str, cycle: Cycle, reviewers: Sequence[str]) -> str:
    """Give the reviewer's message whole."""
    found = cycle.issues[-1]
    again = f"Look into each of them. Then have {_who(reviewers)} look again"
    return "\n".join(
        [
            "grove: the reviewer has found issues in your work. What it says:",
            quoted(found.message),
            f"{again}, and give it SESSION_ID={session_id}.",
        ]
    )


def denial(session_id: str, cycle: Cycle, reason: str, reviewers: Sequence[str]) -> str:
    """Say why a call may not run yet."""
    if cycle.is_message_due:
        return issues(session_id, cycle, reviewers)
    return (
        f"grove: this call needs an approval first ({reason}). Have {_who(reviewers)} look at the"
        f" work: start it as a subagent with SESSION_ID={session_id}, a summary and the changed"
        " files. When it has approved, make the same call again. Nothing was run."
    )


def undecided(session_id: str) -> str:
    """Remind a reviewer of its decision."""
    return "\n".join(
        [
            "grove: the review has no decision yet. Run one of these, and then finish:",
            f"grove reviewer decide {session_id} COMPLETE 'what you have verified'",
            f"grove reviewer decide {session_id} ISSUES 'in short' --message 'what is to be done'",
        ]
    )


def only_a_reviewer(reviewers: Iterable[str]) -> str:
    """Refuse a decision to all others."""
    who = _who(list(reviewers))
    return f"grove: only {who} may decide on a review, as a subagent; you cannot do it yourself."


def given_up(cycle: Cycle) -> str:
    """Say that the agent is let go."""
    return f"the review was asked for and not given ({cycle.about}); the agent is let go"


def quoted(text: str) -> str:
    """Quote what an agent wrote, so that no line of it passes for grove's own."""
    lines = text.splitlines()
    return "\n".join(f"> {''.join(filter(str.isprintable, line))}".rstrip() for line in lines)


def _who(reviewers: Sequence[str]) -> str:
    return f"the agent {' or '.join(reviewers)}"
