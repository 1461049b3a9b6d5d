/**
 * Handles the requests of the echo server that do not depend on the client: lists
 * and their pages, resources, prompts, completion. No I/O.
 */

import type { EchoServer } from "./echo-server.ts";
import { stringOf } from "./echo-tool.ts";
import { isJsonObject, type JsonObject, RpcFailure } from "./json-rpc.ts";

/** The initial resources of every echo server, by URI. */
export const initialResources: readonly (readonly [uri: string, text: string])[] = [
  ["echo://hello", "Hello, world"],
  ["echo://watched", "not changed yet"],
  ["echo://note", "A note"],
];

/** Returns the result of `method`, or undefined if it is another method or belongs to a missing capability. */
export function answerContent(
  server: EchoServer,
  method: string,
  params: JsonObject,
  isModern: boolean,
): JsonObject | undefined {
  if (!isOffered(server, method)) return undefined;
  switch (method) {
    case "tools/list": {
      const definitions = [...server.tools.values()].map((tool) => tool.definition);
      return pageOf(server, "tools", definitions, params["cursor"]);
    }
    case "resources/list":
      return pageOf(server, "resources", listResources(server.resources), params["cursor"]);
    case "resources/templates/list":
      return pageOf(server, "resourceTemplates", resourceTemplates, params["cursor"]);
    case "resources/read":
      return readResource(server.resources, stringOf(params, "uri", ""), isModern ? -32602 : -32002);
    case "prompts/list":
      return pageOf(server, "prompts", listPrompts(server), params["cursor"]);
    case "prompts/get":
      return getPrompt(server, stringOf(params, "name", ""), objectOf(params["arguments"]));
    case "completion/complete":
      return complete(stringOf(objectOf(params["argument"]), "value", ""));
    default:
      return undefined;
  }
}

/** Whether the server has the capability that `method` belongs to. */
export function isOffered({ capabilities }: EchoServer, method: string): boolean {
  if (method.startsWith("tools/")) return capabilities.has("tools");
  if (method.startsWith("resources/")) return capabilities.has("resources");
  if (method.startsWith("prompts/")) return capabilities.has("prompts");
  if (method.startsWith("logging/")) return capabilities.has("logging");
  return !method.startsWith("completion/") || capabilities.has("completions");
}

const resourceTemplates: readonly JsonObject[] = [
  {
    uriTemplate: "echo://greeting/{name}",
    name: "greeting",
    description: "A greeting",
    mimeType: "text/plain",
  },
];

function listResources(resources: ReadonlyMap<string, string>): JsonObject[] {
  return [...resources.keys()].map((uri) => ({
    uri,
    name: uri.slice(uri.lastIndexOf("/") + 1),
    mimeType: "text/plain",
  }));
}

/** @throws {RpcFailure} -32002, the code up to 2025-11-25, or -32602 from 2026-07-28 on. */
function readResource(resources: ReadonlyMap<string, string>, uri: string, notFoundCode: number): JsonObject {
  const name = /^echo:\/\/greeting\/([^/]+)$/.exec(uri)?.[1];
  const text = name === undefined ? resources.get(uri) : `Hello, ${decodeURIComponent(name)}`;
  if (text === undefined) throw new RpcFailure(notFoundCode, "Resource not found", { uri });
  return { contents: [{ uri, mimeType: "text/plain", text }] };
}

const prompts: readonly JsonObject[] = [
  { name: "plain", description: "A prompt without arguments" },
  {
    name: "greet",
    description: "A prompt with an argument",
    arguments: [{ name: "name", description: "Whom to greet", required: true }],
  },
];

function listPrompts({ options }: EchoServer): readonly JsonObject[] {
  return [...prompts, ...(options.prompts ?? []).map((name) => ({ name }))];
}

function getPrompt({ options }: EchoServer, name: string, given: JsonObject): JsonObject {
  if (name === "plain" || options.prompts?.includes(name)) return { messages: [userText("A plain prompt")] };
  if (name !== "greet") throw new RpcFailure(-32602, `Unknown prompt "${name}"`);
  if (typeof given["name"] !== "string") throw new RpcFailure(-32602, 'Prompt "greet" needs "name"');
  return { description: "A greeting", messages: [userText(`Greet ${given["name"]}`)] };
}

function userText(text: string): JsonObject {
  return { role: "user", content: { type: "text", text } };
}

const knownNames = ["Ada", "Alan", "Barbara", "Edsger", "Grace"];

function complete(value: string): JsonObject {
  const values = knownNames.filter((name) => name.toLowerCase().startsWith(value.toLowerCase()));
  return { completion: { values, total: values.length, hasMore: false } };
}

/** Returns one page of `items` under `key`, with the cursor of the next page. */
function pageOf(server: EchoServer, key: string, items: readonly JsonObject[], cursor: unknown): JsonObject {
  const { pageSize = 0, endlessCursor = false } = server.options;
  const size = pageSize === 0 ? Math.max(1, items.length) : pageSize;
  const start = cursor === undefined ? 0 : offsetOf(cursor, items.length);
  const end = start + size;
  const hasNext = end < items.length || endlessCursor;
  return {
    [key]: items.slice(start, end),
    ...(hasNext ? { nextCursor: `from:${end < items.length ? end : 0}` } : {}),
  };
}

function offsetOf(cursor: unknown, length: number): number {
  const offset =
    typeof cursor === "string" && cursor.startsWith("from:") ? Number(cursor.slice(5)) : Number.NaN;
  if (!Number.isInteger(offset) || offset < 0 || offset > length)
    throw new RpcFailure(-32602, "Unknown cursor");
  return offset;
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
