/**
 * Plans the HTTP request of a tool call, exact to the byte. Argument names and
 * values come from an agent and are treated as hostile: no value changes the
 * origin of the base URL, the number of path segments, or the number of lines of
 * a header. A request that cannot be written that way is refused before anything
 * is sent. Pure: sends nothing, and knows no secret except its input.
 */

import { quote } from "@toolcrib/document";
import { type HostPattern, isHostAllowed } from "@toolcrib/hosts";
import type { JsonObject } from "@toolcrib/json";
import { fillHost, parseBaseUrl } from "../spec/base-url.ts";
import type { Toolspec, ToolspecMethod, ToolspecTool } from "../spec/toolspec.ts";
import { ToolspecError } from "../toolspec-error.ts";
import { type Argument, argumentText, readArguments, textOf } from "./arguments.ts";
import { type FilledCredential, writeCredential } from "./credential-places.ts";
import { encodeQuery } from "./percent.ts";
import { writeBody } from "./write-body.ts";
import { pairsOf } from "./write-pairs.ts";
import { unsetHint, type WrittenPath, writePath } from "./write-path.ts";

/** Input of `planRequest` in addition to the toolspec and the arguments. */
export interface PlanOptions {
  /** The egress list of the manifest: the host of every request must match it. */
  readonly egress: readonly HostPattern[];
  /** Credentials (`placedCredentials`) with their tokens; they override everything else. @default none */
  readonly credentials?: readonly FilledCredential[];
  /** Path parameters that keep their slashes, as `tool.parameter`. @default none */
  readonly reserved?: readonly string[];
  /** Values of the variables of base URLs and paths. @default the defaults in the toolspec */
  readonly variables?: { readonly [name: string]: string };
  /** `User-Agent`. @default "toolcrib" */
  readonly userAgent?: string;
  /** Maximum number of characters of a URL. @default 16,384 */
  readonly urlMaxLength?: number;
  /** Maximum number of characters of the value of a header. @default 8192 */
  readonly headerMaxLength?: number;
  /** Maximum number of bytes of a body. @default 10,485,760 */
  readonly bodyMaxBytes?: number;
}

