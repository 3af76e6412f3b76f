"""What the model says to Claude Code: one script for the agent, and one for each of its subagents.

README.md tells the format of the script.
"""

import hashlib
import json

from hosts.api import ASIDE, OVER, Model, text_of

COMPACTION = "CRITICAL: Respond with TEXT ONLY"


def added(messages):
    """The messages after the last one of the assistant."""
    for index in range(len(messages), 0, -1):
        if messages[index - 1]["role"] == "assistant":
            return messages[index:]
    return messages


class Scripts(Model):
    """Picks the reply to a request from the script of its conversation; `requests` says which it was."""

    def __init__(self, spec):
        self.spec = spec
        super().__init__(spec.get("turns", ()), None, most=1_000)

    def answer(self, path, body):
        with self.lock:
            name, turn = self.reply(body)
            self.requests.append({"conversation": name, "body": body, "reply": turn})
        return self.spoken(turn, body)

    def reply(self, body):
        """The conversation's name and the turn."""
        messages = body["messages"]
        if not body.get("tools"):  # titles, summaries, classifiers
            return "aux", ASIDE
        if COMPACTION in text_of([each["content"] for each in added(messages)]):
            return "compact", "<summary>Scripted summary.</summary>"
        name, turns = self.conversation(messages)
        digest = hashlib.sha256(json.dumps(messages).encode()).hexdigest()
        seen, index = self.known.get(name, (None, -1))
        index += digest != seen  # the same messages again are a retry
        self.known[name] = digest, index
        return name, turns[index] if index < len(turns) else OVER

    def conversation(self, messages):
        first = next((text_of(each["content"]) for each in messages if each["role"] == "user"), "")
        for key, turns in self.spec.get("agents", {}).items():
            if key in first:
                return f"agent:{key}", turns
        return "main", self.script
