"""The Python SDK (versions 1 and 2) and FastMCP as clients in the feature table.

    client.py v1|v2|fastmcp

Reads a plan as JSON from stdin, follows its connections at the same time, and writes
what it observed to stdout, one line of JSON for each feature. It decides nothing about
what it observed: the script that starts it does.
"""

import asyncio
import json
import sys
import warnings
from contextlib import AsyncExitStack

warnings.simplefilter("ignore")
kind = sys.argv[1]

if kind == "v1":
    import httpx as http_library
    import mcp
    import mcp.types as types
    from mcp.client.streamable_http import streamable_http_client
elif kind == "v2":
    import httpx2 as http_library
    import mcp_types as types
    from mcp import Client
    from mcp.client import advertise
    from mcp.client.streamable_http import streamable_http_client
else:
    import mcp_types as types
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport
    from mcp.client import advertise


# Version 1 of the SDK cannot declare an extension.
declares_pages = kind != "v1"


def make(model, /, **fields):
    """Creates a value of the SDK from its names on the wire, which are the same in all versions."""
    return model.model_validate(fields)


def wire(value):
    """Returns a value of the SDK as it is on the wire."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


def field(value, name):
    return wire(value).get(name)


class Peer:
    """A connected client, with what it received."""

    def __init__(self, connection):
        self.id = connection["id"]
        self.connection = connection
        self.seen = {}
        self.client = None
        self.protocol = ""
        self.info = make(types.Implementation, name=f"python-{kind}", version="1.0.0")

    def add(self, kind, value):
        self.seen.setdefault(kind, []).append(value)

    async def until(self, kind):
        """Waits for the first of `kind`; returns all until then."""
        while not self.seen.get(kind):
            await asyncio.sleep(0.02)
        return self.seen[kind]

    async def on_sample(self, *arguments):
        params = next(one for one in arguments if isinstance(one, types.CreateMessageRequestParams))
        tools = field(params, "tools")
        if not tools:
            content = {"type": "text", "text": f"sampled for {self.id}"}
            return make(types.CreateMessageResult, role="assistant", model="m", content=content)
        content = {"type": "tool_use", "id": "use-1", "name": tools[0]["name"], "input": {"for": self.id}}
        return make(
            types.CreateMessageResultWithTools,
            role="assistant",
            model="m",
            content=[content],
            stopReason="toolUse",
        )

    async def on_elicit(self, *arguments):
        # FastMCP passes the message, a type and the parameters; the SDK a context and the parameters.
        params = wire(arguments[2] if kind == "fastmcp" else arguments[1])
        if params.get("mode") == "url":
            self.add("page", params["url"])
            return make(types.ElicitResult, action="accept")
        return make(types.ElicitResult, action="accept", content={"name": self.id})

    async def on_roots(self, *_arguments):
        root = {"uri": f"file:///{self.id}", "name": self.id}
        return make(types.ListRootsResult, roots=[root])

    async def on_log(self, params):
        data = params.data
        # FastMCP sends an object with the message.
        self.add("log", data.get("msg") if isinstance(data, dict) else data)

    async def on_message(self, message):
        message = getattr(message, "root", message)
        if getattr(message, "method", "") == "notifications/resources/updated":
            self.add("update", str(message.params.uri))

    async def on_progress(self, value, _total, _message):
        self.add("progress", value)

    async def connect(self, stack, with_pages=declares_pages):
        connection = self.connection
        extensions = []
        if with_pages:
            types_of_pages = {"mimeTypes": ["text/html;profile=mcp-app"]}
            extensions = [advertise("io.modelcontextprotocol/ui", types_of_pages)]
        token = connection.get("token")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        sampling = make(types.SamplingCapability, tools={})
        if kind == "fastmcp":
            self.client = Client(
                StreamableHttpTransport(connection["url"], headers=headers),
                roots=[f"file:///{self.id}"],
                sampling_handler=self.on_sample,
                sampling_capabilities=sampling,
                elicitation_handler=self.on_elicit,
                log_handler=self.on_log,
                message_handler=self.on_message,
                client_info=self.info,
                extensions=extensions,
            )
            await stack.enter_async_context(self.client)
            self.protocol = str(self.client.protocol_version)
            return
        http_client = await stack.enter_async_context(
            http_library.AsyncClient(headers=headers, timeout=http_library.Timeout(60))
        )
        transport = streamable_http_client(connection["url"], http_client=http_client)
        callbacks = {
            "sampling_callback": self.on_sample,
            "sampling_capabilities": sampling,
            "elicitation_callback": self.on_elicit,
            "list_roots_callback": self.on_roots,
            "logging_callback": self.on_log,
            "message_handler": self.on_message,
            "client_info": self.info,
        }
        if kind == "v2":
            self.client = Client(transport, log_level="debug", extensions=extensions, **callbacks)
            await stack.enter_async_context(self.client)
            self.protocol = str(self.client.protocol_version)
            return
        streams = await stack.enter_async_context(transport)
        self.client = await stack.enter_async_context(mcp.ClientSession(streams[0], streams[1], **callbacks))
        self.protocol = str((await self.client.initialize()).protocolVersion)

    @property
    def is_modern(self):
        return self.protocol >= "2026"

    async def call(self, tool, arguments=None, **options):
        """Returns the result of a tool as it is on the wire."""
        if kind == "fastmcp":
            if "progress_callback" in options:
                options["progress_handler"] = options.pop("progress_callback")
            return wire(await self.client.call_tool_mcp(tool, arguments or {}, **options))
        return wire(await self.client.call_tool(tool, arguments or {}, **options))


async def plain_call(peer, step):
    return await peer.call(step["tool"], step.get("arguments"))


async def progress(peer, step):
    await peer.call(step["tool"], step.get("arguments"), progress_callback=peer.on_progress)
    return await peer.until("progress")


async def cancellation(peer, step):
    before = await peer.call(step["check"], step.get("arguments"))
    running = asyncio.ensure_future(peer.call(step["tool"], step.get("arguments")))
    await asyncio.sleep(0.5)
    running.cancel()
    try:
        await running
    except asyncio.CancelledError:
        pass
    else:
        raise RuntimeError("the cancelled call returned a result")
    while await peer.call(step["check"], step.get("arguments")) == before:
        await asyncio.sleep(0.05)
    return "cancelled"


async def logging(peer, step):
    options = {}
    if not peer.is_modern:
        await peer.client.set_logging_level("debug")
    elif kind == "fastmcp":
        options = {"meta": {"io.modelcontextprotocol/logLevel": "debug"}}
    await peer.call(step["tool"], step.get("arguments"), **options)
    return await peer.until("log")


async def elicitation_url(peer, step):
    result = await plain_call(peer, step)
    return {"result": result, "pages": await peer.until("page")}


async def completion(peer, step):
    argument = step["argument"]
    if kind == "fastmcp":
        reference = make(types.PromptReference, type="ref/prompt", name=step["prompt"])
        return wire(await peer.client.complete_mcp(reference, argument))
    reference = make(types.PromptReference, type="ref/prompt", name=step["prompt"])
    return wire(await peer.client.complete(reference, argument))


async def templates(peer, step):
    if kind == "fastmcp":
        listed = [wire(one) for one in await peer.client.list_resource_templates()]
        read = [wire(one) for one in await peer.client.read_resource(step["uri"])]
        return {"templates": listed, "read": read}
    listed = wire(await peer.client.list_resource_templates())
    return {"templates": listed, "read": wire(await peer.client.read_resource(step["uri"]))}


async def subscriptions(peer, step):
    if not peer.is_modern:
        await peer.client.subscribe_resource(step["uri"])
        await plain_call(peer, step)
        return await peer.until("update")
    async with peer.client.listen(resource_subscriptions=[step["uri"]]) as stream:
        await plain_call(peer, step)
        async for event in stream:
            return [str(event.uri)]


async def run_tasks(peer, step):
    """Runs a tool as a task to its end, and cancels another task of it."""
    tasks = peer.client.experimental

    async def start():
        created = await tasks.call_tool_as_task(step["tool"], step.get("arguments"))
        return created.task.taskId

    async def is_listed(task_id):
        page = await tasks.list_tasks()
        while all(task.taskId != task_id for task in page.tasks):
            if page.nextCursor is None:
                return False
            page = await tasks.list_tasks(page.nextCursor)
        return True

    async def status_of(task_id):
        return (await tasks.get_task(task_id)).status

    first = await start()
    running = await status_of(first)
    listed = await is_listed(first)
    result = wire(await tasks.get_task_result(first, types.CallToolResult))
    other = await start()
    await tasks.cancel_task(other)
    return {
        "running": running,
        "listed": listed,
        "result": result,
        "ended": await status_of(first),
        "cancelled": await status_of(other),
    }


async def list_tools(peer):
    """Returns the tools as they are on the wire."""
    if kind == "fastmcp":
        return wire(await peer.client.list_tools_mcp())["tools"]
    return wire(await peer.client.list_tools())["tools"]


async def apps(peer, step):
    tool = next(one for one in await list_tools(peer) if one["name"] == step["tool"])
    uri = tool["_meta"]["ui"]["resourceUri"]
    read = peer.client.read_resource_mcp if kind == "fastmcp" else peer.client.read_resource
    return {"page": uri, "read": wire(await read(uri)), "called": await peer.call(step["check"])}


async def apps_page_tools(peer, step):
    async def is_listed(by):
        return any(tool["name"] == step["check"] for tool in await list_tools(by))

    if not declares_pages:
        return {"withoutPages": await is_listed(peer)}
    other = Peer(peer.connection)
    async with AsyncExitStack() as stack:
        await other.connect(stack, with_pages=False)
        return {"withPages": await is_listed(peer), "withoutPages": await is_listed(other)}


# The features of this client. Names of the plan that are not here are reported as unsupported.
features = {
    "progress": progress,
    "cancellation": cancellation,
    "logging": logging,
    "roots": plain_call,
    "sampling": plain_call,
    "sampling-tools": plain_call,
    "elicitation-form": plain_call,
    "elicitation-url": elicitation_url,
    "completion": completion,
    "templates": templates,
    "subscriptions": subscriptions,
    "resource-links": plain_call,
    "structured": plain_call,
    "tasks": run_tasks,
    "tasks-questions": run_tasks,
    "apps": apps,
    "apps-page-tools": apps_page_tools,
}
if kind != "v1":
    # Only version 1 of the SDK has functions for tasks.
    del features["tasks"], features["tasks-questions"]
if kind == "fastmcp":
    # Its client has no subscriptions to resources.
    del features["subscriptions"]
if kind == "v1":
    # It does not tell the server that it does not wait for a call any more.
    del features["cancellation"]


def report(connection, feature, **fields):
    print(json.dumps({"connection": connection["id"], "feature": feature, **fields}), flush=True)


def describe(error):
    """The first error of a group, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"[:500]


async def follow(connection, step_seconds):
    peer = Peer(connection)
    waiting = [step["feature"] for step in connection["steps"]]
    try:
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(2 * step_seconds):
                await peer.connect(stack)
            report(connection, "protocol", observed=peer.protocol)
            for step in connection["steps"]:
                feature = step["feature"]
                waiting.remove(feature)
                if feature not in features:
                    report(connection, feature, unsupported=True)
                    continue
                try:
                    async with asyncio.timeout(step.get("seconds", step_seconds)):
                        observed = await features[feature](peer, step)
                    report(connection, feature, observed=observed)
                except Exception as error:
                    report(connection, feature, error=describe(error))
    except BaseException as error:
        for feature in waiting:
            report(connection, feature, error=f"connect: {describe(error)}")


async def main():
    plan = json.load(sys.stdin)
    await asyncio.gather(*(follow(one, plan["stepSeconds"]) for one in plan["connections"]))


asyncio.run(main())
