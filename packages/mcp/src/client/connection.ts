/**
 * One conversation with a server, whatever its transport and era: the
 * handshake, requests with their progress and cancellation, and what the server
 * asks back. The era is found once; its owner may remember the verdict.
 *
 * A server that speaks both eras is spoken to in the legacy one, where its
 * requests to the client (sampling, elicitation, roots) can be passed through
 * while a call runs.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { ClientInfo, Era } from "@toolcrib/tool";
import {
  mcpConnectionClosed,
  mcpMethodNotFound,
  mcpRemoteError,
  mcpUnreachable,
  mcpUnsupportedVersion,
} from "../codes.ts";
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
  /** A notification that no request of ours claimed. */
  notification?(method: string, params: JsonObject): void;
  /** What fits nowhere, for the log. */
  stray?(reason: string): void;
}

/** Options of `openConnection`. */
export interface ConnectionOptions {
  readonly clientInfo: ClientInfo;
  /** MCP `ClientCapabilities` to declare. @default {} */
  readonly capabilities?: JsonObject;
  /** The era, when it is known from an earlier connection. @default found out */
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
  /** Take notifications that the transport attributes to this request. */
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
    notification: (method, params) => handlers.notification?.(method, params),
    stray: (reason) => handlers.stray?.(reason),
  });
  function end(error: McpError): void {
    router.close(error);
    if (!ended.signal.aborted) ended.abort(error);
  }
  const timeoutMs = options.handshakeTimeoutMs ?? 30_000;
  const signal = options.signal ?? new AbortController().signal;
  const opening = new AbortController();
  const timer = setTimeout(() => {
    const text = `The server did not finish its handshake within ${timeoutMs} ms`;
    opening.abort(
      new McpError(mcpUnreachable, text, { hint: "see its log; a slow server may need more time" }),
    );
  }, timeoutMs);
  const aborted = () => opening.abort(signal.reason);
  signal.addEventListener("abort", aborted);
  try {
    signal.throwIfAborted();
    await transport.open(
      {
        message: (value, relatedTo) => router.receive(value, relatedTo),
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
      error instanceof McpError ? error : new McpError(mcpConnectionClosed, "The connection was not opened"),
    );
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", aborted);
  }

  function createConnection(agreed: Agreed): Connection {
    const isModern = agreed.era === "modern";
    const ownMeta = modernMeta(agreed.protocolVersion, options);
    return {
      ...agreed,
      get inFlight() {
        return router.outboundCount;
      },
      closed: ended.signal,
      async request(method, params, requestOptions = {}) {
        if (!isModern) return router.request(method, params, requestOptions);
        const { logLevel, inputSchema } = requestOptions;
        const meta = {
          ...metaOf(params),
          ...ownMeta,
          ...(logLevel === undefined ? undefined : { [metaKeys.logLevel]: logLevel }),
        };
        hints = { headers: parameterHeaders(inputSchema, params) };
        let id: RpcId | undefined;
        // The router sends before it returns, so the hints reach this message and no other.
        const answer = router.request(
          method,
          { ...params, _meta: meta },
          {
            ...requestOptions,
            onId(given) {
              id = given;
              requestOptions.onId?.(given);
            },
          },
        );
        hints = undefined;
        try {
          return withoutResultType(await answer);
        } catch (error) {
          if (id !== undefined && requestOptions.signal?.aborted) transport.abandon?.(id);
          throw error;
        }
      },
      notify: (method, params) => router.notify(method, params),
      async [Symbol.asyncDispose]() {
        end(new McpError(mcpConnectionClosed, "The connection was closed"));
        await transport.close();
      },
    };
  }
}

/** What a handshake agreed on. */
interface Agreed {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject | undefined;
  readonly instructions: string | undefined;
}

async function negotiate(
  router: MessageRouter,
  transport: ClientTransport,
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<Agreed> {
  if (options.era === "modern") return discover(router, transport, options, signal);
  try {
    return await initialize(router, transport, options, signal);
  } catch (error) {
    const mayBeModern =
      options.era === undefined &&
      error instanceof McpError &&
      isModernRefusal(error) &&
      transport.kind !== "sse";
    if (!mayBeModern) throw error;
    try {
      return await discover(router, transport, options, signal);
    } catch (second) {
      // The first refusal tells more than the failed second attempt, unless that one found a modern server.
      throw second instanceof McpError && second.code === mcpUnsupportedVersion ? second : error;
    }
  }
}

/**
 * Whether a refused `initialize` may come from a server of the modern era: it
 * answers with any JSON-RPC error, or with HTTP 400.
 */
function isModernRefusal(error: McpError): boolean {
  if (error.code === mcpRemoteError || error.code === mcpMethodNotFound) return true;
  return error.code === mcpUnreachable && error.data?.["status"] === 400;
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
  if (typeof version !== "string" || eraOf(version) !== "legacy") throw unsupported(String(version));
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
  const result = await router.request(
    "server/discover",
    { _meta: modernMeta(latestModernVersion, options) },
    { signal },
  );
  const offered: unknown = result["supportedVersions"];
  const version = modernVersions.find((one) => Array.isArray(offered) && offered.includes(one));
  if (version === undefined) throw unsupported(JSON.stringify(offered));
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

function unsupported(offered: string): McpError {
  return new McpError(
    mcpUnsupportedVersion,
    `The server speaks none of our protocol versions; it offers ${offered}`,
    {
      rpcCode: rpcCodes.unsupportedVersion,
    },
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
  if (result["resultType"] === "input_required") {
    throw new McpError(
      mcpMethodNotFound,
      "The server needs input from the client that this gateway cannot pass on yet",
      {
        hint: "call the server directly, or use a tool that needs no input while it runs",
      },
    );
  }
  const { resultType: _resultType, ...rest } = result;
  return rest;
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
