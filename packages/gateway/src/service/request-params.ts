/** Parameters of requests, checked, and the origin of the call that a request makes. Pure. */

import type { StateOwner } from "@toolcrib/admission";
import type { CompletionReference } from "@toolcrib/inventory";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { metaOf, type ServiceRequest, type View } from "@toolcrib/mcp";
import type { Identity } from "@toolcrib/tool";
import type { CallOrigin, CallTarget } from "../call/call-target.ts";
import { GatewayError } from "../gateway-error.ts";
import { toClientInfo } from "./client-info.ts";

/** JSON-RPC code of invalid parameters. */
export const invalidParams = -32602;
/** Longest URI that a client may send, in characters. @limit client */
export const uriMaxLength = 8192;

/** The server of the view `s/<server>`; undefined for the view of all. */
export function serverOfView(view: View): string | undefined {
  return view.startsWith("s/") ? view.slice(2) : undefined;
}

/** The origin of a client's own call. @param rounds present if the client takes questions as the result of the call */
export function toOrigin(request: ServiceRequest, rounds?: CallOrigin["rounds"]): CallOrigin {
  const { identity, era, session, wantsProgress, signal, httpTrace } = request;
  return {
    identity,
    era,
    session,
    clientCapabilities: request.clientCapabilities,
    logLevel: request.logLevel,
    rounds,
    wantsProgress,
    signal,
    httpTrace,
    isDirect: true,
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

/** `params` without the members that belong to this hop: `_meta`, and the answers to questions with their state. */
export function withoutMeta(params: JsonObject): JsonObject {
  const { _meta, inputResponses, requestState, ...rest } = params;
  return rest;
}

/** The URI of a resource request. @throws {GatewayError} `PARAMS_INVALID` */
export function uriOf({ params }: ServiceRequest): string {
  return checkUri("uri", params["uri"]);
}

/**
 * The reference of a completion request. It has no member that was not checked,
 * so that a server receives the same reference that the policy decided about.
 *
 * @throws {GatewayError} `PARAMS_INVALID`
 */
export function referenceOf({ params }: ServiceRequest): CompletionReference {
  const { ref } = params;
  if (!isJsonObject(ref)) throw paramsError('"ref" must be an object');
  const { type } = ref;
  if (type === "ref/prompt") {
    const { name } = ref;
    if (typeof name !== "string") throw paramsError('"ref.name" must be a string');
    return { type, name };
  }
  if (type === "ref/resource") return { type, uri: checkUri("ref.uri", ref["uri"]) };
  throw paramsError('"ref.type" must be "ref/prompt" or "ref/resource"');
}

/** The argument that a completion request completes, and the values that are known already. */
export interface Completed {
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments: { readonly [name: string]: string } };
}

/**
 * Returns the parameters of a completion request, without members that were not checked.
 *
 * @throws {GatewayError} `PARAMS_INVALID`
 */
export function completedOf({ params }: ServiceRequest): Completed {
  const { argument, context } = params;
  const { name, value } = isJsonObject(argument) ? argument : {};
  if (typeof name !== "string" || typeof value !== "string") {
    throw paramsError('"argument" must be an object with the strings "name" and "value"');
  }
  const known = isJsonObject(context) ? context["arguments"] : undefined;
  if (known === undefined) return { argument: { name, value } };
  if (!isJsonObject(known) || !Object.values(known).every((one) => typeof one === "string")) {
    throw paramsError('"context.arguments" must be an object of strings');
  }
  const values = known as { readonly [name: string]: string };
  return { argument: { name, value }, context: { arguments: values } };
}

/**
 * Returns `uri` if it can be compared with patterns. That takes time
 * proportional to its length. URL parsers drop control characters and outer
 * spaces, so that another text than the compared one would reach a resource.
 */
function checkUri(field: string, uri: unknown): string {
  if (typeof uri !== "string") throw paramsError(`"${field}" must be a string`);
  if (uri.length > uriMaxLength) throw paramsError(`"${field}" is longer than ${uriMaxLength} characters`);
  if (/\p{Cc}|^\s|\s$/u.test(uri))
    throw paramsError(
      `"${field}" contains a control character, or a space at its start or end: encode it with %`,
    );
  return uri;
}

/** An error about invalid parameters. */
export function paramsError(message: string, hint?: string): GatewayError {
  return new GatewayError("PARAMS_INVALID", message, { rpcCode: invalidParams, hint });
}

/** The error for a resource that no server offers to this client. @param reason why, where it waits for approval */
export function resourceError(
  request: Pick<ServiceRequest, "era">,
  uri: string,
  reason?: string,
): GatewayError {
  const shown = `"${uri.slice(0, 500)}"`;
  const message =
    reason === undefined ? `Resource not found: ${shown}` : `The resource ${shown} cannot be read: ${reason}`;
  return new GatewayError("RESOURCE_NOT_FOUND", message, {
    // The modern era folded this code into invalid params.
    rpcCode: request.era === "modern" ? invalidParams : -32002,
    data: { uri },
  });
}

/** The error for a prompt that no server offers to this client. @param reason why the prompt is not offered, where it waits for approval */
export function promptError(name: unknown, reason?: string): GatewayError {
  const message =
    reason === undefined
      ? `Unknown prompt: "${String(name)}"`
      : `The prompt "${String(name)}" cannot be used: ${reason}`;
  return new GatewayError("PROMPT_NOT_FOUND", message, { rpcCode: invalidParams });
}

/** The call that questions belong to. An approval of it is bound to its definition, too. */
export function ownerOf(identity: Identity, { id, approval }: CallTarget, args: JsonObject): StateOwner {
  return { identity, target: approval === undefined ? id : `${id} ${approval.definitionDigest}`, args };
}
