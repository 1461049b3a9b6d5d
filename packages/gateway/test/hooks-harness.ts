/** A gateway with hooks, in front of one server whose tools answer with their arguments. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { McpError } from "@toolcrib/mcp";
import { localIdentity } from "@toolcrib/tool";
import {
  onHttp,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

/** A hook: a program in the language of Node, which gets the question as `q` and prints what it returns. */
export function program(name: string, body: string, more: JsonObject = {}): JsonObject {
  const code = `
    let text = ""; for await (const part of process.stdin) text += part;
    const q = JSON.parse(text);
    const answer = await (async () => { ${body} })();
    if (answer !== undefined) process.stdout.write(typeof answer === "string" ? answer : JSON.stringify(answer));
  `;
  return {
    name,
    command: process.execPath,
    args: ["--input-type=module", "--eval", code],
    timeout_seconds: 60,
    ...more,
  };
}

export interface Setting {
  readonly received: { name: string; args: JsonObject }[];
  readonly test: TestGateway;
}

export async function withHooks(
  hooks: JsonObject,
  run: (setting: Setting) => Promise<void>,
  more: {
    readonly document?: JsonObject;
    readonly declaration?: JsonObject;
    readonly environment?: { readonly [name: string]: string };
    readonly answer?: (name: string, args: JsonObject) => JsonValue;
    readonly files?: { readonly [path: string]: string };
    readonly secrets?: { readonly [name: string]: string };
    /** Receives the `_meta` of each call. */
    readonly onMeta?: (meta: unknown) => void;
    /** Further tools of the server. */
    readonly tools?: readonly string[];
    /** A secret that the server gets, so that the gateway knows it. */
    readonly secret?: string;
  } = {},
): Promise<void> {
  const received: Setting["received"] = [];
  await using server = await startScriptedServer({
    tools: () => [
      toolNamed("read"),
      toolNamed("write", {
        inputSchema: {
          type: "object",
          properties: { path: { type: "string" }, size: { type: "number" } },
        },
      }),
      toolNamed("fail"),
      ...(more.tools ?? []).map((name) => toolNamed(name)),
    ],
    resources: () => [{ uri: "note://1", name: "note" }],
    prompts: () => [{ name: "greet" }],
    call(request, name, args) {
      more.onMeta?.(request.params["_meta"]);
      received.push({ name, args });
      if (name === "fail")
        throw new McpError("MCP_REMOTE_ERROR", "the address is 10.0.0.7", {
          rpcCode: -32099,
          rpcData: "10.0.0.7",
        });
      return (
        more.answer?.(name, args) ?? { content: [{ type: "text", text: `done ${JSON.stringify(args)}` }] }
      );
    },
    other: ({ method, params }) => {
      if (method === "resources/read") return { contents: [{ uri: params["uri"], text: "read" }] };
      if (method === "prompts/get")
        return {
          messages: [{ role: "user", content: { type: "text", text: `hello ${JSON.stringify(params)}` } }],
        };
      return undefined;
    },
  });
  const { secret } = more;
  const headers = secret === undefined ? {} : { "X-Key": { secret_key_ref: { env: "SERVER_SECRET" } } };
  const transport = { kind: "streamable_http", url: server.url, headers };
  const environment = { ...more.environment, ...(secret === undefined ? {} : { SERVER_SECRET: secret }) };
  await using gateway = await startTestGateway(
    {
      tool_servers: [onHttp("s", server.url, { transport, ...more.declaration })],
      execution: { enabled: true },
      hooks,
      ...more.document,
    },
    { clients: ["agent", "other"], environment, files: more.files, secrets: more.secrets },
  );
  await run({ received, test: gateway });
}

export async function outcomeOf(
  test: TestGateway,
  tool: string,
  args: JsonObject = {},
  client = "agent",
): Promise<string> {
  const identity = localIdentity(client === "cli" ? "cli" : "token", client);
  const outcome = await test.gateway.call(identity, tool, args);
  if (outcome.kind === "result") return textOf(outcome.result);
  if (outcome.kind === "denied") return `denied: ${outcome.reason}`;
  const { code, message } = outcome.error as { readonly code?: string; readonly message: string };
  return `${code}: ${message}`;
}

/** A hook: a shell command. It reads its question unless `command` does. */
export function shell(name: string, command: string, more: JsonObject = {}): JsonObject {
  return { name, command: "/bin/sh", args: ["-c", command], timeout_seconds: 60, ...more };
}

/** A shell command that answers with `answer`. */
export function answering(answer: JsonObject): string {
  return `cat >/dev/null; printf %s '${JSON.stringify(answer)}'`;
}

/** A server on loopback that hooks with a URL are sent to. */
export async function startHookServer(
  respond: (question: JsonObject, response: ServerResponse, request: IncomingMessage) => void,
): Promise<
  AsyncDisposable & {
    readonly url: string;
    readonly questions: JsonObject[];
    readonly requests: IncomingMessage[];
  }
> {
  const questions: JsonObject[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const question = JSON.parse(Buffer.concat(parts).toString()) as JsonObject;
      questions.push(question);
      requests.push(request);
      respond(question, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/check`,
    questions,
    requests,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Sends `answer` as JSON. */
export function send(response: ServerResponse, answer: JsonValue): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}
