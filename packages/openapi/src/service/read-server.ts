/**
 * Converts the servers of a document to base URLs and path prefixes, either of
 * which can contain variables. Parts that a toolspec cannot express are replaced
 * by their defaults (a variable of more than a segment), changed (http) or refused
 * (ports), and reported.
 */

import { quote } from "@toolcrib/document";
import { parseToolspec, type Toolspec } from "@toolcrib/toolspec";
import type { Findings, Place } from "../document/findings.ts";
import { entriesOf, fieldOf, isList, isMap, itemsOf, type Node, textOf } from "../document/node.ts";
import { toPlainLine } from "../write/plain-text.ts";

type ToolspecVariable = NonNullable<Toolspec["variables"]>[string];

/** A callable server. */
export interface Server {
  /** `https://api.example.com`, or with variables `https://{tenant}.example.com`. */
  readonly baseUrl: string;
  /** Prefix of every path: empty, `/v1`, or with variables `/{version}`. */
  readonly pathPrefix: string;
  /** Variables of the base URL and the prefix. */
  readonly variables: { readonly [name: string]: ToolspecVariable };
  /** Entries of the egress list that this server needs. */
  readonly egress: readonly string[];
}

/** Maximum number of values of a variable that become egress entries. */
const hostsMaxCount = 40;

/** Returns the first callable server of `owner`; `undefined` when there is none. */
export function readServer(
  owner: Node | undefined,
  place: Place,
  options: { readonly documentUrl: string | undefined; readonly findings: Findings },
): Server | undefined {
  const faults: string[] = [];
  for (const node of itemsOf(owner, "servers")) {
    const read = readOne(node, options.documentUrl);
    if (read.kind === "fault") {
      faults.push(read.reason);
      continue;
    }
    for (const message of read.changes) {
      options.findings.report({
        code: "OPENAPI_SERVER_CHANGED",
        message,
        hint: "give another with --base-url",
        place,
      });
    }
    return read.server;
  }
  for (const reason of faults) {
    options.findings.report({
      code: "OPENAPI_SERVER_UNFIT",
      message: `Cannot use a server: ${reason}`,
      hint: "give the base URL with --base-url https://HOST/PATH",
      place,
    });
  }
  return undefined;
}

/** Parses a base URL from a user: `https://api.example.com/v1`. */
export function serverOf(url: string): Server | undefined {
  const read = divide(url);
  return read === undefined || read.host.includes("{")
    ? undefined
    : serverOn(read.host, read.path, {}, [read.host]);
}

type Read =
  | { readonly kind: "server"; readonly server: Server; readonly changes: readonly string[] }
  | { readonly kind: "fault"; readonly reason: string };

interface Variable {
  readonly name: string;
  readonly default: string | undefined;
  readonly values: readonly string[];
  readonly description: string | undefined;
}

