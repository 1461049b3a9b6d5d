/**
 * The modern era on the server edge (2026-07-28): each request stands alone
 * and carries version, client and capabilities in `_meta`. Transport-free; the
 * HTTP adapter adds the header checks.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { Identity } from "@toolcrib/tool";
import { mcpUnsupportedVersion } from "../codes.ts";
import { metaOf, type RpcId } from "../json-rpc.ts";
import { invalidRequest, McpError, methodNotFound } from "../mcp-error.ts";
import { eraOf, legacyVersions, metaKeys, modernVersions, passesLogLevel, rpcCodes } from "../protocol.ts";
import { clientCapabilityMissing } from "./legacy-session.ts";
import type { ListenFilter, McpService, View } from "./service.ts";

/** A modern request with its way back. */
export interface ModernRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  readonly identity: Identity;
  readonly view: View;
  readonly signal: AbortSignal;
  /** Send a notification on this request's stream. */
  notify(method: string, params: JsonObject): void;
}

/** Methods that the modern era has; the service answers all but the first two. */
const modernMethods: ReadonlySet<string> = new Set([
  "server/discover",
  "subscriptions/listen",
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
  "prompts/get",
  "completion/complete",
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

/**
 * Answer `request`.
 *
 * @throws {McpError} with `httpStatus` where the transport is HTTP: -32022 and
 *   400 for a version that is not spoken, -32602 and 400 for missing `_meta`
 *   fields, -32601 and 404 for an unknown method.
 */
export async function answerModernRequest(service: McpService, request: ModernRequest): Promise<JsonObject> {
  const meta = metaOf(request.params) ?? {};
  const version = meta[metaKeys.protocolVersion];
  if (typeof version !== "string" || eraOf(version) !== "modern") throw unsupportedVersion(String(version));
  const capabilities = meta[metaKeys.clientCapabilities];
  if (!isJsonObject(capabilities)) {
    const text = `Each request needs an object at _meta["${metaKeys.clientCapabilities}"]`;
    throw invalidRequest(text, rpcCodes.invalidParams, 400);
  }
  if (!modernMethods.has(request.method)) throw methodNotFound(request.method);
  const result = await answer(service, request, meta, capabilities);
  return complete(service, request, result);
}

/** The error for a revision that is not spoken here, with those that are. */
export function unsupportedVersion(requested: string): McpError {
  return new McpError(mcpUnsupportedVersion, `Unsupported protocol version: "${requested}"`, {
    rpcCode: rpcCodes.unsupportedVersion,
    httpStatus: 400,
    rpcData: { supported: [...modernVersions, ...legacyVersions], requested },
  });
}

function answer(
  service: McpService,
  request: ModernRequest,
  meta: JsonObject,
  clientCapabilities: JsonObject,
): Promise<JsonObject> {
  const { method, params, identity, view, signal } = request;
  if (method === "server/discover") return Promise.resolve(discover(service, view, identity));
  if (method === "subscriptions/listen") return listen(service, request);
  const token = meta["progressToken"];
  const wantsProgress = typeof token === "string" || typeof token === "number";
  const threshold = meta[metaKeys.logLevel];
  const clientInfo = meta[metaKeys.clientInfo];
  return service.handle({
    method,
    params,
    identity,
    view,
    era: "modern",
    clientInfo: isJsonObject(clientInfo) ? clientInfo : undefined,
    clientCapabilities,
    signal,
    wantsProgress,
    progress(progress) {
      if (wantsProgress) request.notify("notifications/progress", { ...progress, progressToken: token });
    },
    notify(name, notification) {
      // No log message without a level in the request (2026-07-28, logging).
      const isLog = name === "notifications/message";
      if (isLog && (typeof threshold !== "string" || !passesLogLevel(notification["level"], threshold)))
        return;
      request.notify(name, notification);
    },
    ask: (name) => Promise.reject(clientCapabilityMissing(name.split("/")[0] ?? name)),
  });
}

function discover(service: McpService, view: View, identity: Identity): JsonObject {
  const instructions = service.instructions(view, identity);
  // Logging and resource subscription are methods of the legacy era only.
  const { logging: _logging, ...capabilities } = service.capabilities(view, identity);
  return {
    supportedVersions: [...modernVersions, ...legacyVersions],
    capabilities,
    ...(instructions === undefined ? undefined : { instructions }),
  };
}

async function listen(service: McpService, request: ModernRequest): Promise<JsonObject> {
  const filter = request.params["notifications"];
  if (!isJsonObject(filter)) {
    throw invalidRequest(
      '"subscriptions/listen" needs a "notifications" object',
      rpcCodes.invalidParams,
      400,
    );
  }
  const tag = (params: JsonObject) => ({
    ...params,
    _meta: { ...metaOf(params), [metaKeys.subscriptionId]: request.id },
  });
  let isAcknowledged = false;
  const waiting: (() => void)[] = [];
  const honoured = await service.listen({
    identity: request.identity,
    view: request.view,
    filter: filter as ListenFilter,
    closed: request.signal,
    notify(method, params) {
      const send = () => request.notify(method, tag(params));
      if (isAcknowledged) send();
      else waiting.push(send);
    },
  });
  request.notify("notifications/subscriptions/acknowledged", tag({ notifications: honoured as JsonObject }));
  isAcknowledged = true;
  for (const send of waiting) send();
  await new Promise<void>((resolve) => {
    if (request.signal.aborted) resolve();
    else request.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  return { _meta: { [metaKeys.subscriptionId]: request.id } };
}

function complete(service: McpService, request: ModernRequest, result: JsonObject): JsonObject {
  return {
    resultType: "complete",
    // What a client may see depends on who it is, so no cache may be shared.
    ...(cacheableMethods.has(request.method) ? { ttlMs: 0, cacheScope: "private" } : undefined),
    ...result,
    _meta: { ...metaOf(result), [metaKeys.serverInfo]: service.serverInfo as unknown as JsonObject },
  };
}
