"""A connection to a double that runs in this process."""

import json

from grove_backend_mcp.servers import ToolResult, tool_from


class Called:
    """What a client has of a server; everything goes there and back as JSON."""

    warnings = ()
    server_version = "1"

    def __init__(self, server):
        self.server = server
        self.server_name = server.kind.name

    def tools(self):
        return [tool_from(one) for one in self.asked("tools/list")["tools"]]

    def call(self, tool, arguments):
        result = self.asked("tools/call", {"name": tool, "arguments": arguments})
        return ToolResult(
            structured=result.get("structuredContent"),
            texts=tuple(one["text"] for one in result["content"]),
            is_error=result.get("isError", False),
        )

    def asked(self, method, params=None):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return json.loads(json.dumps(self.server.answer(json.loads(json.dumps(message)))))["result"]

    def shown(self, text):
        return text
