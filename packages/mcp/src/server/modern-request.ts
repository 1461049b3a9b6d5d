/**
 * The modern era on the server side (2026-07-28): each request is self-contained
 * and carries version, client and capabilities in `_meta`. Independent of the
 * transport; the HTTP adapter adds the header checks.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { type Identity, isInputRequired } from "@toolcrib/tool";
import { metaOf, type RpcId } from "../json-rpc.ts";
import { invalidRequest, McpError, methodNotFound } from "../mcp-error.ts";
import {
  eraOf,
  legacyVersions,
  logLevels,
  metaKeys,
  modernVersions,
  passesLogLevel,
  rpcCodes,
} from "../protocol.ts";
import { capabilityFor } from "./legacy-session.ts";
import { progressTokenOf } from "./progress-token.ts";
import type { ListenFilter, McpService, TraceHeaders, View } from "./service.ts";

/** A modern request with the channel for its notifications. */
export interface ModernRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  readonly identity: Identity;
  readonly view: View;
  readonly signal: AbortSignal;
  /** The trace context of its HTTP request. @default none */
  readonly httpTrace?: TraceHeaders | undefined;
  /** Sends a notification on the stream of this request. */
  notify(method: string, params: JsonObject): void;
}

/** The method that opens a change stream; its answer ends the stream. */
export const listenMethod = "subscriptions/listen";

/** Methods of the modern era. The service answers all but the first two. */
const modernMethods: ReadonlySet<string> = new Set([
  "server/discover",
  listenMethod,
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
  "prompts/get",
  "completion/complete",
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
]);

/** Methods whose results carry `ttlMs` and `cacheScope` (CacheableResult). */
const cacheableMethods: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
]);

/** Methods whose result can be questions to the client (2026-07-28, multi round-trip requests). */
const askingMethods: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** Maximum number of resources that one change stream can watch. @limit client */
const maxWatched = 10_000;

/**
 * Answers `request`.
 *
 * @throws {McpError} with `httpStatus` for HTTP: -32022 and 400 for an
 *   unsupported version, -32602 and 400 for missing or malformed `_meta`
 *   fields, -32601 and 404 for an unknown method.
 */
export async function answerModernRequest(service: McpService, request: ModernRequest): Promise<JsonObject> {
  const meta = metaOf(request.params) ?? {};
  const version = meta[metaKeys.protocolVersion];
  if (typeof version !== "string" || eraOf(version) !== "modern") throw unsupportedVersion(String(version));
  const capabilities = meta[metaKeys.clientCapabilities];
  if (!isJsonObject(capabilities)) {
    throw invalidParams(`Each request needs an object at _meta["${metaKeys.clientCapabilities}"]`);
  }
  const threshold = meta[metaKeys.logLevel];
  if (threshold !== undefined && !(logLevels as readonly JsonValue[]).includes(threshold)) {
    throw invalidParams(`Unknown log level; allowed are ${logLevels.join(", ")}`);
  }
  if (!modernMethods.has(request.method)) throw methodNotFound(request.method);
  // The client no longer knows a request after its answer.
  let isAnswered = false;
  const open: ModernRequest = {
    ...request,
    notify(method, params) {
      if (!isAnswered && !request.signal.aborted) request.notify(method, params);
    },
  };
  try {
    const result = await answer(service, open, meta, capabilities);
    return complete(service, request, result);
  } finally {
    isAnswered = true;
  }
}

/** Creates the error for an unsupported revision, with the supported ones. */
export function unsupportedVersion(requested: string): McpError {
  return new McpError("MCP_UNSUPPORTED_VERSION", `Unsupported protocol version: "${requested}"`, {
    rpcCode: rpcCodes.unsupportedVersion,
    httpStatus: 400,
    rpcData: { supported: [...modernVersions, ...legacyVersions], requested },
  });
}

function invalidParams(message: string): McpError {
  return invalidRequest(message, rpcCodes.invalidParams, 400);
}

function answer(
  service: McpService,
  request: ModernRequest,
  meta: JsonObject,
  clientCapabilities: JsonObject,
): Promise<JsonObject> {
  const { method, params, identity, view, signal, httpTrace } = request;
  if (method === "server/discover") return Promise.resolve(discover(service, view, identity));
  if (method === listenMethod) return listen(service, request, clientCapabilities);
  const token = progressTokenOf(meta);
  const wantsProgress = token !== undefined;
  const threshold = meta[metaKeys.logLevel] as string | undefined;
  const clientInfo = meta[metaKeys.clientInfo];
  return service.handle({
    method,
    params,
    identity,
    view,
    era: "modern",
    clientInfo: isJsonObject(clientInfo) ? clientInfo : undefined,
    clientCapabilities,
    logLevel: threshold,
    signal,
    httpTrace,
    wantsProgress,
    progress(progress) {
      if (wantsProgress) request.notify("notifications/progress", { ...progress, progressToken: token });
    },
    notify(name, notification) {
      // No log message without a level in the request (2026-07-28, logging).
      const isLog = name === "notifications/message";
      if (isLog && (threshold === undefined || !passesLogLevel(notification["level"], threshold))) return;
      request.notify(name, notification);
    },
    ask: (name) => Promise.reject(cannotAsk(name, clientCapabilities)),
  });
}

