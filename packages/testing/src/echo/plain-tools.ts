/** Tools of the echo server that behave well: text, structured content, errors, waiting, progress, logs, and the received messages. */

import { setTimeout as delay } from "node:timers/promises";
import { count, defineTool, type EchoTool, numberOf, stringOf, text, textResult } from "./echo-tool.ts";
import { type JsonObject, RpcFailure } from "./json-rpc.ts";

export const plainTools: readonly EchoTool[] = [
  defineTool("echo", "Returns its text", { text }, ["text"], (given) =>
    textResult(stringOf(given, "text", "")),
  ),

  withOutputSchema(
    defineTool("structured", "Doubles a number", { value: { type: "number" } }, ["value"], (given) =>
      structuredResult({ value: numberOf(given, "value", 0), doubled: 2 * numberOf(given, "value", 0) }),
    ),
  ),
  withOutputSchema(
    defineTool("bad_structured", "Returns what its output schema forbids", {}, [], () =>
      structuredResult({ value: "not a number" }),
    ),
  ),

  defineTool("fail", "Returns an error result", { message: text }, [], (given) => ({
    ...textResult(stringOf(given, "message", "failed on purpose")),
    isError: true,
  })),
  defineTool(
    "rpc_error",
    "Answers with a JSON-RPC error",
    { code: { type: "integer" }, message: text },
    [],
    (given) => {
      throw new RpcFailure(
        numberOf(given, "code", -32000),
        stringOf(given, "message", "refused on purpose"),
        {
          tool: "rpc_error",
        },
      );
    },
  ),

  defineTool("sleep", "Answers after some milliseconds", { ms: count }, ["ms"], async (given, { signal }) => {
    const ms = numberOf(given, "ms", 0);
    await delay(ms, undefined, { signal });
    return textResult(`slept ${ms} ms`);
  }),
  defineTool(
    "progress",
    "Reports progress step by step",
    { steps: count, delayMs: count },
    [],
    async (given, call) => {
      const steps = numberOf(given, "steps", 3);
      const delayMs = numberOf(given, "delayMs", 0);
      for (let step = 1; step <= steps; step += 1) {
        if (delayMs > 0) await delay(delayMs, undefined, { signal: call.signal });
        call.progress(step, steps, `step ${step}`);
      }
      return textResult(`${steps} steps`);
    },
  ),
  defineTool("log", "Sends a log message", { level: text, message: text }, [], (given, call) => {
    call.log(stringOf(given, "level", "info"), stringOf(given, "message", "logged"));
    return textResult("logged");
  }),

  defineTool("large", "Returns a text of so many bytes", { bytes: count }, ["bytes"], (given) =>
    textResult("x".repeat(numberOf(given, "bytes", 0))),
  ),
  defineTool(
    "env",
    "Returns its environment, or one variable of it",
    { name: text },
    [],
    (given, { server }) => {
      const { env } = server.host;
      const name = stringOf(given, "name", "");
      return textResult(name === "" ? JSON.stringify(env) : (env[name] ?? ""));
    },
  ),

  defineTool("request", "Returns the call's own id, metadata and HTTP headers", {}, [], (_given, call) =>
    textResult(JSON.stringify({ id: call.id, meta: call.params["_meta"], headers: call.headers })),
  ),
  defineTool(
    "mirror",
    "Takes arguments that are mirrored as HTTP headers, and returns those headers",
    {
      region: { type: "string", "x-mcp-header": "Region" },
      nested: { type: "object", properties: { level: { type: "integer", "x-mcp-header": "Level" } } },
    },
    [],
    (_given, { headers }) => {
      const mirrored = Object.entries(headers ?? {}).filter(([name]) => name.startsWith("mcp-param-"));
      return textResult(JSON.stringify(Object.fromEntries(mirrored)));
    },
  ),
  defineTool(
    "cancelled",
    "Returns how many calls were cancelled while they waited",
    {},
    [],
    (_given, { server }) => textResult(String(server.cancelledCount)),
  ),
  defineTool(
    "received",
    "Returns the messages the server received so far, of one method or of all but tools/call",
    { method: text },
    [],
    (given, { server }) => {
      const method = stringOf(given, "method", "");
      return textResult(
        JSON.stringify(server.received.filter((message) => method === "" || message.method === method)),
      );
    },
  ),
];

function withOutputSchema(tool: EchoTool): EchoTool {
  const outputSchema = {
    type: "object",
    properties: { value: { type: "number" }, doubled: { type: "number" } },
    required: ["value", "doubled"],
  };
  return { ...tool, definition: { ...tool.definition, outputSchema } };
}

function structuredResult(structuredContent: JsonObject): JsonObject {
  return { ...textResult(JSON.stringify(structuredContent)), structuredContent };
}
