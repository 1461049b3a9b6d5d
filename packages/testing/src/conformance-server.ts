/**
 * The server that the MCP conformance suite requires: every tool, resource and
 * prompt that its server scenarios name, for the protocols up to 2025-11-25 and
 * for 2026-07-28. `conformance-stdio.ts` and `conformance-http.ts` start it. It
 * shows that a gateway in front of it passes the same scenarios as it does alone.
 *
 * It has no transport: the caller connects it.
 */

import { McpServer } from "@modelcontextprotocol/server";
import { registerAskingTools } from "./conformance/asking-tools.ts";
import type { ConformanceContext } from "./conformance/context.ts";
import { registerInputRequiredTools } from "./conformance/input-required-tools.ts";
import { registerPrompts } from "./conformance/prompts.ts";
import { registerResources } from "./conformance/resources.ts";
import { noArguments, registerTools } from "./conformance/tools.ts";

/** Creates one server instance: for a connection, a session, or (from 2026-07-28 on) a single request. */
export function createConformanceServer(context: ConformanceContext): McpServer {
  const server = new McpServer(
    { name: "toolcrib-conformance", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: context.codec.verify },
    },
  );
  registerTools(server);
  registerAskingTools(server);
  registerInputRequiredTools(server, context);
  registerChangeTools(server, context);
  registerResources(server);
  registerPrompts(server);
  return server;
}

/** Tools that send a list change notification, so that subscriptions can be tested. */
function registerChangeTools(server: McpServer, { announce }: ConformanceContext): void {
  server.registerTool(
    "test_trigger_tool_change",
    { description: "Announces that the list of tools changed", inputSchema: noArguments },
    () => {
      if (announce === undefined) server.sendToolListChanged();
      else announce.toolsChanged();
      return { content: [{ type: "text", text: "announced" }] };
    },
  );
  server.registerTool(
    "test_trigger_prompt_change",
    { description: "Announces that the list of prompts changed", inputSchema: noArguments },
    () => {
      if (announce === undefined) server.sendPromptListChanged();
      else announce.promptsChanged();
      return { content: [{ type: "text", text: "announced" }] };
    },
  );
}
