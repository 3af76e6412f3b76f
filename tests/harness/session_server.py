"""A client of `grove serve`: what the real one writes, line by line."""

import json
from pathlib import Path

PLUGIN = Path(__file__).parents[2] / "plugin"
MODERN = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


def registered_input(event):
    """The fields that the plugin has the client send at an event."""
    hooks = json.loads((PLUGIN / "hooks" / "server.json").read_text())["hooks"]
    return hooks[event][0]["hooks"][0]["input"]


def arguments(event, payload):
    """What the client makes of a payload: each field as text, an absent one as none."""

    def text(template):
        if not template.startswith("${"):
            return template
        value = payload.get(template[2:-1], "")
        return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))

    return {name: text(template) for name, template in registered_input(event).items()}


class Lines:
    """Requests, numbered, as the bytes of one input."""

    def __init__(self):
        self.sent = []

    def request(self, method, **params):
        self.sent.append(
            {"jsonrpc": "2.0", "id": len(self.sent), "method": method, "params": params}
        )
        return len(self.sent) - 1

    def tool(self, name, **arguments):
        return self.request("tools/call", name=name, arguments=arguments)

    def hook(self, event, **payload):
        return self.tool("hook", **arguments(event, payload))

    @property
    def data(self):
        return "".join(json.dumps(one) + "\n" for one in self.sent)


def answers(stdout):
    """The answers by the number of the request; each is answered once."""
    found = {}
    for line in stdout.splitlines():
        message = json.loads(line)
        assert message["id"] not in found
        found[message["id"]] = message.get("result", message.get("error"))
    return found


def said(result):
    """The text of a tool's result."""
    (block,) = result["content"]
    assert block["type"] == "text"
    return block["text"]
