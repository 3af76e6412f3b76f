"""Reads the logs that one run of the client left in its folder."""

import json
import re

import fake_api
from recorder import SILENT

HOOK_WORDS = re.compile(
    r"hook (success|additional context|feedback|blocking error|error)|operation blocked by hook"
)
HOOK_FIELDS = (
    "hook_event", "hook_name", "session_id", "exit_code", "outcome", "stdout", "stderr",
)  # fmt: skip
RESULT_FIELDS = ("session_id", "subtype", "is_error", "result")


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
    for message in fake_api.added(messages):
        for block in blocks(message):
            if block["type"] == "tool_result":
                result = fake_api.text_of(block.get("content"))
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


def summary(line):
    """One line of the request log, as the transcript shows it."""
    if "conversation" not in line:
        return {"method": line["method"], "path": line["path"]}
    messages = line["body"]["messages"]
    new = new_input(messages)
    texts = (text for block in new for text in block.values() if isinstance(text, str))
    return {
        "conversation": line["conversation"],
        "turn": line["turn"],
        "model": line["body"].get("model"),
        "messages": len(messages),
        "from_hooks": [text for text in texts if HOOK_WORDS.search(text)],
        "new": new,
        "reply": line["reply"],
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


def read_transcript(out):
    """What the logs in a run's folder say."""
    stream = read_json_lines(out / "stream.jsonl")
    init = next((each for each in stream if each.get("subtype") == "init"), {})
    results = [each for each in stream if each.get("type") == "result"]
    result = results[-1] if results else {}
    records = [json.loads(path.read_text()) for path in (out / "recorded").glob("*.json")]
    requests = [summary(line) for line in read_json_lines(out / "requests.jsonl")]
    return {
        "out": str(out),
        "version": init.get("claude_code_version"),
        "session_id": init.get("session_id"),
        "session_ids": list(
            dict.fromkeys(each["session_id"] for each in stream if each.get("session_id"))
        ),
        "results": [{name: each.get(name) for name in RESULT_FIELDS} for each in results],
        "final_text": result.get("result"),
        "result": result.get("subtype"),
        "is_error": result.get("is_error"),
        "num_turns": result.get("num_turns"),
        "permission_denials": result.get("permission_denials"),
        "plugin_errors": init.get("plugin_errors"),
        "plugins": [
            each["name"] for each in init.get("plugins") or [] if each.get("path") != "builtin"
        ],
        "skills": init.get("skills"),
        "hooks": hook_responses(stream),
        "recorded": [
            {name: each[name] for name in ("event", "n", "stdin", "env")}
            for each in sorted(records, key=lambda record: record["started"])
        ],
        "injected": [
            {"request": number, "conversation": each["conversation"], "text": text}
            for number, each in enumerate(requests)
            for text in each.get("from_hooks", ())
        ],
        "requests": requests,
        "stderr": (out / "stderr.txt").read_text()[-4000:],
    }
