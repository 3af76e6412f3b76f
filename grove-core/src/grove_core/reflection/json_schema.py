"""The JSON Schema of what ``grove reflect`` accepts, made from the enums and limits themselves."""

from enum import Enum
from typing import Any

from grove_core.model.learning import Category, Confidence, Criterion, Scope
from grove_core.reflection.limits import (
    CONTEXT_FILES_MAX,
    CRITERIA_MIN,
    DETAIL_LENGTH_MAX,
    DETAIL_LENGTH_MIN,
    NOTHING_LEARNED_LENGTH_MIN,
    PATH_LENGTH_MAX,
    SUMMARY_LENGTH_MAX,
    SUMMARY_LENGTH_MIN,
    SUPERSEDES_MAX,
    TAG_LENGTH_MAX,
    TAGS_MAX,
    TAGS_MIN,
)

_JsonObject = dict[str, Any]


def submission_schema() -> _JsonObject:
    """Describe every form of a submission."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Submission to grove reflect",
        "anyOf": [
            {"$ref": "#/$defs/submission"},
            {
                "description": "Candidates alone.",
                "type": "array",
                "minItems": 1,
                "items": {"$ref": "#/$defs/candidate"},
            },
            {"$ref": "#/$defs/candidate"},
            {"$ref": "#/$defs/nothing_learned"},
        ],
        "$defs": {
            "submission": _submission(),
            "nothing_learned": _nothing_learned(),
            **_definitions(),
        },
    }


def tool_schema() -> _JsonObject:
    """Describe the object form alone: a tool's arguments are one object."""
    properties = _submission()["properties"]
    candidates = {
        key: value for key, value in properties["candidates"].items() if key != "minItems"
    }
    nothing_learned = _nothing_learned()["properties"]["nothing_learned"]
    return {
        "type": "object",
        "properties": {
            **properties, "candidates": candidates, "nothing_learned": nothing_learned,
        },
        "$defs": _definitions(),
    }  # fmt: skip


def example_submission(session_id: str) -> _JsonObject:
    """Make the smallest submission of the object form, to be filled in."""
    return {
        "session_id": session_id,
        "candidates": [
            {
                "category": Category.PITFALL.value,
                "summary": "One line: what to know, naming the thing it is about",
                "detail": "What happened, where (file, function, command), why, and what to do.",
                "criteria_met": [Criterion.BEHAVIOR_CHANGING.value],
                "tags": ["topic"],
            }
        ],
    }


def _definitions() -> _JsonObject:
    """What the others refer to."""
    return {
        "candidate": _candidate(),
        "learning_id": _text("The id of a stored learning.", 1),
    }


def _submission() -> _JsonObject:
    return {
        "type": "object",
        "required": ["candidates"],
        "properties": {
            "session_id": _text("The session that reflects.", 1),
            "candidates": {
                "description": "What was learned; each is accepted or refused by itself.",
                "type": "array",
                "minItems": 1,
                "items": {"$ref": "#/$defs/candidate"},
            },
            "learnings_used": _references("Learnings that helped.", "how"),
            "corrections": _references("Learnings that turned out wrong.", "why"),
            "ratings": _ratings(),
            "notes": {"description": "Anything else.", "type": "string"},
        },
    }


def _nothing_learned() -> _JsonObject:
    properties = {
        **_submission()["properties"],
        "candidates": {"type": "array", "maxItems": 0},
        "nothing_learned": _text("Why there is nothing to keep.", NOTHING_LEARNED_LENGTH_MIN),
    }
    return {"type": "object", "required": ["nothing_learned"], "properties": properties}


def _candidate() -> _JsonObject:
    return {
        "type": "object",
        "required": ["category", "summary", "detail", "criteria_met", "tags"],
        "properties": {
            "category": _choice("What kind of knowledge it is.", Category),
            "summary": _text("One line.", SUMMARY_LENGTH_MIN, SUMMARY_LENGTH_MAX),
            "detail": _text(
                "Markdown that says more than the summary.", DETAIL_LENGTH_MIN, DETAIL_LENGTH_MAX
            ),
            "criteria_met": {
                "description": "Why it is worth keeping.",
                "type": "array",
                "minItems": CRITERIA_MIN,
                "items": {"enum": _values(Criterion)},
            },
            "tags": _array(
                _text("Lower-case letters, digits and hyphens.", 1, TAG_LENGTH_MAX),
                TAGS_MAX,
                least=TAGS_MIN,
            ),
            "scope": {**_choice("Who it is for.", Scope), "default": Scope.PROJECT.value},
            "confidence": {
                **_choice("How sure you are.", Confidence),
                "default": Confidence.MEDIUM.value,
            },
            "context_files": _array(
                _text("A path relative to the project's root.", 1, PATH_LENGTH_MAX),
                CONTEXT_FILES_MAX,
            ),
            "supersedes": _array({"$ref": "#/$defs/learning_id"}, SUPERSEDES_MAX),
        },
    }


def _references(description: str, remark: str) -> _JsonObject:
    properties = {"id": {"$ref": "#/$defs/learning_id"}, remark: {"type": "string"}}
    return {
        "description": description,
        "type": "array",
        "items": {"type": "object", "required": ["id"], "properties": properties},
    }


def _ratings() -> _JsonObject:
    properties = {"id": {"$ref": "#/$defs/learning_id"}, "useful": {"type": "boolean"}}
    return {
        "description": "Whether learnings are worth showing again.",
        "type": "array",
        "items": {"type": "object", "required": ["id", "useful"], "properties": properties},
    }


def _array(items: _JsonObject, most: int, least: int = 0) -> _JsonObject:
    return {"type": "array", "minItems": least, "maxItems": most, "items": items}


def _text(description: str, least: int, most: int | None = None) -> _JsonObject:
    lengths = {"minLength": least} if most is None else {"minLength": least, "maxLength": most}
    return {"description": description, "type": "string", **lengths}


def _choice(description: str, enum_class: type[Enum]) -> _JsonObject:
    return {"description": description, "enum": _values(enum_class)}


def _values(enum_class: type[Enum]) -> list[str]:
    return [str(item.value) for item in enum_class]
