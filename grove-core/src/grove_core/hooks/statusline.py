"""``grove statusline``: what a session was shown and owes, in one line, from its file alone."""

import json
import os

from grove_core.hooks import session_id_in
from grove_core.hooks.fast import home, read_stdin, say

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PENDING = ("pending", "blocked")
_LONGEST_NAMES = 40


def run() -> int:
    """Print the line for the session that the client names on standard input."""
    session_id = "" if os.isatty(0) else session_id_in(read_stdin()).decode("ascii")
    try:
        with open(os.path.join(home(), "sessions", f"{session_id}.json"), "rb") as file:
            session = json.loads(file.read())
        return say(f"{status_line(session)}\n")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return 0  # grove knows nothing of it, and an empty line is none


def status_line(session: "dict[str, Any]") -> str:
    """Say what was shown, used and written, and whether a reflection is pending."""
    shown, gate = session["injected"], session["gate"]
    used = [one for one in shown if one["outcome"] == "referenced"]
    counts = {"shown": shown, "used": used, "learned": session["written"]}
    said = [f"{len(some)} {what}" for what, some in counts.items() if some]
    if gate["status"] in _PENDING:
        names = (one["ticket_id"] for one in (gate["cycle"] or {}).get("tickets", ()))
        tickets = "".join(filter(str.isprintable, ", ".join(filter(None, names))))
        said.append(f"reflection pending {tickets[:_LONGEST_NAMES]}".strip())
    return f"grove {' · '.join(said)}".strip()
