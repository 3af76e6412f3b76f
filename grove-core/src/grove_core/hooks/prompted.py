"""The short way of a prompt: answered from the index alone, while nothing else has changed.

``flow.recall`` and ``hooks.user_prompt`` are the full way; a test holds the two together.
"""

import os
import time

from grove_core import files, recall_note, settled
from grove_core.hooks import plain_session
from grove_core.hooks.plain_recall import PlainRecall, is_plain
from grove_core.hosts.claude_code_plain import PlainPayload
from grove_core.injection import VIA_PROMPT
from grove_core.retrieval.choosing import most_for_prompt
from grove_core.retrieval.named_files import asked_in, files_named_in

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from collections.abc import Callable

    from grove_core.recall_note import RecallNote
    from grove_core.settled import Document


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
        return plain_session.leave_be
    before = plain_session.read(path)
    usual = is_plain(payload.prompt_id or "") and not settled.knows_prompt(
        before, payload.prompt_id
    )
    note = _note_of(before, home) if usual else None
    if note is None:
        return None
    seconds = int(time.time())
    now = plain_session.text_of(seconds)
    search = PlainRecall(note, via=VIA_PROMPT, seconds=seconds)
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
        return plain_session.leave_be

    def tell() -> None:
        plain_session.answer("UserPromptSubmit", search.injection.text)
        search.record(before, shown, home=home, now=now)

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
    return most_for_prompt(note, sum(one["via"] == VIA_PROMPT for one in session["injected"]))


def _search(
    search: PlainRecall, note: "RecallNote", session: "Document", payload: PlainPayload, limit: int
) -> bool:
    asked = asked_in(payload.prompt)
    query = {"text": asked, "files": files_named_in(asked)}
    known = {one["learning_id"] for one in session["injected"]}
    return search.run(query, limit=limit, max_chars=note.max_chars, known=known)
