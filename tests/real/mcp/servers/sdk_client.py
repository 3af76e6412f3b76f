"""Speaks with a server over stdio by the official SDK, of either version; prints what it got.

sdk_client.py MODE PROGRAM WORDS…        MODE: handshake, or modern (version 2 alone)
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(mode, program, *words):
    server = StdioServerParameters(command=program, args=list(words), env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        if mode == "modern":
            found = await session.discover()
        else:
            found = await session.initialize()
        tools = (await session.list_tools()).tools
        called = await session.call_tool("skip", {"reason": "nothing"})
        refused = None
        try:
            await session.call_tool("none", {})
        except Exception as error:
            refused = str(error)
    dumped = [each.model_dump(by_alias=True, mode="json") for each in (found, called)]
    print(json.dumps({"found": dumped[0], "tools": [tool.name for tool in tools],
                      "called": dumped[1], "refused": refused}))  # fmt: skip


asyncio.run(main(*sys.argv[1:]))