/** Creates the error for a request to a modern client, which accepts requests only as results, and only with the capability. */
function cannotAsk(method: string, clientCapabilities: JsonObject): McpError {
  const capability = capabilityFor[method] ?? method;
  if (isJsonObject(clientCapabilities[capability])) {
    return new McpError(
      "MCP_CLIENT_CAPABILITY_MISSING",
      `"${method}" cannot be passed on to a client of revision ${modernVersions[0]} while a call runs`,
      { hint: `use a client of revision ${legacyVersions[0]} for this tool` },
    );
  }
  return new McpError(
    "MCP_CLIENT_CAPABILITY_MISSING",
    `The client that made this call does not support ${capability}`,
    {
      rpcCode: rpcCodes.missingClientCapability,
      httpStatus: 400,
      rpcData: { requiredCapabilities: { [capability]: {} } },
      hint: `use a client that declares the capability "${capability}"`,
    },
  );
}

function discover(service: McpService, view: View, identity: Identity): JsonObject {
  const instructions = service.instructions(view, identity);
  return {
    supportedVersions: [...modernVersions, ...legacyVersions],
    capabilities: service.capabilities(view, identity, "modern"),
    ...(instructions === undefined ? undefined : { instructions }),
  };
}

async function listen(
  service: McpService,
  request: ModernRequest,
  clientCapabilities: JsonObject,
): Promise<JsonObject> {
  const filter = toListenFilter(request.params["notifications"]);
  const tag = (params: JsonObject) => ({
    ...params,
    _meta: { ...metaOf(params), [metaKeys.subscriptionId]: request.id },
  });
  let isAcknowledged = false;
  const queued: (() => void)[] = [];
  const honored = await service.listen({
    identity: request.identity,
    view: request.view,
    filter,
    clientCapabilities,
    closed: request.signal,
    notify(method, params) {
      const send = () => request.notify(method, tag(params));
      if (isAcknowledged) send();
      else queued.push(send);
    },
  });
  request.notify("notifications/subscriptions/acknowledged", tag({ notifications: honored as JsonObject }));
  isAcknowledged = true;
  for (const send of queued) send();
  await new Promise<void>((resolve) => {
    if (request.signal.aborted) resolve();
    else request.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  return { _meta: { [metaKeys.subscriptionId]: request.id } };
}

function toListenFilter(value: JsonValue | undefined): ListenFilter {
  if (!isJsonObject(value)) throw invalidParams(`"${listenMethod}" needs a "notifications" object`);
  for (const name of ["toolsListChanged", "promptsListChanged", "resourcesListChanged"]) {
    const wanted = value[name];
    if (wanted !== undefined && typeof wanted !== "boolean")
      throw invalidParams(`"notifications.${name}" must be true or false`);
  }
  for (const name of ["resourceSubscriptions", "taskIds"]) {
    const ids = value[name];
    if (ids !== undefined && !(Array.isArray(ids) && ids.every((id) => typeof id === "string")))
      throw invalidParams(`"notifications.${name}" must be an array of strings`);
    if (Array.isArray(ids) && ids.length > maxWatched)
      throw invalidParams(`"notifications.${name}" has more than ${maxWatched} entries`);
  }
  return value as ListenFilter;
}

function complete(service: McpService, request: ModernRequest, result: JsonObject): JsonObject {
  const _meta = { ...metaOf(result), [metaKeys.serverInfo]: service.serverInfo as unknown as JsonObject };
  if (isInputRequired(result) && askingMethods.has(request.method)) {
    const { resultType, inputRequests, requestState } = result;
    return {
      resultType,
      ...(inputRequests === undefined ? undefined : { inputRequests }),
      ...(requestState === undefined ? undefined : { requestState }),
      _meta,
    } as JsonObject;
  }
  // Only the gateway makes results of this type: it removes the member from those of servers.
  if (result["resultType"] === "task" && request.method === "tools/call") return { ...result, _meta };
  return {
    ...result,
    resultType: "complete",
    // Results depend on the identity of the client, so no cache may be shared.
    ...(cacheableMethods.has(request.method) ? { ttlMs: 0, cacheScope: "private" } : undefined),
    _meta,
  };
}
