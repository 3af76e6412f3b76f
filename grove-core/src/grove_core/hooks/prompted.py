"""The short way of a prompt: answered from the index alone, while nothing else has changed.

``flow.recall`` and ``hooks.user_prompt`` are the full way; a test holds the two together.
"""

import os
import time

from grove_core import files, recall_note, settled
from grove_core.hooks import plain_session
from grove_core.hooks.plain_recall import PlainRecall, is_plain
from grove_core.hosts.claude_code_plain import PlainPayload, context_text
from grove_core.retrieval.named_files import files_named_in

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from collections.abc import Callable

    from grove_core.recall_note import RecallNote
    from grove_core.settled import Document

_VIA = "prompt"


def prompt(path: str, home: str, payload: PlainPayload) -> "Callable[[], None] | None":
    """Take notice of a prompt, and show the learnings that fit it and were not shown yet.

    Args:
        path: The session's file.
        home: grove's own directory.
        payload: What the client says.

    Returns:
        What is left to do once the session is written; ``None`` when nothing has been changed and
        the full way is to be taken.
    """
    if payload.is_notification:
        return _nothing
    before = plain_session.read(path)
    note = _note_of(before, home) if is_plain(payload.prompt_id or "") else None
    if note is None:
        return None
    seconds = int(time.time())
    now = plain_session.text_of(seconds)
    search = PlainRecall(note, via=_VIA, seconds=seconds)
    limit = _limit(note, before) if payload.prompt.strip() else 0
    if limit > 0 and not (search.is_current and _search(search, note, before, payload, limit)):
        return None
    shown = search.shown(now)
    with files.locked(path, mode=plain_session.SESSION_FILE_MODE, timeout=0):
        if plain_session.read(path) != before:
            return None
        after = settled.prompted(before, now=now, prompt_id=payload.prompt_id, shown=shown)
        plain_session.write(path, after)
    if limit <= 0:
        return _nothing

    def tell() -> None:
        search.record(before, shown, home=home, now=now)
        _say(search.injection.text)

    return tell


def _note_of(session: "Document", home: str) -> "RecallNote | None":
    """Read what is known of the project, if the prompt is about nothing else."""
    if not settled.awaits_no_prompt(session) or not plain_session.looks_the_same(session, home):
        return None
    cache = os.path.join(home, "cache", session["surroundings"]["project_key"])
    note = recall_note.read(cache, home)
    return note if note is not None and note.root == session["project_root"] else None


def _limit(note: "RecallNote", session: "Document") -> int:
    """Tell how many learnings may be shown."""
    given = sum(one["via"] == _VIA for one in session["injected"])
    return min(note.max_per_prompt, note.max_per_session - given) if note.on_prompt else 0


def _search(
    search: PlainRecall, note: "RecallNote", session: "Document", payload: PlainPayload, limit: int
) -> bool:
    query = {"text": payload.prompt, "files": files_named_in(payload.prompt)}
    known = {one["learning_id"] for one in session["injected"]}
    return search.run(query, limit=limit, max_chars=note.max_chars, known=known)


def _nothing() -> None:
    """What is left to do after a prompt for which nothing is looked up."""


def _say(text: str) -> None:
    if text:
        from grove_core.hooks.fast import say

        say(context_text("UserPromptSubmit", text))
