/**
 * Tools that send no requests to the client: every kind of content, logging,
 * progress, an error, and schemas that a listing must not change.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";
import { redPixelPng, silentWav } from "./samples.ts";

/** An input schema that takes no arguments. */
export const noArguments = fromJsonSchema<Record<string, never>>({ type: "object", properties: {} });

export function registerTools(server: McpServer): void {
  registerContentTools(server);
  registerReportingTools(server);
  registerSchemaTools(server);
}

function registerContentTools(server: McpServer): void {
  server.registerTool("test_simple_text", { description: "Answers with one text" }, () => ({
    content: [{ type: "text", text: "This is a simple text response for testing." }],
  }));
  server.registerTool("test_image_content", { description: "Answers with one image" }, () => ({
    content: [{ type: "image", data: redPixelPng, mimeType: "image/png" }],
  }));
  server.registerTool("test_audio_content", { description: "Answers with one sound" }, () => ({
    content: [{ type: "audio", data: silentWav, mimeType: "audio/wav" }],
  }));
  server.registerTool("test_embedded_resource", { description: "Answers with one resource" }, () => ({
    content: [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ],
  }));
  server.registerTool("test_multiple_content_types", { description: "Answers with three kinds" }, () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      { type: "image", data: redPixelPng, mimeType: "image/png" },
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: JSON.stringify({ test: "data", value: 123 }),
        },
      },
    ],
  }));
  server.registerTool("test_error_handling", { description: "Fails on purpose" }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
}

/** Milliseconds between two progress notifications; enough for a stream to send them separately. */
const pauseMs = 50;

function registerReportingTools(server: McpServer): void {
  server.registerTool(
    "test_tool_with_logging",
    { description: "Sends three log messages", inputSchema: noArguments },
    async (_arguments, ctx) => {
      const messages = ["Tool execution started", "Tool processing data", "Tool execution completed"];
      for (const [index, message] of messages.entries()) {
        if (index > 0) await sleep(pauseMs);
        await ctx.mcpReq.log("info", message);
      }
      return { content: [{ type: "text", text: "Tool with logging executed successfully" }] };
    },
  );
  server.registerTool(
    "test_tool_with_progress",
    { description: "Reports progress 0, 50 and 100", inputSchema: noArguments },
    async (_arguments, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      // Without a token the client has not requested progress, so none may be sent.
      if (progressToken === undefined) return { content: [{ type: "text", text: "no progress token" }] };
      for (const progress of [0, 50, 100]) {
        await ctx.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` },
        });
        if (progress < 100) await sleep(pauseMs);
      }
      return { content: [{ type: "text", text: String(progressToken) }] };
    },
  );
  server.registerTool(
    "test_logging_tool",
    { description: "Logs once, where the client asked for logs", inputSchema: noArguments },
    async (_arguments, ctx) => {
      await ctx.mcpReq.log("info", "test_logging_tool ran");
      return { content: [{ type: "text", text: "logged" }] };
    },
  );
  server.registerTool(
    "test_streaming_elicitation",
    { description: "Answers on a stream that carries no request of the server", inputSchema: noArguments },
    () => ({ content: [{ type: "text", text: "no request on this stream" }] }),
  );
  server.registerTool(
    "test_reconnection",
    { description: "Closes its response stream and answers on the resumed one", inputSchema: noArguments },
    async (_arguments, ctx) => {
      ctx.http?.closeSSE?.();
      await sleep(2 * pauseMs);
      return { content: [{ type: "text", text: "answered after the stream was closed" }] };
    },
  );
}

/** `x-mcp-header` is an annotation of MCP that the SDK's schema type does not list. */
const mirroredArgument = {
  type: "string" as const,
  description: "Sent as Mcp-Param-Region too",
  "x-mcp-header": "Region",
};

function registerSchemaTools(server: McpServer): void {
  server.registerTool(
    "json_schema_2020_12_tool",
    {
      description: "Takes arguments described with JSON Schema 2020-12",
      inputSchema: fromJsonSchema<Record<string, unknown>>({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        $defs: {
          address: {
            $anchor: "addressDef",
            type: "object",
            properties: { street: { type: "string" }, city: { type: "string" } },
          },
        },
        properties: {
          name: { type: "string" },
          address: { $ref: "#/$defs/address" },
          contactMethod: { type: "string", enum: ["phone", "email"] },
          phone: { type: "string" },
          email: { type: "string" },
        },
        allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
        if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
        // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
        then: { required: ["phone"] },
        else: { required: ["email"] },
        additionalProperties: false,
      }),
    },
    (given) => ({ content: [{ type: "text", text: JSON.stringify(given) }] }),
  );
  server.registerTool(
    "test_x_mcp_header",
    {
      description: "Takes an argument that is mirrored as an HTTP header",
      inputSchema: fromJsonSchema<{ region?: string; level?: number }>({
        type: "object",
        properties: {
          region: mirroredArgument,
          level: { type: "integer", description: "Sent in the body only" },
        },
      }),
    },
    ({ region }) => ({ content: [{ type: "text", text: `region=${region ?? "none"}` }] }),
  );
}