function readOne(node: Node, documentUrl: string | undefined): Read {
  const written = textOf(node, "url")?.trim();
  if (written === undefined) return { kind: "fault", reason: "it has no url" };
  const variables = entriesOf(node, "variables").map(([name, one]) => readVariable(name, one));
  const url = absolute(written, documentUrl);
  if (url === undefined) {
    return {
      kind: "fault",
      reason: `${quote(written)} is relative, and the URL of the document is not known`,
    };
  }
  const changes: string[] = [];
  const fill = (text: string) =>
    text.replace(
      /\{([^{}]*)\}/g,
      (whole, name: string) => variables.find((one) => one.name === name)?.default ?? whole,
    );
  // A scheme or a whole origin can be a variable too.
  const [, scheme = "", rest = ""] =
    /^([^:/]*):\/\/(.*)$/s.exec(/^\{[^{}]*\}$|^\{[^{}]*\}(?=\/)/.test(url) ? fill(url) : url) ?? [];
  const isPlain = fill(scheme).toLowerCase() === "http";
  if (fill(scheme).toLowerCase() !== "https" && !isPlain) {
    return { kind: "fault", reason: `${quote(url)} is not https` };
  }
  if (isPlain) changes.push(`Server ${quote(written)} uses http, and is called with https`);
  const slash = rest.search(/[/?#]/);
  const authority = slash === -1 ? rest : rest.slice(0, slash);
  const prefix = readPrefix(slash === -1 ? "" : rest.slice(slash), variables);
  if (prefix === undefined)
    return { kind: "fault", reason: `a variable in the path of ${quote(written)} cannot be one` };
  const { path, filled } = prefix;
  if (filled.length > 0)
    changes.push(
      `Variables in the path of server ${quote(written)} are replaced by their values, because they are not single segments: ${filled.map(quote).join(", ")}`,
    );
  const [, hostTemplate = "", port = ""] = /^(.*?)(?::([^:]*))?$/s.exec(authority) ?? [];
  if (port !== "" && fill(port) !== "443") {
    return { kind: "fault", reason: `${quote(written)} has a port, which base URLs cannot have` };
  }
  const read = onHost(hostTemplate, path, variables, changes, written);
  if (read.kind === "fault" || prefix.used.length === 0) return read;
  const own = prefix.used.map((one) => [variableName(one.name), toPathVariable(one)] as const);
  return {
    ...read,
    server: { ...read.server, variables: { ...Object.fromEntries(own), ...read.server.variables } },
  };
}

/** The path of a server as a prefix of every path. */
interface Prefix {
  readonly path: string;
  /** Its variables. */
  readonly used: readonly Variable[];
  /** Values that replaced variables. */
  readonly filled: readonly string[];
}

function readPrefix(text: string, variables: readonly Variable[]): Prefix | undefined {
  const used: Variable[] = [];
  const filled: string[] = [];
  const path = text
    .replace(/\{([^{}]+)\}/g, (_, name: string) => {
      const found = variables.find((one) => one.name === name);
      const one = found ?? { name, default: undefined, values: [], description: undefined };
      const isSegment = [one.default, ...one.values].every(
        (value) => value === undefined || isSegmentValue(value),
      );
      if (!isSegment && one.default !== undefined) {
        filled.push(one.default);
        return one.default;
      }
      if (!used.includes(one)) used.push(one);
      return `{${variableName(name)}}`;
    })
    .replace(/[?#].*$/s, "")
    .replace(/\/+$/, "");
  return /[{}]/.test(path.replace(/\{\w+\}/g, "")) ? undefined : { path, used, filled };
}

/** Whether a value is a legal segment without percent-encoding. */
function isSegmentValue(value: string): boolean {
  return /^[A-Za-z0-9_.~!$'()*,;:@=-]+$/.test(value) && !/^\.\.?$/.test(value);
}

function toPathVariable(one: Variable): ToolspecVariable {
  const description = describe(one);
  return {
    ...(description === "" ? {} : { description }),
    ...(one.default === undefined ? {} : { default: one.default }),
  };
}

function onHost(
  template: string,
  path: string,
  variables: readonly Variable[],
  changes: readonly string[],
  written: string,
): Read {
  const fault = (): Read => ({
    kind: "fault",
    reason: `${quote(written)} cannot be converted to a base URL of https:// and a host`,
  });
  const used = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name);
  const known = used.map(
    (name) =>
      variables.find((one) => one.name === name) ?? {
        name,
        default: undefined,
        values: [],
        description: undefined,
      },
  );
  const filled = template.replace(
    /\{([^{}]*)\}/g,
    (_, name: string) => known.find((one) => one.name === name)?.default ?? "",
  );
  const isFilled = known.every((one) => one.default !== undefined) && isHost(filled);
  if (used.length === 0) {
    const host = template.toLowerCase();
    const server = serverOn(host, path, {}, [host]);
    return server === undefined ? fault() : { kind: "server", server, changes };
  }
  const [first] = known;
  if (used.length === 1 && first !== undefined) {
    const name = variableName(first.name);
    const host = template
      .replace(/\{[^{}]*\}/, `{${name}}`)
      .toLowerCase()
      .replace(`{${name.toLowerCase()}}`, `{${name}}`);
    const egress = egressOf(host, first);
    const variable = toVariable(first, template);
    const server = egress.length === 0 ? undefined : serverOn(host, path, { [name]: variable }, egress);
    if (server !== undefined) return { kind: "server", server, changes };
  }
  if (!isFilled) return fault();
  const server = serverOn(filled.toLowerCase(), path, {}, [filled.toLowerCase()]);
  if (server === undefined) return fault();
  return {
    kind: "server",
    server,
    changes: [
      ...changes,
      `The variables of server ${quote(written)} are replaced by their values: ${quote(filled)}`,
    ],
  };
}

function toVariable(one: Variable, template: string): ToolspecVariable {
  const isUsable = one.default !== undefined && isHost(template.replace(/\{[^{}]*\}/, one.default));
  const description = describe(one);
  return {
    ...(description === "" ? {} : { description }),
    ...(isUsable ? { default: one.default.toLowerCase() } : {}),
  };
}

function describe(one: Variable): string {
  const among = one.values.length > 0 ? `One of ${one.values.slice(0, 20).join(", ")}` : undefined;
  const said = one.description === undefined ? undefined : toPlainLine(one.description, 300);
  return [said?.replace(/[.\s]+$/, ""), among].filter((text) => text !== undefined && text !== "").join(". ");
}

/** Returns the hosts that a variable produces: one for each of its values, or a wildcard for its label, or its default. */
function egressOf(host: string, variable: Variable): readonly string[] {
  const fill = (value: string) => host.replace(/\{[^{}]*\}/, value).toLowerCase();
  const hosts = variable.values.map(fill);
  if (hosts.length > 0 && hosts.length <= hostsMaxCount && hosts.every(isHost)) return [...new Set(hosts)];
  const [label = "", ...rest] = host.split(".");
  const suffix = rest.join(".");
  if (label.includes("{") && !suffix.includes("{") && rest.length >= 2 && isHost(suffix))
    return [`*.${suffix}`];
  const only = variable.default === undefined ? undefined : fill(variable.default);
  return only !== undefined && isHost(only) ? [only] : [];
}

function readVariable(name: string, node: Node): Variable {
  const value = fieldOf(node, "default");
  const list = fieldOf(node, "enum");
  const values = isList(list)
    ? list.items.filter((one) => !isMap(one) && !isList(one) && one !== null).map(String)
    : [];
  return {
    name,
    default:
      value === undefined || value === null || isMap(value) || isList(value) ? values[0] : String(value),
    values,
    description: textOf(node, "description"),
  };
}

function variableName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_]+/g, "_").slice(0, 60);
  return /^[A-Za-z_]/.test(name) ? name : `v_${name}`;
}

function absolute(url: string, documentUrl: string | undefined): string | undefined {
  if (/^(?:[A-Za-z][A-Za-z0-9+.-]*|\{[^{}]*\}):\/\//.test(url)) return url;
  // A host that consists of a variable: {server}/v1.
  if (/^\{[^{}]*\}(?:\/|$)/.test(url)) return url;
  if (documentUrl === undefined || !/^https?:\/\//.test(documentUrl)) return undefined;
  if (url.startsWith("//")) return `https:${url}`;
  // A URL parser encodes the braces of variables.
  if (!/[{}]/.test(url)) return URL.canParse(url, documentUrl) ? new URL(url, documentUrl).href : undefined;
  const origin = new URL(documentUrl);
  const folder = origin.pathname.replace(/[^/]*$/, "");
  const path = url.startsWith("/") ? url : `${folder}${url.replace(/^\.\//, "")}`;
  return `${origin.protocol}//${origin.host}${path}`;
}

function divide(url: string): { readonly host: string; readonly path: string } | undefined {
  const [, host, path = ""] = /^https:\/\/([^/?#]+)(\/[^?#]*)?$/.exec(url.trim()) ?? [];
  return host === undefined ? undefined : { host, path: path.replace(/\/+$/, "") };
}

function serverOn(
  host: string,
  pathPrefix: string,
  variables: Server["variables"],
  egress: readonly string[],
): Server | undefined {
  const server = { baseUrl: `https://${host}`, pathPrefix, variables, egress };
  return isBaseUrl(server) ? server : undefined;
}

function isHost(host: string): boolean {
  return isBaseUrl({ baseUrl: `https://${host.toLowerCase()}`, variables: {} });
}

/** Whether the lint of toolspecs accepts a base URL; no other code decides that. */
function isBaseUrl({ baseUrl, variables }: Pick<Server, "baseUrl" | "variables">): boolean {
  const tools = [{ name: "x", description: "x", method: "GET", path: "/" }];
  const used = Object.keys(variables).length === 0 ? {} : { variables };
  const text = JSON.stringify({ schemaVersion: 2, name: "x", version: "0.1.0", baseUrl, ...used, tools });
  return parseToolspec({ name: "x.json", text }).diagnostics.length === 0;
}
