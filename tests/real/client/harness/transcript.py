"""Makes the transcript of one run of the client."""

import json
import re

from fake_api import added
from hosts.api import text_of
from recorder import SILENT

HOOK_WORDS = re.compile(
    r"hook (success|additional context|feedback|blocking error|error)|operation blocked by hook"
)
HOOK_FIELDS = (
    "hook_event", "hook_name", "session_id", "exit_code", "outcome", "stdout", "stderr",
)  # fmt: skip


def read_json_lines(path):
    """The values of a JSON Lines file; a line that does not parse is kept as such."""
    values = []
    for raw in path.read_text().splitlines() if path.exists() else ():
        try:
            values.append(json.loads(raw))
        except ValueError:
            values.append({"type": "unparsed", "raw": raw})
    return values


def blocks(message):
    """A message's content as a list of blocks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def new_input(messages):
    """What a request adds: the blocks after the last assistant message, told apart."""
    new = []
    for message in added(messages):
        for block in blocks(message):
            if block["type"] == "tool_result":
                result = text_of(block.get("content"))
                is_error = block.get("is_error", False)
                call = block["tool_use_id"]
                new.append({"tool_result": result, "is_error": is_error, "tool_use_id": call})
            elif block["type"] == "text":
                new += text_parts(message["role"], block["text"])
            else:
                new.append({"type": block["type"]})
    return new


def text_parts(role, text):
    """Text and reminders apart: which of them holds a hook's words depends on the model's name."""
    parts = enumerate(re.split(r"</?system-reminder>", text))
    return [
        {"reminder" if number % 2 else f"{role}_text": part.strip()}
        for number, part in parts
        if part.strip()
    ]


def summary(request):
    """A request to the model, as the transcript shows it."""
    new = new_input(request["body"]["messages"])
    texts = (text for block in new for text in block.values() if isinstance(text, str))
    return {
        "conversation": request["conversation"],
        "from_hooks": [text for text in texts if HOOK_WORDS.search(text)],
        "new": new,
        "reply": request["reply"],
    }


def hook_responses(stream):
    """What each hook answered; `moment` is the same for hooks that ran side by side."""
    found, running, moment = [], set(), 0
    for each in stream:
        if each.get("subtype") == "hook_started":
            moment += not running
            running.add(each["hook_id"])
        elif each.get("subtype") == "hook_response":
            running.discard(each["hook_id"])
            if each.get("stderr") != SILENT:
                found.append({**{name: each.get(name) for name in HOOK_FIELDS}, "moment": moment})
    return found


def read_transcript(out, requests):
    """What the logs in a run's folder say, and what the model was asked."""
    stream = read_json_lines(out / "stream.jsonl")
    init = next((each for each in stream if each.get("subtype") == "init"), {})
    result = next((each for each in reversed(stream) if each.get("type") == "result"), {})
    records = [json.loads(path.read_text()) for path in (out / "recorded").glob("*.json")]
    requests = [*map(summary, requests)]
    return {
        "session_id": init.get("session_id"),
        "session_ids": list(
            dict.fromkeys(each["session_id"] for each in stream if each.get("session_id"))
        ),
        "final_text": result.get("result"),
        "result": result.get("subtype"),
        "is_error": result.get("is_error"),
        "permission_denials": result.get("permission_denials"),
        "plugin_errors": init.get("plugin_errors"),
        "plugins": [
            each["name"] for each in init.get("plugins") or [] if each.get("path") != "builtin"
        ],
        "skills": init.get("skills"),
        "hooks": hook_responses(stream),
        "recorded": sorted(records, key=lambda record: record["started"]),
        "injected": [
            {"request": number, "conversation": each["conversation"], "text": text}
            for number, each in enumerate(requests)
            for text in each["from_hooks"]
        ],
        "requests": requests,
        "stderr": (out / "stderr.txt").read_text()[-4000:],
    }