/** A request, ready to be sent. */
export interface RequestPlan {
  readonly method: ToolspecMethod;
  readonly url: string;
  /** Names in their spelling on the wire; no two differ only in case. */
  readonly headers: { readonly [name: string]: string };
  /** `undefined` when the request has no body. */
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

/**
 * Returns the request for a call of `tool` with `args`.
 *
 * @throws {ToolspecError} `TOOLSPEC_ARGUMENT_INVALID` for arguments that do not match the parameters,
 *   `TOOLSPEC_VALUE_HOSTILE` for values that would change the request, `TOOLSPEC_REQUEST_TOO_LARGE`,
 *   `TOOLSPEC_VARIABLE_UNSET`, `TOOLSPEC_EGRESS_DENIED`, `TOOLSPEC_CREDENTIAL_UNFIT`.
 */
export function planRequest(
  tool: ToolspecTool,
  spec: Toolspec,
  args: JsonObject,
  options: PlanOptions,
): RequestPlan {
  const origin = `https://${hostOf(tool, spec, options)}`;
  const given = readArguments(tool, args);
  const path = withPrefixes(
    writePath(tool, given, {
      hasReserved: spec.schemaVersion === 2,
      keepsSlashes: (name) => options.reserved?.includes(`${tool.name}.${name}`) === true,
      variableOf: (name) => variableOf(name, spec, options),
    }),
    options.credentials,
  );
  const query = writeQuery(given, options.credentials);
  const url = `${origin}${path.path}${query === "" ? "" : `?${query}`}`;
  checkUrl(url, origin, path, options.urlMaxLength ?? 16_384);
  const body = writeBody(tool, given);
  const bodyMaxBytes = options.bodyMaxBytes ?? 10_485_760;
  if (body !== undefined && body.bytes.length > bodyMaxBytes) {
    const message = `The request body has ${body.bytes.length} bytes; at most ${bodyMaxBytes} are allowed`;
    throw new ToolspecError("TOOLSPEC_REQUEST_TOO_LARGE", message);
  }
  const headers = writeHeaders(given, body?.contentType, options);
  return { method: tool.method, url, headers, body: body?.bytes };
}

/** Returns `path` after the prefixes of credentials. */
function withPrefixes(path: WrittenPath, credentials: PlanOptions["credentials"] = []): WrittenPath {
  const prefix = credentials
    .map((one) => (one.place.kind === "pathPrefix" ? writeCredential(one) : ""))
    .join("");
  return { path: `${prefix}${path.path}`, segmentCount: path.segmentCount + prefix.split("/").length - 1 };
}

/** Returns the query: the parameters, followed by the credentials, whose names no parameter can have. */
function writeQuery(args: readonly Argument[], credentials: PlanOptions["credentials"] = []): string {
  const own = credentials.flatMap((one) =>
    one.place.kind === "query" ? [[one.place.name, writeCredential(one)] as const] : [],
  );
  const given = args
    .filter(({ param }) => param.in === "query")
    .flatMap((argument) =>
      pairsOf(argument)
        .filter(([name]) => own.every(([taken]) => taken !== name))
        .map(([name, value]) => queryPair(argument, name, value)),
    );
  return [...given, ...own.map(([name, written]) => `${encodeQuery(name)}=${written}`)].join("&");
}

function queryPair({ param }: Argument, name: string, value: string): string {
  const encoded = encodeQuery(value);
  return `${encodeQuery(name)}=${param.style === "comma" ? encoded.replaceAll("%2C", ",") : encoded}`;
}

function hostOf(tool: ToolspecTool, spec: Toolspec, options: PlanOptions): string {
  const url = tool.baseUrl ?? spec.baseUrl;
  const base = parseBaseUrl(url, { hasVariables: spec.schemaVersion === 2 });
  if (!("host" in base)) {
    const message = `Cannot use ${quote(url)} as base URL: ${base.reason}`;
    throw new ToolspecError("TOOLSPEC_VARIABLE_UNSET", message);
  }
  const values: { [name: string]: string } = {};
  for (const name of base.variables) {
    const value = variableOf(name, spec, options);
    if (value === undefined) {
      const message = `Variable ${quote(name)} of base URL ${quote(url)} has no value`;
      throw new ToolspecError("TOOLSPEC_VARIABLE_UNSET", message, { hint: unsetHint(name) });
    }
    values[name] = value;
  }
  const host = fillHost(base, values);
  if (host === undefined) {
    const message = `The variables of base URL ${quote(url)} do not produce a valid host name`;
    throw new ToolspecError("TOOLSPEC_VARIABLE_UNSET", message, {
      hint: "a value is letters, digits, hyphens and dots",
    });
  }
  if (!isHostAllowed(options.egress, host)) {
    const message = `Host ${quote(host)} is not in the egress list of the manifest`;
    throw new ToolspecError("TOOLSPEC_EGRESS_DENIED", message);
  }
  return host;
}

/** Returns the configured value, or else the default in the toolspec. */
function variableOf(name: string, spec: Toolspec, options: PlanOptions): string | undefined {
  return ownValue(options.variables, name) ?? ownValue(spec.variables, name)?.default;
}

function ownValue<T>(values: { readonly [name: string]: T } | undefined, name: string): T | undefined {
  return values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
}

/** Checks the finished URL: every URL parser must find the host and segments of the template. */
function checkUrl(url: string, origin: string, { segmentCount }: WrittenPath, urlMaxLength: number): void {
  if (url.length > urlMaxLength) {
    const message = `The URL has ${url.length} characters; at most ${urlMaxLength} are allowed`;
    throw new ToolspecError("TOOLSPEC_REQUEST_TOO_LARGE", message);
  }
  const parsed = URL.parse(url);
  const isSame =
    parsed?.origin === origin && parsed.href === url && parsed.pathname.split("/").length === segmentCount;
  if (!isSame) {
    const message = "The values of the call would change the path of the request";
    throw new ToolspecError("TOOLSPEC_VALUE_HOSTILE", message);
  }
}

function writeHeaders(
  args: readonly Argument[],
  contentType: string | undefined,
  options: PlanOptions,
): RequestPlan["headers"] {
  const headers = new Map<string, readonly [name: string, value: string]>();
  const set = (name: string, value: string) => headers.set(name.toLowerCase(), [name, value]);
  set("Accept", "application/json, */*");
  set("User-Agent", options.userAgent ?? "toolcrib");
  if (contentType !== undefined) set("Content-Type", contentType);
  const maxLength = options.headerMaxLength ?? 8192;
  for (const one of args) {
    if (one.param.in === "header") set(one.param.name, headerText(one, maxLength));
  }
  // A multipart body cannot be parsed without its boundary.
  if (contentType?.startsWith("multipart/") === true) set("Content-Type", contentType);
  for (const one of options.credentials ?? []) {
    if (one.place.kind === "header") set(one.place.name, writeCredential(one));
  }
  return Object.fromEntries(headers.values());
}

function headerText(argument: Argument, maxLength: number): string {
  const { value } = argument;
  const { name } = argument.param;
  const isList = Array.isArray(value);
  const isJson = typeof value === "object" && !isList;
  const text = isList ? value.map(textOf).join(", ") : argumentText(argument);
  // JSON has escapes for characters that a header cannot carry.
  const written = isJson ? text.replace(/[^\x20-\x7e]/g, escapeUnit) : text.replace(/^[\t ]+|[\t ]+$/g, "");
  if (!/^[\t\x20-\x7e]*$/.test(written)) {
    const message = `Cannot send parameter ${quote(name)} in a header: it contains line breaks or characters outside ASCII`;
    throw new ToolspecError("TOOLSPEC_VALUE_HOSTILE", message);
  }
  if (written.length > maxLength) {
    const message = `Header ${quote(name)} has ${written.length} characters; at most ${maxLength} are allowed`;
    throw new ToolspecError("TOOLSPEC_REQUEST_TOO_LARGE", message);
  }
  return written;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
