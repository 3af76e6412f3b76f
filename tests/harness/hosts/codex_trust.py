"""How Codex knows a hook that its user has trusted: by place and content."""

import hashlib
import json
import re

SECONDS = 600
# Codex lets the last hooks of a session have no more.
SHORT = {"SessionEnd": (1, 3), "Interrupt": (1, 3)}
# Events of which there is only one kind: their matchers are not read.
PLAIN = {"UserPromptSubmit", "Stop", "Interrupt", "PreModelRequest"}
KEPT = ("statusMessage", "additionalContextLimit")


def snake_case(event):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def trusted_hash(event, handler, matcher=None):
    """The hash under which Codex trusts one handler of a hooks file.

    Args:
        event: The event's name, as the file writes it.
        handler: The handler's document; of type `command`.
        matcher: The matcher of its group, where it has one.
    """
    default, most = SHORT.get(event, (SECONDS, None))
    seconds = max(handler.get("timeout", default), 1)
    content = {
        "async": handler.get("async", False),
        "command": handler["command"],
        "timeout": min(seconds, most) if most else seconds,
        "type": "command",
        **{name: handler[name] for name in KEPT if handler.get(name) is not None},
    }
    identity = {"event_name": snake_case(event), "hooks": [content]}
    if matcher is not None and event not in PLAIN:
        identity["matcher"] = matcher
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def trusted_hashes(path, document):
    """The key and the hash of each handler in a hooks file, as `[hooks.state]` of config.toml has them."""
    return {
        f"{path}:{snake_case(event)}:{place}:{number}": trusted_hash(
            event, handler, group.get("matcher")
        )
        for event, groups in document["hooks"].items()
        for place, group in enumerate(groups)
        for number, handler in enumerate(group["hooks"])
    }
