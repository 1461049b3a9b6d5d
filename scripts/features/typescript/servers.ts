/**
 * Entry: the servers of the feature table that have extensions: one with tasks of 2026-07-28, and one with MCP Apps, which is
 * made with the package of the extension. Prints the URL of each, and runs until the end of stdin.
 */

import { once } from "node:events";
import {
  RESOURCE_MIME_TYPE,
  registerAppResource,
  registerAppTool,
} from "@modelcontextprotocol/ext-apps/server";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { serveModernTasks, serveV1 } from "@toolcrib/testing";
import { uiExtension } from "./follow-plan.ts";

const page = "ui://clock/page.html";

/** A tool with a page, and a tool that only the page calls. */
function createClock(): McpServer {
  const server = new McpServer(
    { name: "clock", version: "1.0.0" },
    { capabilities: { extensions: { [uiExtension]: {} } } },
  );
  // The package has types for both generations of the SDK.
  const target = server as unknown as Parameters<typeof registerAppTool>[0] &
    Parameters<typeof registerAppResource>[0];
  const say = (text: string) => async () => ({ content: [{ type: "text" as const, text }] });
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
    say("one o'clock"),
  );
  const _meta = { ui: { csp: { connectDomains: ["https://time.example"] }, permissions: { camera: {} } } };
  registerAppResource(target, "page", page, { description: "The page" }, async () => ({
    contents: [{ uri: page, mimeType: RESOURCE_MIME_TYPE, text: "<p>noon</p>", _meta }],
  }));
  return server;
}

await using tasks = await serveModernTasks();
await using apps = await serveV1(createClock);
console.log(`${JSON.stringify({ tasks: tasks.url, apps: apps.url })}`);
process.stdin.resume();
await once(process.stdin, "end");
process.exit(0);
