/** Parameters of requests, checked, and the origin of the call that a request makes. Pure. */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { metaOf, type ServiceRequest, type View } from "@toolcrib/mcp";
import type { CallOrigin } from "../call/call-target.ts";
import { GatewayError } from "../gateway-error.ts";
import { toClientInfo } from "./client-info.ts";

/** JSON-RPC code of invalid parameters. */
export const invalidParams = -32602;
/** Longest URI that a client may send, in characters. */
export const uriMaxLength = 8192;

/** The server of the view `s/<server>`; undefined for the view of all. */
export function serverOfView(view: View): string | undefined {
  return view.startsWith("s/") ? view.slice(2) : undefined;
}

/** The origin of a client's own call. */
export function toOrigin(request: ServiceRequest): CallOrigin {
  const { identity, era, session, wantsProgress, signal } = request;
  return {
    identity,
    era,
    session,
    wantsProgress,
    signal,
    parent: undefined,
    clientInfo: toClientInfo(request.clientInfo),
    meta: passedOnMeta(request.params),
    clientChannel: request,
  };
}

/** `_meta` of a request without the members that belong to this hop. */
function passedOnMeta(params: JsonObject): JsonObject | undefined {
  const meta = metaOf(params);
  if (meta === undefined) return undefined;
  const kept = Object.entries(meta).filter(
    ([key]) => key !== "progressToken" && !key.startsWith("io.modelcontextprotocol/"),
  );
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** `params` without `_meta`. */
export function withoutMeta(params: JsonObject): JsonObject {
  if (!isJsonObject(params["_meta"])) return params;
  const { _meta, ...rest } = params;
  return rest;
}

/** The URI of a resource request. @throws {GatewayError} `PARAMS_INVALID` */
export function uriOf({ params }: ServiceRequest): string {
  const { uri } = params;
  if (typeof uri !== "string") throw paramsError('"uri" must be a string');
  checkLength("uri", uri);
  return uri;
}

/** The reference of a completion request. @throws {GatewayError} `PARAMS_INVALID` */
export function referenceOf({ params }: ServiceRequest): unknown {
  const { ref } = params;
  if (!isJsonObject(ref) || ref["uri"] === undefined) return ref;
  if (typeof ref["uri"] !== "string") throw paramsError('"ref.uri" must be a string');
  checkLength("ref.uri", ref["uri"]);
  return ref;
}

/** A URI is compared with patterns and templates, which takes time proportional to its length. */
function checkLength(field: string, uri: string): void {
  if (uri.length > uriMaxLength) throw paramsError(`"${field}" is longer than ${uriMaxLength} characters`);
}

/** An error about invalid parameters. */
export function paramsError(message: string): GatewayError {
  return new GatewayError("PARAMS_INVALID", message, { rpcCode: invalidParams });
}

/** The error for a resource that no server offers to this client. */
export function resourceError(request: ServiceRequest, uri: string): GatewayError {
  return new GatewayError("RESOURCE_NOT_FOUND", `Resource not found: "${uri.slice(0, 500)}"`, {
    // The modern era folded this code into invalid params.
    rpcCode: request.era === "modern" ? invalidParams : -32002,
    data: { uri },
  });
}
