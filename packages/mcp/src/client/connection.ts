/**
 * One conversation with a server, whatever its transport and era: the
 * handshake, requests with their progress and cancellation, and what the server
 * asks back. The era is found once; its owner may remember the verdict, which
 * then is tried first.
 *
 * A server that speaks both eras is spoken to in the legacy one, where its
 * requests to the client (sampling, elicitation, roots) can be passed through
 * while a call runs.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { ClientInfo, Era } from "@toolcrib/tool";
import { metaOf, type RpcId } from "../json-rpc.ts";
import { McpError, methodNotFound } from "../mcp-error.ts";
import { type InboundRequest, MessageRouter } from "../message-router.ts";
import { encodeHeaderValue, mirroredParametersOf, mirroredValue } from "../mirrored-headers.ts";
import {
  eraOf,
  latestLegacyVersion,
  latestModernVersion,
  metaKeys,
  modernVersions,
  rpcCodes,
} from "../protocol.ts";
import type { ClientTransport, SendHints } from "./transport.ts";

/** What the owner of a connection does with what the server sends. */
export interface ConnectionHandlers {
  /** The server asks (sampling, elicitation, roots); `relatedTo` is our request on whose stream it came. */
  request?(request: InboundRequest): Promise<JsonObject>;
  /** A notification that no request of ours claimed; `relatedTo` is the request on whose stream it came, answered or not. */
  notification?(method: string, params: JsonObject, relatedTo: RpcId | undefined): void;
  /** What fits nowhere, for the log. */
  stray?(reason: string): void;
}

