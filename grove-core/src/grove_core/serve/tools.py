"""The tools that the agent is offered: what the commands of the same names do."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grove_core.errors import GroveError
from grove_core.quotation import defuse
from grove_core.reflection.schema import REMARK_LENGTH_MAX, tool_schema
from grove_core.text import one_line

if TYPE_CHECKING:
    from grove_core.model.session import Session
    from grove_core.project import Project
    from grove_core.services.result import Result

_PROJECT_VARIABLE: Final = "CLAUDE_PROJECT_DIR"
_MOST_RESULTS: Final = 50
_TEXT: Final[Mapping[str, Any]] = {"type": "string", "minLength": 1}

Arguments = Mapping[str, Any]


class BadArgumentError(GroveError):
    """A tool was called with an argument that is none."""


def list_tools() -> Sequence[Mapping[str, Any]]:
    """List the tools."""
    remark = {**_TEXT, "maxLength": REMARK_LENGTH_MAX}
    return [
        {
            "name": "reflect",
            "description": "Write down what finished work taught; opens grove's gate. Each"
            " candidate is accepted or refused by itself. Nothing to keep? Give nothing_learned.",
            "inputSchema": tool_schema(),
        },
        _tool(
            "skip",
            "Say why finished work taught nothing worth writing down; opens grove's gate.",
            {"reason": remark},
            ["reason"],
        ),
        _tool(
            "search",
            "Search what earlier sessions learned about this project.",
            {"query": _TEXT, "limit": {"type": "integer", "minimum": 1, "maximum": _MOST_RESULTS}},
            ["query"],
            read_only=True,
        ),
        _tool(
            "ref",
            "Record that a learning helped.",
            {
                "id": {**_TEXT, "description": "The learning's id."},
                "how": {**remark, "description": "How, in a few words."},
            },
            ["id"],
        ),
        _tool(
            "observe",
            "Leave a one-line note for the agent that will reflect; for subagents.",
            {"note": _TEXT},
            ["note"],
        ),
    ]


def _tool(
    name: str,
    description: str,
    properties: Mapping[str, Any],
    required: Sequence[str],
    *,
    read_only: bool = False,
) -> Mapping[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required}
    annotations = {"annotations": {"readOnlyHint": True}} if read_only else {}
    return {"name": name, "description": description, "inputSchema": schema, **annotations}


def call_tool(name: str, arguments: Arguments, environment: Mapping[str, str]) -> Mapping[str, Any]:
    """Call a tool."""
    from grove_core.clock import now_utc
    from grove_core.project import Project
    from grove_core.services.sessions import finish_ends
    from grove_core.storage.codec import to_jsonable

    try:
        start = Path(environment.get(_PROJECT_VARIABLE) or Path.cwd())
        project = Project(start.absolute(), environment, now_utc())
        finish_ends(project)
        result = TOOLS[name](project, arguments)
        project.index_what_was_written()
    except (GroveError, OSError) as error:
        return _result([defuse(one_line(str(error)))], {"error": str(error)}, is_error=True)
    lost = [f"this counts in no numbers: {why}" for why in dict.fromkeys(project.lost_events)]
    problems = [f"plugin {one}" for one in dict.fromkeys(project.problems)]
    lines = [*result.texts, *map(defuse, map(one_line, [*result.warnings, *lost, *problems]))]
    document: Mapping[str, Any] = to_jsonable(result.document)
    return _result(lines, document, is_error=result.exit_code != 0)


def _result(
    lines: Sequence[str], document: Mapping[str, Any], *, is_error: bool
) -> Mapping[str, Any]:
    return {
        "content": [{"type": "text", "text": "\n".join(lines)}],
        "structuredContent": json.loads(defuse(json.dumps(document))),
        "isError": is_error,
    }


def _reflect(project: "Project", arguments: Arguments) -> "Result":
    from grove_core.reflection.submission import parse_submission
    from grove_core.services.reflect import submit

    submission = parse_submission(json.dumps(arguments).encode())
    return submit(*_find_session(project, submission.session_id), submission)


def _skip(project: "Project", arguments: Arguments) -> "Result":
    from grove_core.model.gate import SkipDecider
    from grove_core.services.requests import skip

    return skip(*_find_session(project), _text(arguments, "reason"), SkipDecider.AGENT)


def _search(project: "Project", arguments: Arguments) -> "Result":
    from grove_core.model.memory import Query
    from grove_core.services.learnings import Selection, search_learnings
    from grove_core.text import remove_invisible

    limit = arguments.get("limit")
    if limit is not None and (not isinstance(limit, int) or not 0 < limit <= _MOST_RESULTS):
        raise BadArgumentError(f"limit is a number from 1 to {_MOST_RESULTS}")
    query = Query(text=remove_invisible(_text(arguments, "query")))
    return search_learnings(project, query, Selection(limit=limit))


def _ref(project: "Project", arguments: Arguments) -> "Result":
    from grove_core.services.requests import refer

    how = _text(arguments, "how") if arguments.get("how") is not None else None
    learning_id = _text(arguments, "id")
    return refer(*_find_session(project), [learning_id], how)


def _observe(project: "Project", arguments: Arguments) -> "Result":
    from grove_core.services.requests import observe

    return observe(*_find_session(project), _text(arguments, "note"))


def _find_session(project: "Project", named: str | None = None) -> "tuple[Project, Session]":
    from grove_core.services.overview import find_session

    return find_session(project, named)


def _text(arguments: Arguments, name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str):
        raise BadArgumentError(f"{name} is missing, or no text")
    return value


TOOLS: Final[Mapping[str, Callable[["Project", Arguments], "Result"]]] = {
    "reflect": _reflect,
    "skip": _skip,
    "search": _search,
    "ref": _ref,
    "observe": _observe,
}
