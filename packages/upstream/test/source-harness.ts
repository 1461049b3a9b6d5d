/** Common parts of the tests of tool sources: a server with its dependencies, clients, calls, and the messages that they receive. */

import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import type { JsonObject } from "@toolcrib/json";
import { createHttpClient, McpError } from "@toolcrib/mcp";
import { createProcessLauncher } from "@toolcrib/process";
import { echoStdioPath, fixtureCommand, type ManualTimers, waitUntil } from "@toolcrib/testing";
import {
  type CallContext,
  type ClientSession,
  localIdentity,
  type SourceChange,
  type Tool,
  type ToolAnnotations,
  type ToolResult,
} from "@toolcrib/tool";
import { createUpstreamServer, type UpstreamLimits, type UpstreamServer } from "@toolcrib/upstream";

/** The transport to a server, with all references to secrets resolved. */
export type ResolvedTransport = Awaited<
  ReturnType<Parameters<typeof createUpstreamServer>[0]["resolveTransport"]>
>;

/** The remembered facts about a server. */
export type RememberedServer = NonNullable<Parameters<typeof createUpstreamServer>[0]["remembered"]>;

/** A message that was sent to a client. */
export interface Sent {
  readonly method: string;
  readonly params: JsonObject;
}

/** A server under test. */
export interface TestSource extends AsyncDisposable {
  readonly server: UpstreamServer;
  /** `TOOLCRIB_INSTANCE=…`, the variable that marks its processes. */
  readonly marker: string;
  /** Kinds of the emitted changes, oldest first. */
  readonly changes: SourceChange["kind"][];
  readonly records: { readonly event: string; readonly [field: string]: unknown }[];
  tool(name: string): Tool;
  call(name: string, args?: JsonObject, context?: CallContext): Promise<ToolResult>;
  /** Calls a tool and returns the text of its result. */
  text(name: string, args?: JsonObject, context?: CallContext): Promise<string>;
}

/** Options of `createSource`. */
export interface SourceOptions {
  readonly transport: ResolvedTransport | (() => Promise<ResolvedTransport>);
  readonly kind?: ResolvedTransport["kind"];
  readonly scrub?: (text: string) => string;
  readonly tags?: readonly string[];
  readonly limits?: UpstreamLimits;
  /** Milliseconds for a server to end by itself. @default 500 */
  readonly graceMs?: number;
  readonly now?: () => number;
  /** "learnt": when the server has asked. @default true: clients that can be asked get sessions of their own at once */
  readonly isInteractive?: boolean | "learnt";
  /** Whether each client has a session with a login of its own. @default false */
  readonly isPerIdentity?: boolean;
  readonly protocol?: "legacy" | "modern";
  /** Whether a call whose answer is lost is made again. @default none is */
  readonly isRepeatable?: (annotations: ToolAnnotations) => boolean;
  readonly remembered?: RememberedServer;
  readonly remember?: (definitions: RememberedServer) => void;
  /** @default timers of Node */
  readonly timers?: ManualTimers;
}

/** Creates a server without starting it. */
export function createSource(options: SourceOptions): TestSource {
  const { transport, kind, scrub, tags, timers, remembered, remember, now = Date.now } = options;
  const { isInteractive = true } = options;
  const startBackgroundTimer = timers?.startTimer;
  const records: TestSource["records"] = [];
  const record = (fields: object, event: string): void => {
    records.push({ ...fields, event });
  };
  const logger = { debug: record, info: record, warn: record, error: record };
  const launcher = createProcessLauncher(
    { env: process.env, now: Date.now, logger, randomBytes },
    { graceMs: options.graceMs ?? 500, terminateGraceMs: 200, orphanGraceMs: 200 },
  );
  const httpClient = createHttpClient();
  const resolveTransport = typeof transport === "function" ? transport : () => Promise.resolve(transport);
  const server = createUpstreamServer(
    {
      id: "s",
      kind: kind ?? (typeof transport === "function" ? "stdio" : transport.kind),
      resolveTransport,
      scrub,
      tags,
      isInteractive: isInteractive === "learnt" ? undefined : isInteractive,
      isPerIdentity: options.isPerIdentity === true,
      protocol: options.protocol,
      ...(options.isRepeatable === undefined ? {} : { isRepeatable: options.isRepeatable }),
      remembered,
      ...(remember === undefined ? {} : { remember }),
    },
    {
      launcher,
      httpClient,
      logger,
      now,
      random: () => 0.5,
      startBackgroundTimer,
      clientInfo: { name: "test", version: "1" },
    },
    { reconnectMinMs: 20, handshakeTimeoutMs: 60_000, ...options.limits },
  );
  const changes: TestSource["changes"] = [];
  server.onChange(({ kind: changed }) => changes.push(changed));
  return {
    server,
    marker: `TOOLCRIB_INSTANCE=${launcher.instance}`,
    changes,
    records,
    tool(name) {
      const found = server.tools().find(({ definition }) => definition.name === name);
      return found ?? assert.fail(`No tool "${name}" among ${server.tools().length}`);
    },
    call(name, args = {}, context = createCall()) {
      return server.call(this.tool(name), args, context);
    },
    async text(name, args, context) {
      return textOf(await this.call(name, args, context));
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await launcher[Symbol.asyncDispose]();
      await httpClient.destroy();
    },
  };
}

/** Creates and starts a server that is expected to be ready. */
export async function startSource(options: SourceOptions): Promise<TestSource> {
  const source = createSource(options);
  await source.server.start(never);
  if (source.server.health().state !== "ready") {
    const { reason } = source.server.health();
    await source[Symbol.asyncDispose]();
    assert.fail(`The server is not ready: ${reason}`);
  }
  return source;
}

