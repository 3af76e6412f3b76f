"""What ``grove reflect`` accepts: its JSON Schema, from the table of a candidate's fields."""

from enum import Enum
from typing import Any, Final, get_args

from attrs import NOTHING, Attribute, fields

from grove_core.model.learning import Candidate, about
from grove_core.reflection.candidates import REQUIRED

REASON_LENGTH_MIN: Final = 10
# For a remark that goes into one line of the event log: ``how``, ``why``, the reason of a skip.
REMARK_LENGTH_MAX: Final = 500

_Schema = dict[str, Any]

_ID: Final[_Schema] = {"$ref": "#/$defs/learning_id"}
_CANDIDATE: Final[_Schema] = {"$ref": "#/$defs/candidate"}


def _text(description: str, least: int = 1) -> _Schema:
    return {"description": description, "type": "string", "minLength": least}


def _array(description: str, items: _Schema, **limits: int) -> _Schema:
    return {"description": description, "type": "array", **limits, "items": items}


def _field(one: "Attribute[Any]") -> _Schema:
    """Describe a field of a candidate."""
    meaning, _, least, most, longest = about(one.name)
    if one.type is str:
        return {**_text(meaning, least), "maxLength": most}
    kind: Any = next(iter(get_args(one.type)), one.type)
    values = [each.value for each in kind] if issubclass(kind, Enum) else None
    if kind is one.type:
        default: Any = one.default
        usual = {} if default is NOTHING else {"default": default.value}
        return {"description": meaning, "enum": values, **usual}
    if values:
        return _array(meaning, {"enum": values}, minItems=least)
    item = {"type": "string", "minLength": 1, "maxLength": longest} if longest else _ID
    return _array(meaning, item, minItems=least, maxItems=most)


def _about_learnings(description: str, name: str, kind: str, *required: str) -> _Schema:
    properties = {"id": _ID, name: {"type": kind}}
    items = {"type": "object", "required": ["id", *required], "properties": properties}
    return _array(description, items)


_PROPERTIES: Final[_Schema] = {
    "session_id": _text("The session that reflects."),
    "candidates": _array("What was learned; each is accepted or refused by itself.", _CANDIDATE),
    "learnings_used": _about_learnings("Learnings that helped.", "how", "string"),
    "corrections": _about_learnings("Learnings that turned out wrong.", "why", "string"),
    "ratings": _about_learnings(
        "Whether learnings are worth showing again.", "useful", "boolean", "useful"
    ),
    "notes": {"description": "Anything else.", "type": "string"},
    "nothing_learned": _text("Why there is nothing to keep.", REASON_LENGTH_MIN),
}
_DEFINITIONS: Final[_Schema] = {
    "candidate": {
        "type": "object",
        "required": list(REQUIRED),
        "properties": {one.name: _field(one) for one in fields(Candidate)},
    },
    "learning_id": _text("The id of a stored learning."),
}

SUBMISSION_FIELDS: Final = tuple(_PROPERTIES)


def submission_schema() -> _Schema:
    """Describe a submission; its reader takes candidates without an object around them as well."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Submission to grove reflect",
        **tool_schema(),
        "anyOf": [{"required": ["candidates"]}, {"required": ["nothing_learned"]}],
    }


def tool_schema() -> _Schema:
    """Describe it as the arguments of a tool."""
    return {"type": "object", "properties": _PROPERTIES, "$defs": _DEFINITIONS}