/** Options of `openConnection`. */
export interface ConnectionOptions {
  readonly clientInfo: ClientInfo;
  /** MCP `ClientCapabilities` to declare. @default {} */
  readonly capabilities?: JsonObject;
  /** The era of an earlier connection, to be tried first. @default "legacy" */
  readonly era?: Era;
  /** Milliseconds for the whole handshake. @default 30,000 */
  readonly handshakeTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** How one request behaves. */
export interface ConnectionRequestOptions {
  /** Aborting it cancels the request at the server and rejects with its reason. */
  readonly signal?: AbortSignal;
  /** @default none: the signal ends it */
  readonly timeoutMs?: number;
  /** Ask for progress and take it. */
  readonly onProgress?: (params: JsonObject) => void;
  /**
   * Take notifications that belong to this request: those on its stream (HTTP),
   * and those of the subscription that it opened (`subscriptions/listen`).
   */
  readonly onNotification?: (method: string, params: JsonObject) => void;
  /** Called with the id under which the server knows the request. */
  readonly onId?: (id: RpcId) => void;
  /** Modern era: lowest level of log messages wanted for this request. */
  readonly logLevel?: string;
  /** Modern era over HTTP: the schema whose `x-mcp-header` parameters are mirrored. */
  readonly inputSchema?: JsonObject;
}

/** An open conversation with a server. */
export interface Connection extends AsyncDisposable {
  readonly era: Era;
  readonly protocolVersion: string;
  /** MCP `ServerCapabilities`. */
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject | undefined;
  readonly instructions: string | undefined;
  /** Requests that wait for their answer. */
  readonly inFlight: number;
  /** Aborts when the conversation ends, with the error that ended it. */
  readonly closed: AbortSignal;
  /**
   * Ask the server. Modern results come without `resultType`.
   *
   * @throws {McpError} see `MessageRouter.request`.
   */
  request(method: string, params: JsonObject, options?: ConnectionRequestOptions): Promise<JsonObject>;
  notify(method: string, params: JsonObject): void;
}

/**
 * Open a conversation over `transport`, which belongs to the connection from now on.
 *
 * @throws {McpError} `MCP_UNREACHABLE`, `MCP_UNAUTHORIZED`, `MCP_TIMEOUT`,
 *   `MCP_UNSUPPORTED_VERSION`, `MCP_CONNECTION_CLOSED`; the signal's reason.
 */
export async function openConnection(
  transport: ClientTransport,
  handlers: ConnectionHandlers,
  options: ConnectionOptions,
): Promise<Connection> {
  const ended = new AbortController();
  let hints: SendHints | undefined;
  const router = new MessageRouter((message) => transport.send(message, hints), {
    request: (request) =>
      handlers.request === undefined || request.method === "ping"
        ? answerAlone(request)
        : handlers.request(request),
    notification: (method, params, relatedTo) => handlers.notification?.(method, params, relatedTo),
    stray: (reason) => handlers.stray?.(reason),
  });
  function end(error: McpError): void {
    // An expired session means that a request was not looked at, which nobody can say of those in flight.
    const inFlightError =
      error.code === "MCP_SESSION_EXPIRED"
        ? new McpError("MCP_CONNECTION_CLOSED", "The session ended before the answer came", { cause: error })
        : undefined;
    router.close(error, inFlightError);
    if (!ended.signal.aborted) ended.abort(error);
  }
  function receive(value: unknown, relatedTo?: RpcId): void {
    // Servers up to 2025-03-26 may send batches.
    for (const one of Array.isArray(value) && value.length > 0 ? value : [value])
      router.receive(one, relatedTo ?? subscriptionOf(one));
  }
  const timeoutMs = options.handshakeTimeoutMs ?? 30_000;
  const signal = options.signal ?? new AbortController().signal;
  const opening = new AbortController();
  const timer = setTimeout(() => {
    const text = `The server did not finish its handshake within ${timeoutMs} ms`;
    opening.abort(
      new McpError("MCP_TIMEOUT", text, { hint: "see its log; a slow server may need more time" }),
    );
  }, timeoutMs);
  const aborted = () => opening.abort(signal.reason);
  signal.addEventListener("abort", aborted);
  try {
    signal.throwIfAborted();
    await transport.open(
      {
        message: receive,
        failed: (id, error) => router.fail(id, error),
        closed: end,
        garbage: (reason) => handlers.stray?.(reason),
      },
      opening.signal,
    );
    const agreed = await negotiate(router, transport, options, opening.signal);
    return createConnection(agreed);
  } catch (error) {
    await transport.close();
    end(
      error instanceof McpError
        ? error
        : new McpError("MCP_CONNECTION_CLOSED", "The connection was not opened"),
    );
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", aborted);
  }

  function createConnection(agreed: Agreed): Connection {
    const isModern = agreed.era === "modern";
    const ownMeta = modernMeta(agreed.protocolVersion, options);
    async function requestModern(
      method: string,
      params: JsonObject,
      requestOptions: ConnectionRequestOptions = {},
    ): Promise<JsonObject> {
      const { logLevel, inputSchema } = requestOptions;
      const meta = {
        ...metaOf(params),
        ...ownMeta,
        ...(logLevel === undefined ? undefined : { [metaKeys.logLevel]: logLevel }),
      };
      hints = { headers: parameterHeaders(inputSchema, params) };
      // The router sends before it returns, so the hints reach this message and no other.
      const answer = router.request(method, { ...params, _meta: meta }, requestOptions);
      hints = undefined;
      return withoutResultType(await answer);
    }

    return {
      ...agreed,
      get inFlight() {
        return router.outboundCount;
      },
      closed: ended.signal,
      request: isModern ? requestModern : (method, params, given) => router.request(method, params, given),
      notify: (method, params) => router.notify(method, params),
      async [Symbol.asyncDispose]() {
        end(new McpError("MCP_CONNECTION_CLOSED", "The connection was closed"));
        await transport.close();
      },
    };
  }
}

/** What a handshake agreed on. */
type Agreed = Pick<Connection, "era" | "protocolVersion" | "capabilities" | "serverInfo" | "instructions">;

async function negotiate(
  router: MessageRouter,
  transport: ClientTransport,
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<Agreed> {
  const isModernFirst = options.era === "modern" && transport.kind !== "sse";
  const [first, second] = isModernFirst ? [discover, initialize] : [initialize, discover];
  try {
    return await first(router, transport, options, signal);
  } catch (error) {
    const mayBeOther =
      transport.kind !== "sse" && error instanceof McpError && isRefusal(error, isModernFirst);
    if (!mayBeOther) throw error;
    try {
      return await second(router, transport, options, signal);
    } catch (other) {
      // The first refusal tells more than the failed second attempt, unless that one found the server's era.
      throw other instanceof McpError && other.code === "MCP_UNSUPPORTED_VERSION" ? other : error;
    }
  }
}

/**
 * Whether a refused handshake may come from a server of the other era: it
 * answers with any JSON-RPC error, or with an HTTP status that says so. A
 * modern server that names the versions it speaks is of the other era only
 * when a legacy one is among them.
 */
function isRefusal(error: McpError, isModern: boolean): boolean {
  if (error.code === "MCP_UNSUPPORTED_VERSION") {
    const supported = error.data?.["supported"];
    return isModern && Array.isArray(supported) && supported.some((one) => eraOf(String(one)) === "legacy");
  }
  if (error.code === "MCP_REMOTE_ERROR") return true;
  const status = error.code === "MCP_UNREACHABLE" ? error.data?.["status"] : undefined;
  // Which 4xx a legacy server answers to a modern request is its own choice.
  return status === 400 || (isModern && (status === 404 || status === 405 || status === 406));
}

async function initialize(
  router: MessageRouter,
  transport: ClientTransport,
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<Agreed> {
  const result = await router.request(
    "initialize",
    {
      protocolVersion: latestLegacyVersion,
      capabilities: options.capabilities ?? {},
      clientInfo: options.clientInfo as unknown as JsonObject,
    },
    { signal },
  );
  const version = result["protocolVersion"];
  if (typeof version !== "string" || eraOf(version) !== "legacy") throw unsupported([version]);
  transport.negotiated?.(version);
  router.notify("notifications/initialized", {});
  return {
    ...describe(result),
    era: "legacy",
    protocolVersion: version,
    serverInfo: objectAt(result, "serverInfo"),
  };
}

async function discover(
  router: MessageRouter,
  transport: ClientTransport,
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<Agreed> {
  const params = { _meta: modernMeta(latestModernVersion, options) };
  const result = await router.request("server/discover", params, { signal }).catch((error: unknown) => {
    const isVersion = error instanceof McpError && error.rpcCode === rpcCodes.unsupportedVersion;
    throw isVersion ? unsupported(versionsIn(error.rpcData)) : error;
  });
  const offered = result["supportedVersions"];
  const version = modernVersions.find((one) => Array.isArray(offered) && offered.includes(one));
  if (version === undefined) throw unsupported(offered);
  transport.negotiated?.(version);
  const serverInfo = metaOf(result)?.[metaKeys.serverInfo];
  return {
    ...describe(result),
    era: "modern",
    protocolVersion: version,
    serverInfo: isJsonObject(serverInfo) ? serverInfo : undefined,
  };
}

function describe(result: JsonObject): Pick<Agreed, "capabilities" | "instructions"> {
  const instructions = result["instructions"];
  return {
    capabilities: objectAt(result, "capabilities") ?? {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}

function objectAt(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key];
  return isJsonObject(value) ? value : undefined;
}

function versionsIn(data: unknown): unknown {
  return typeof data === "object" && data !== null && "supported" in data ? data.supported : undefined;
}

function unsupported(offered: unknown): McpError {
  const supported = Array.isArray(offered) ? offered.map(String) : [];
  return new McpError(
    "MCP_UNSUPPORTED_VERSION",
    `The server speaks none of our protocol versions; it offers ${supported.join(", ") || "none"}`,
    { rpcCode: rpcCodes.unsupportedVersion, data: { supported } },
  );
}

function modernMeta(version: string, options: ConnectionOptions): JsonObject {
  return {
    [metaKeys.protocolVersion]: version,
    [metaKeys.clientInfo]: options.clientInfo as unknown as JsonObject,
    [metaKeys.clientCapabilities]: options.capabilities ?? {},
  };
}

function withoutResultType(result: JsonObject): JsonObject {
  const { resultType, ...rest } = result;
  if (resultType === undefined || resultType === "complete") return rest;
  if (resultType === "input_required") {
    throw new McpError(
      "MCP_CLIENT_CAPABILITY_MISSING",
      "The server needs input from the client that cannot be passed on while a call runs",
      { hint: "call the server directly, or use a tool that needs no input while it runs" },
    );
  }
  throw new McpError(
    "MCP_INVALID_MESSAGE",
    `The server answered with the unknown result type "${String(resultType)}"`,
  );
}

/** The request whose `subscriptions/listen` stream a notification belongs to; on stdio nothing else tells. */
function subscriptionOf(value: unknown): RpcId | undefined {
  if (!isJsonObject(value) || value["id"] !== undefined || !isJsonObject(value["params"])) return undefined;
  const id = metaOf(value["params"])?.[metaKeys.subscriptionId];
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

function parameterHeaders(inputSchema: JsonObject | undefined, params: JsonObject): Record<string, string> {
  const headers: Record<string, string> = {};
  const args = params["arguments"];
  if (inputSchema === undefined || !isJsonObject(args)) return headers;
  const mirrored = mirroredParametersOf(inputSchema);
  if (mirrored.kind === "invalid") return headers;
  for (const { header, path } of mirrored.parameters) {
    const value = mirroredValue(args, path);
    if (value !== undefined) headers[header] = encodeHeaderValue(value);
  }
  return headers;
}

function answerAlone(request: InboundRequest): Promise<JsonObject> {
  return request.method === "ping" ? Promise.resolve({}) : Promise.reject(methodNotFound(request.method));
}
