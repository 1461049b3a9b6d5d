/**
 * Plans the request of an `http` endpoint (MCPKG document, section 4.1). GET, HEAD and DELETE send
 * the input as query parameters, the others as a JSON body; `{name}` in the URL takes an input property.
 * Arguments come from an agent and are treated as hostile: the checks of the path are those of
 * toolspecs, and no value changes the host, the number of segments, or the query around it. Pure.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { Endpoint } from "@toolcrib/mcpkg";
import {
  type FilledCredential,
  type ParamType,
  planRequest,
  type ToolspecParam,
  type ToolspecTool,
} from "@toolcrib/toolspec";
import { McpkgRuntimeError } from "../runtime-error.ts";

/** An endpoint of the type `http`. */
export type HttpEndpoint = Extract<Endpoint, { readonly type: "http" }>;

/** A request, ready to be sent. */
export interface EndpointPlan {
  /** The request as a toolspec's, for the mapping of its response. */
  readonly tool: ToolspecTool;
  readonly method: HttpEndpoint["method"];
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

/** Input of a plan besides the endpoint and the arguments. */
export interface PlanEndpointOptions {
  /** Id of the tool, for messages. */
  readonly toolId: string;
  readonly credentials: readonly FilledCredential[];
  readonly userAgent: string;
  /** Maximum number of bytes of a body. @default 10,485,760 */
  readonly bodyMaxBytes?: number;
}

/** Methods that send the input in the query. */
const queryMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE"]);

/** Stands for the host while the path is planned: it is a name, and the real host can be an address. */
const plannedHost = "endpoint.invalid";

const urlMaxLength = 16_384;

/** The parts of the URL of an endpoint. */
export interface EndpointUrl {
  /** Scheme and authority, such as `https://api.example.com`. */
  readonly origin: string;
  /** Path with its placeholders. */
  readonly path: string;
  /** Query with its placeholders, without the question mark; empty for none. */
  readonly query: string;
}

/** Splits the URL of an endpoint. The placeholders are in its path and its query. */
export function splitUrl(url: string): EndpointUrl {
  const [, origin = "", path = "", query = ""] =
    /^(https?:\/\/[^/?#]*)([^?#]*)(?:\?([^#]*))?$/i.exec(url) ?? [];
  return { origin, path: path === "" ? "/" : path, query };
}

/**
 * Returns the request for a call with `args`.
 *
 * @throws {ToolspecError} as `planRequest`
 * @throws {McpkgRuntimeError} `PACKAGE_INPUT_INVALID`
 */
export function planEndpoint(
  endpoint: HttpEndpoint,
  args: JsonObject,
  { toolId, credentials, userAgent, bodyMaxBytes = 10_485_760 }: PlanEndpointOptions,
): EndpointPlan {
  const { origin, path, query } = splitUrl(endpoint.url);
  const isQuery = queryMethods.has(endpoint.method);
  const inPath = placeholdersOf(path);
  const bound = new Set([...inPath, ...placeholdersOf(query)]);
  const rest = Object.entries(args).filter(([name, value]) => !bound.has(name) && value !== undefined);
  const params: ToolspecParam[] = [...new Set(inPath)].map((name) => ({
    name,
    in: "path",
    required: true,
    type: paramTypeOf(args[name]),
  }));
  if (isQuery) params.push(...rest.flatMap(([name, value]) => queryParam(name, value)));
  const tool: ToolspecTool = {
    name: toolId,
    description: "",
    method: isQuery ? "GET" : "POST",
    path,
    params,
  };
  const given = Object.fromEntries(
    params.flatMap(({ name }) => (args[name] === null ? [] : [[name, args[name]]])),
  );
  const plan = planRequest(
    tool,
    { schemaVersion: 1, name: toolId, version: "1.0.0", baseUrl: `https://${plannedHost}`, tools: [tool] },
    given,
    { egress: [plannedPattern], credentials, userAgent, urlMaxLength },
  );
  const planned = plan.url.slice(`https://${plannedHost}`.length);
  const url = `${origin}${withQuery(planned, fillQuery(query, args))}`;
  if (url.length > urlMaxLength) {
    throw invalid(`The URL has ${url.length} characters; at most ${urlMaxLength} are allowed`);
  }
  const { "Content-Type": _type, ...headers } = plan.headers;
  if (isQuery) return { tool, method: endpoint.method, url, headers, body: undefined };
  const body = new TextEncoder().encode(JSON.stringify(Object.fromEntries(rest)));
  if (body.length > bodyMaxBytes) {
    throw invalid(`The request body has ${body.length} bytes; at most ${bodyMaxBytes} are allowed`);
  }
  return {
    tool,
    method: endpoint.method,
    url,
    headers: { ...headers, "Content-Type": "application/json" },
    body,
  };
}

const plannedPattern = { text: plannedHost, isWildcard: false, name: plannedHost } as const;

function placeholdersOf(text: string): readonly string[] {
  return [...text.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name);
}

function queryParam(name: string, value: JsonValue | undefined): ToolspecParam[] {
  // A query has no null; the parameter is left out.
  return value === null || value === undefined ? [] : [{ name, in: "query", type: paramTypeOf(value) }];
}

function paramTypeOf(value: JsonValue | undefined): ParamType {
  if (Array.isArray(value)) return "array";
  if (isJsonObject(value)) return "object";
  return typeof value === "number" ? "number" : typeof value === "boolean" ? "boolean" : "string";
}

/** Fills the placeholders of a query. A property that is not given leaves its place empty. */
function fillQuery(query: string, args: JsonObject): string {
  return query.replaceAll(/\{([^{}]+)\}/g, (_all, name: string) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (value === undefined || value === null) return "";
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (!text.isWellFormed()) {
      throw invalid(`Property "${name}" contains half a character, which cannot be sent`);
    }
    return encodeURIComponent(text);
  });
}

/** Puts the query of the endpoint before that of the parameters. */
function withQuery(planned: string, query: string): string {
  if (query === "") return planned;
  const at = planned.indexOf("?");
  return at === -1 ? `${planned}?${query}` : `${planned.slice(0, at)}?${query}&${planned.slice(at + 1)}`;
}

function invalid(message: string): McpkgRuntimeError {
  return new McpkgRuntimeError("PACKAGE_INPUT_INVALID", message);
}