/** Returns the transport to a Node program of this repository or of a dependency, on stdio. */
export function nodeStdio(path: string, args: readonly string[] = [], env = {}): ResolvedTransport {
  // Tests start many servers, so they share a compile cache.
  const cache = new URL("../../../node_modules/.cache/toolcrib-tests", import.meta.url).pathname;
  return { kind: "stdio", ...fixtureCommand(path, ...args), env: { NODE_COMPILE_CACHE: cache, ...env } };
}

/** Returns the transport to an echo server on stdio. */
export function echoStdio(...flags: readonly string[]): ResolvedTransport {
  return nodeStdio(echoStdioPath, flags);
}

/** Returns the transport to the server of `fixtures/odd-server.ts`, which has one unusual behaviour. */
export function oddStdio(...args: readonly string[]): ResolvedTransport {
  const path = new URL("./fixtures/odd-server.ts", import.meta.url).pathname;
  return nodeStdio(path, args);
}

export const never: AbortSignal = new AbortController().signal;

/** A call that records the messages for its client. */
export interface TestCall extends CallContext {
  readonly sent: Sent[];
  readonly progressed: JsonObject[];
}

/** Creates the context of a call. Without a client it rejects every request of the server. */
export function createCall(
  options: {
    readonly signal?: AbortSignal;
    readonly client?: TestClient;
    readonly name?: string;
    readonly meta?: JsonObject;
    readonly wantsProgress?: boolean;
  } = {},
): TestCall {
  const { client, meta } = options;
  const sent: Sent[] = [];
  const progressed: JsonObject[] = [];
  return {
    sent,
    progressed,
    callId: randomUUID(),
    depth: 0,
    identity: localIdentity("token", options.name ?? "test"),
    era: "legacy",
    signal: options.signal ?? never,
    deadline: Number.POSITIVE_INFINITY,
    meta,
    session: client,
    wantsProgress: options.wantsProgress ?? false,
    progress: (params) => void progressed.push(params),
    notify(method, params) {
      sent.push({ method, params });
      client?.sent.push({ method, params });
    },
    ask: (method, params, signal) =>
      client?.ask(method, params, signal) ?? Promise.reject(new Error("This client cannot be asked")),
  };
}

/** A client session like those of the gateway. */
export interface TestClient extends ClientSession {
  logLevel: string | undefined;
  /** The notifications that it received. */
  readonly sent: Sent[];
  /** The requests that it received. */
  readonly asked: (Sent & { readonly signal: AbortSignal })[];
  readonly changeRoots: () => void;
  readonly leave: () => void;
}

/** Creates a client that answers requests with `answer`. */
export function createClient(
  options: {
    readonly capabilities?: JsonObject;
    readonly logLevel?: string;
    readonly answer?: (method: string, params: JsonObject) => JsonObject | Promise<JsonObject>;
  } = {},
): TestClient {
  const { capabilities = {}, answer } = options;
  const closing = new AbortController();
  const rootsListeners = new Set<() => void>();
  const sent: Sent[] = [];
  const asked: TestClient["asked"] = [];
  return {
    id: randomUUID(),
    capabilities,
    logLevel: options.logLevel,
    closed: closing.signal,
    sent,
    asked,
    notify: (method, params) => void sent.push({ method, params }),
    async ask(method, params, signal) {
      asked.push({ method, params, signal });
      const capability = method.split("/")[0] as string;
      if (capabilities[capability] === undefined || answer === undefined) {
        throw new McpError(
          "MCP_CLIENT_CAPABILITY_MISSING",
          `The client that made this call does not support ${capability}`,
        );
      }
      return answer(method, params);
    },
    onRootsChanged(listener) {
      rootsListeners.add(listener);
      return () => void rootsListeners.delete(listener);
    },
    changeRoots() {
      for (const listener of rootsListeners) listener();
    },
    leave: () => closing.abort(new Error("The client left")),
  };
}

/** Creates a client that answers all requests, after `ready`; its answers contain `name`. */
export function createAskableClient(name: string, ready?: Promise<void>): TestClient {
  return createClient({
    capabilities: { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } },
    async answer(method) {
      await ready;
      if (method === "roots/list") return { roots: [{ uri: `file:///${name}`, name }] };
      if (method === "elicitation/create") return { action: "accept", content: { name } };
      return { role: "assistant", content: { type: "text", text: name }, model: name };
    },
  });
}

export function textOf(result: ToolResult): string {
  const [block] = result.content;
  return String(block?.["text"]);
}

/** Returns the messages of one method that the echo server received, on all connections of its process. */
export async function receivedBy(
  source: TestSource,
  method: string,
  call?: CallContext,
): Promise<JsonObject[]> {
  return JSON.parse(await source.text("received", { method }, call)) as JsonObject[];
}

export function untilReady({ server }: TestSource): Promise<unknown> {
  return waitUntil(() => server.health().state === "ready", { what: "the server is ready" });
}

export function untilDown({ server }: TestSource): Promise<unknown> {
  return waitUntil(() => server.health().state !== "ready", { what: "the server is not ready" });
}

/** Lets this process handle pending events of its sockets, such as their end. */
export async function untilNoticed(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Returns the error of `work`. */
export async function failureOf(
  work: Promise<unknown>,
): Promise<{ code: string; message: string; data: JsonObject }> {
  try {
    await work;
  } catch (error) {
    return error as { code: string; message: string; data: JsonObject };
  }
  return assert.fail("It did not fail");
}
