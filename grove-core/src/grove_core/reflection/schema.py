"""The JSON Schema of what ``grove reflect`` accepts, from the table of a candidate's fields."""

from typing import Any, Final

from grove_core.reflection.candidates import FIELDS, REQUIRED, text_schema
from grove_core.reflection.limits import NOTHING_LEARNED_LENGTH_MIN

_JsonObject = dict[str, Any]

_ID: Final[_JsonObject] = {"$ref": "#/$defs/learning_id"}


def _array(description: str, items: _JsonObject, **limits: int) -> _JsonObject:
    return {"description": description, "type": "array", **limits, "items": items}


def _about_learnings(description: str, name: str, kind: str, *required: str) -> _JsonObject:
    properties = {"id": _ID, name: {"type": kind}}
    items = {"type": "object", "required": ["id", *required], "properties": properties}
    return _array(description, items)


_PROPERTIES: Final[_JsonObject] = {
    "session_id": text_schema("The session that reflects.", 1),
    "candidates": _array(
        "What was learned; each is accepted or refused by itself.",
        {"$ref": "#/$defs/candidate"},
        minItems=1,
    ),
    "learnings_used": _about_learnings("Learnings that helped.", "how", "string"),
    "corrections": _about_learnings("Learnings that turned out wrong.", "why", "string"),
    "ratings": _about_learnings(
        "Whether learnings are worth showing again.", "useful", "boolean", "useful"
    ),
    "notes": {"description": "Anything else.", "type": "string"},
}
_NOTHING_LEARNED: Final = text_schema("Why there is nothing to keep.", NOTHING_LEARNED_LENGTH_MIN)
_DEFINITIONS: Final[_JsonObject] = {
    "candidate": {
        "type": "object",
        "required": list(REQUIRED),
        "properties": {field.name: field.schema() for field in FIELDS},
    },
    "learning_id": text_schema("The id of a stored learning.", 1),
}

SUBMISSION_FIELDS: Final = (*_PROPERTIES, "nothing_learned")


def submission_schema() -> _JsonObject:
    """Describe every form of a submission."""
    nothing = {
        **_PROPERTIES,
        "candidates": {"type": "array", "maxItems": 0},
        "nothing_learned": _NOTHING_LEARNED,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Submission to grove reflect",
        "anyOf": [
            {"$ref": "#/$defs/submission"},
            _array("Candidates alone.", {"$ref": "#/$defs/candidate"}, minItems=1),
            {"$ref": "#/$defs/candidate"},
            {"$ref": "#/$defs/nothing_learned"},
        ],
        "$defs": {
            "submission": {
                "type": "object",
                "required": ["candidates"],
                "properties": _PROPERTIES,
            },
            "nothing_learned": {
                "type": "object",
                "required": ["nothing_learned"],
                "properties": nothing,
            },
            **_DEFINITIONS,
        },
    }


def tool_schema() -> _JsonObject:
    """Describe the object form alone: a tool's arguments are one object."""
    candidates = dict(_PROPERTIES["candidates"])
    del candidates["minItems"]
    fields = {"candidates": candidates, "nothing_learned": _NOTHING_LEARNED}
    return {"type": "object", "properties": _PROPERTIES | fields, "$defs": _DEFINITIONS}
