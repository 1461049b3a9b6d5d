"""A FastMCP server with every feature of the feature table that FastMCP has, over HTTP, for both eras.

Prints its URL, and runs until the end of stdin.
"""

import asyncio
import socket
import sys
import threading
import warnings

import mcp_types as types
import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.tools import ToolResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

warnings.simplefilter("ignore")
server = FastMCP("fastmcp-features")
cancelled_keys: list[str] = []


@server.tool
async def progress(ctx: Context) -> str:
    """Reports three steps."""
    for step in (1, 2, 3):
        await ctx.report_progress(step, 3)
    return "done"


@server.tool
async def wait(key: str) -> str:
    """Runs until it is cancelled."""
    try:
        await asyncio.sleep(20)
    except asyncio.CancelledError:
        cancelled_keys.append(key)
        raise
    return "nobody cancelled the call"


@server.tool
async def cancelled(key: str) -> str:
    """Counts the cancelled calls with a key."""
    return f"cancelled={cancelled_keys.count(key)}"


@server.tool
async def log(ctx: Context) -> str:
    """Logs a message."""
    await ctx.warning("logged by fastmcp")
    return "logged"


async def ask(ctx: Context, request: types.InputRequest):
    """Asks the client in the way of its era. Returns the result of the tool: the questions, or the answer as JSON."""
    if ctx.request_context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        answer = (ctx.input_responses or {}).get("answer")
        if answer is None:
            return types.InputRequiredResult(input_requests={"answer": request})
    elif isinstance(request, types.ListRootsRequest):
        answer = await ctx.session.list_roots()
    elif isinstance(request, types.CreateMessageRequest):
        answer = await ctx.session.create_message(
            messages=request.params.messages,
            max_tokens=request.params.max_tokens,
            tools=request.params.tools,
            related_request_id=ctx.request_id,
        )
    elif isinstance(request.params, types.ElicitRequestFormParams):
        answer = await ctx.session.elicit_form(
            request.params.message, request.params.requested_schema, related_request_id=ctx.request_id
        )
    else:
        answer = await ctx.session.elicit_url(
            request.params.message,
            request.params.url,
            request.params.elicitation_id or "visit-1",
            related_request_id=ctx.request_id,
        )
    return ToolResult(content=answer.model_dump_json(by_alias=True, exclude_none=True))


@server.tool(output_schema=None)
async def roots(ctx: Context):
    """Asks for roots."""
    return await ask(ctx, types.ListRootsRequest())


def question(text: str, tools: list[types.Tool] | None = None) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=100, tools=tools)
    )


@server.tool(output_schema=None)
async def sample(ctx: Context):
    """Asks a model."""
    return await ask(ctx, question("Who are you?"))


@server.tool(output_schema=None)
async def sample_tools(ctx: Context):
    """Asks a model that may use a tool."""
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = types.Tool(name="weather", description="Weather of a city", input_schema=schema)
    return await ask(ctx, question("Which weather has Oslo?", [tool]))


@server.tool(output_schema=None)
async def elicit_form(ctx: Context):
    """Asks a person to fill in a form."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    params = types.ElicitRequestFormParams(message="What is your name?", requested_schema=schema)
    return await ask(ctx, types.ElicitRequest(params=params))


@server.tool(output_schema=None)
async def elicit_url(ctx: Context):
    """Asks a person to visit a page."""
    params = types.ElicitRequestURLParams(
        message="Visit the page", url="https://example.com/visit", elicitation_id="visit-1"
    )
    return await ask(ctx, types.ElicitRequest(params=params))


@server.tool
def structured(value: int) -> dict[str, int]:
    """Returns structured content."""
    return {"value": value, "doubled": 2 * value}


@server.tool
def links() -> ToolResult:
    """Returns a link to a resource."""
    link = types.ResourceLink(
        type="resource_link", uri="features://item/7", name="item 7", mime_type="text/plain"
    )
    return ToolResult(content=[link])


@server.resource("features://item/{id}")
def item(id: str) -> str:
    """An item."""
    return f"content of features://item/{id}"


@server.prompt
def greet(name: str) -> str:
    """Greets somebody."""
    return f"Greet {name}"


@server.completion
def complete(reference, argument, context):
    """Completes the name of the prompt."""
    return [name for name in ("Ann", "Anton", "Bob") if name.startswith(argument.value)]


def main() -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    app = server.http_app(path="/mcp")
    runner = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=0))

    def stop_at_end_of_input() -> None:
        sys.stdin.read()
        runner.should_exit = True
        runner.force_exit = True

    threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    runner.run(sockets=[listener])


main()
