/** Extensions between clients and servers: what both declare, and MCP Apps with the package of the extension. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { getToolUiResourceUri } from "@modelcontextprotocol/ext-apps/app-bridge";
import {
  getUiCapability,
  RESOURCE_MIME_TYPE,
  registerAppResource,
  registerAppTool,
} from "@modelcontextprotocol/ext-apps/server";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { loadTasksV1, serveV1 } from "@toolcrib/testing";
import { onHttp, startTestGateway, textOf } from "./gateway-harness.ts";

const { createTaskProgram, createTasksV1Server } = await loadTasksV1();

const ui = "io.modelcontextprotocol/ui";
const page = "ui://clock/page.html";
const showing = { capabilities: { extensions: { [ui]: { mimeTypes: [RESOURCE_MIME_TYPE] } } } };

/** An app as its authors write it: a tool with a page, and a tool that only the page calls. */
function createClock(html: string, seen: unknown[]) {
  const server = new McpServer(
    { name: "clock", version: "1.0.0" },
    { capabilities: { extensions: { [ui]: {} } } },
  );
  // The package has types for both generations of the SDK.
  const target = server as unknown as Parameters<typeof registerAppTool>[0] &
    Parameters<typeof registerAppResource>[0];
  const say = (text: string) => async () => {
    seen.push(getUiCapability(server.server.getClientCapabilities() as never));
    return { content: [{ type: "text" as const, text }] };
  };
  registerAppTool(
    target,
    "show",
    { description: "Shows the time", _meta: { ui: { resourceUri: page } } },
    say("noon"),
  );
  registerAppTool(
    target,
    "refresh",
    { description: "Reads the time again", _meta: { ui: { resourceUri: page, visibility: ["app"] } } },
    say("one"),
  );
  const _meta = { ui: { csp: { connectDomains: ["https://time.example"] }, permissions: { camera: {} } } };
  registerAppResource(target, "page", page, { description: "The page" }, async () => ({
    contents: [{ uri: page, mimeType: RESOURCE_MIME_TYPE, text: html, _meta }],
  }));
  return server;
}

describe("MCP Apps", () => {
  test("two servers with the same page, for clients of both eras that show pages", async () => {
    const seen: unknown[] = [];
    await using first = await serveV1(() => createClock("<p>first</p>", seen));
    await using second = await serveV1(() => createClock("<p>second</p>", seen));
    await using gateway = await startTestGateway({
      tool_servers: [onHttp("one", first.url), onHttp("two", second.url)],
    });
    for (const connect of [gateway.connect, gateway.connectModern]) {
      const client = await connect({ ...showing });
      assert.deepEqual(client.getServerCapabilities()?.extensions?.[ui], {});
      const { tools } = await client.listTools();
      const shown = tools.find(({ name }) => name === "two__show");
      const uri = getToolUiResourceUri(shown as never);
      assert.equal(uri, "ui://two/clock/page.html");
      assert.ok(tools.some(({ name }) => name === "two__refresh"));
      const { resources } = await client.listResources();
      assert.deepEqual(
        resources.map((one) => one.uri),
        ["ui://one/clock/page.html", "ui://two/clock/page.html"],
      );
      const { contents } = await client.readResource({ uri: String(uri) });
      const [content] = contents;
      assert.equal(content?.uri, uri);
      assert.equal(content?.mimeType, RESOURCE_MIME_TYPE);
      assert.match(JSON.stringify(content), /second/);
      assert.deepEqual(content?._meta?.["ui"], {
        csp: { connectDomains: ["https://time.example"] },
        permissions: { camera: {} },
      });
      assert.equal(textOf(await client.callTool({ name: "two__refresh", arguments: {} })), "one");
      assert.deepEqual(seen.at(-1), { mimeTypes: [RESOURCE_MIME_TYPE] });
      // The endpoint of one server shows everything as the server does.
      const direct = await connect({ server: "two", ...showing });
      assert.deepEqual(
        (await direct.listResources()).resources.map((one) => one.uri),
        [page],
      );
      const found = (await direct.listTools()).tools.find(({ name }) => name === "show");
      assert.equal(getToolUiResourceUri(found as never), page);
      assert.match(JSON.stringify(await direct.readResource({ uri: page })), /second/);
    }
    // A client that shows no pages sees no tools for pages, and search finds none.
    const plain = await gateway.connect();
    const names = (await plain.listTools()).tools.map(({ name }) => name);
    assert.ok(names.includes("two__show") && !names.includes("two__refresh"));
    const found = await plain.callTool({
      name: "search_tools",
      arguments: { query: "reads the time again" },
    });
    assert.doesNotMatch(textOf(found), /refresh/);
    assert.equal(textOf(await plain.callTool({ name: "two__refresh", arguments: {} })), "one");
  });
});

describe("extensions that the gateway does not know", () => {
  test("are declared from end to end, merged for the endpoint of all servers", async () => {
    const declared: unknown[] = [];
    using program = createTaskProgram();
    const create = () => {
      const server = createTasksV1Server(program);
      server.oninitialized = () => void declared.push(server.getClientCapabilities());
      return server;
    };
    await using jobs = await serveV1(create);
    await using clock = await serveV1(() => {
      const extensions = { "example.com/clock": { zones: ["UTC", "CET"] }, "example.com/other": {} };
      return new McpServer({ name: "c", version: "1" }, { capabilities: { tools: {}, extensions } });
    });
    await using gateway = await startTestGateway({
      tool_servers: [onHttp("jobs", jobs.url), onHttp("clock", clock.url)],
    });
    const capabilities = {
      extensions: { "example.com/clock": { zones: ["CET"] } },
      experimental: { trial: { level: 2 } },
    };
    const client = await gateway.connect({ capabilities });
    const merged = client.getServerCapabilities();
    // A server of which the client can use nothing is not part of what it sees.
    assert.deepEqual(merged?.extensions, { "example.com/clock": { zones: ["UTC"] } });
    assert.deepEqual(merged?.experimental, { trial: { level: 1 } });
    const direct = await gateway.connect({ server: "clock", capabilities });
    assert.deepEqual(direct.getServerCapabilities()?.extensions, {
      "example.com/clock": { zones: ["UTC", "CET"] },
      "example.com/other": {},
    });
    await client.callTool({ name: "jobs__plain", arguments: {} });
    assert.deepEqual(declared.at(-1), capabilities);
    const modern = await gateway.connectModern({ capabilities });
    assert.deepEqual(modern.getServerCapabilities()?.extensions, {
      "example.com/clock": { zones: ["UTC"] },
      "io.modelcontextprotocol/tasks": {},
    });
  });
});
