"""A client of the official Python SDK (mcp), version 1 or 2.

Reads a plan as JSON from stdin, follows it, and writes a report as JSON to stdout:

    plan    transport  {"kind": "stdio", "command", "args", "env"}
                       or {"kind": "http" | "sse", "url", "token"}
            mode       "legacy" or "auto": the negotiation of version 2
            until      names of tools that must be listed before the calls start
            calls      [{"name", "arguments"}]
    report  protocol, server, tools, calls

It decides nothing about the results: the test that starts it checks them.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import mcp
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

try:
    from mcp import Client, MCPError
    import httpx2 as http_library
except ImportError:
    Client = None
    from mcp.shared.exceptions import McpError as MCPError
    import httpx as http_library

LIST_TIMEOUT_SECONDS = 60
LIST_INTERVAL_SECONDS = 0.1


@asynccontextmanager
async def open_transport(transport):
    """Yields the streams of the transport."""
    if transport["kind"] == "stdio":
        parameters = StdioServerParameters(
            command=transport["command"], args=transport["args"], env=transport["env"]
        )
        with open("/dev/null", "w") as errors:
            async with stdio_client(parameters, errlog=errors) as streams:
                yield streams
        return
    headers = {"Authorization": f"Bearer {transport['token']}"}
    if transport["kind"] == "sse":
        async with sse_client(transport["url"], headers=headers) as streams:
            yield streams
        return
    async with http_library.AsyncClient(headers=headers, timeout=60) as http_client:
        async with streamable_http_client(transport["url"], http_client=http_client) as streams:
            yield streams


@asynccontextmanager
async def connect(plan):
    """Yields a connected client, its protocol version, and the name of the server."""
    if Client is not None:
        async with Client(open_transport(plan["transport"]), mode=plan["mode"]) as client:
            info = client.server_info
            yield client, client.protocol_version, info and info.name
        return
    async with open_transport(plan["transport"]) as streams:
        async with mcp.ClientSession(streams[0], streams[1]) as session:
            answer = await session.initialize()
            yield session, str(answer.protocolVersion), answer.serverInfo.name


async def list_tools(client, until):
    """Lists the tools until all of `until` are among them."""
    deadline = asyncio.get_running_loop().time() + LIST_TIMEOUT_SECONDS
    while True:
        names = [tool.name for tool in (await client.list_tools()).tools]
        if set(until) <= set(names):
            return names
        if asyncio.get_running_loop().time() > deadline:
            raise TimeoutError(f"Of {until}, only {names} are listed")
        await asyncio.sleep(LIST_INTERVAL_SECONDS)


async def call(client, name, arguments):
    """Calls a tool. Returns its result, or the error, and the progress until then."""
    progress = []

    async def on_progress(value, total, message):
        progress.append([value, total, message])

    try:
        result = await client.call_tool(name, arguments, progress_callback=on_progress)
    except MCPError as error:
        return {"error": {"code": error.error.code, "message": error.error.message}, "progress": progress}
    wire = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    texts = [block["text"] for block in wire["content"] if block["type"] == "text"]
    return {
        "text": "\n".join(texts),
        "structured": wire.get("structuredContent"),
        "isError": wire.get("isError", False),
        "progress": progress,
    }


async def main():
    plan = json.load(sys.stdin)
    async with connect(plan) as (client, protocol, server):
        tools = await list_tools(client, plan["until"])
        calls = [await call(client, one["name"], one["arguments"]) for one in plan["calls"]]
    json.dump({"protocol": protocol, "server": server, "tools": tools, "calls": calls}, sys.stdout)


asyncio.run(main())
