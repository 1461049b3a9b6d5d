/**
 * The transport of a server of a client: its command with arguments and variables, or its address with headers and login,
 * in the notation of each client. Pure.
 */

import { EntryError, EntryFields, nounOf, quoted } from "./entry-fields.ts";
import type { FileMember, FileNode } from "./file-node.ts";
import { memberOf, textOf } from "./file-tree.ts";
import type { ImportSource } from "./import-sources.ts";
import { type ImportText, parseImportText } from "./import-text.ts";

/** A login with OAuth. */
export interface ImportOAuth {
  readonly clientId?: string;
  readonly clientSecret?: ImportText;
  readonly scopes?: readonly string[];
  readonly redirectPort?: number;
}

/** The transport of a server. */
export type ImportTransport =
  | {
      readonly kind: "stdio";
      readonly command: ImportText;
      readonly args: readonly ImportText[];
      readonly env: ReadonlyMap<string, ImportText>;
      readonly cwd: ImportText | undefined;
    }
  | {
      readonly kind: "streamable_http" | "sse";
      readonly url: ImportText;
      readonly headers: ReadonlyMap<string, ImportText>;
      /** The OAuth login of the client; undefined where no field of the entry says so. */
      readonly oauth: ImportOAuth | undefined;
    };

/** An entry that only the client can have. */
export class ClientPart extends Error {}

/** Returns the transport of an entry. @throws {EntryError} {ClientPart} */
export function transportOf(
  fields: EntryFields,
  dialect: ImportSource["dialect"],
  at: number,
): ImportTransport {
  const written = fields.text("type") ?? fields.text("transport") ?? fields.text("transportType");
  if (dialect === "goose" && /^(?:builtin|platform|frontend|inline_python)$/.test(written ?? "")) {
    throw new ClientPart(`it is a part of Goose (type ${written}), and no server of its own`);
  }
  const command = commandOf(fields, dialect);
  const url = fields.parsed("url", "serverUrl", "uri");
  const httpUrl = fields.parsed("httpUrl");
  const isOfExtension =
    fields.text("source") === "extension" || memberOf(fields.node, "settings")?.kind === "map";
  const isBare = ["enabled", "remote"].some((name) => memberOf(fields.node, name) !== undefined);
  if (dialect === "zed" && command === undefined && url === undefined && (isOfExtension || isBare)) {
    throw new ClientPart("an extension of Zed brings the server, and only Zed knows its command");
  }
  const kind = kindOf(written, command !== undefined, url, httpUrl, dialect, at);
  if (kind === "stdio") {
    if (command === undefined) throw new EntryError("it has no command", at);
    return {
      kind,
      ...command,
      env: withNamed(fields, fields.parsedMap("env", "environment", "envs")),
      cwd: fields.parsed("cwd", "workingDirectory", "working_directory"),
    };
  }
  if (command !== undefined) fields.notTaken("command", "the client uses the address in its place");
  const address = httpUrl ?? url;
  if (address === undefined || address.join("").trim() === "")
    throw new EntryError("it has no command and no URL", at);
  const headers = fields.parsedMap("headers", "http_headers");
  const requestOptions = fields.node.members.find(({ key }) => key === "requestOptions")?.value;
  const more = memberOf(requestOptions, "headers");
  if (more !== undefined) {
    fields.ignore("requestOptions");
    for (const [name, text] of new EntryFields(requestOptions as EntryFields["node"], (one) =>
      parseImportText(one, "continue", new Map()),
    ).parsedMap("headers"))
      headers.set(name, text);
  }
  addTokenHeaders(fields, headers, dialect);
  if (dialect === "goose") fillFromEntry(fields, headers);
  return { kind, url: address, headers, oauth: oauthOf(fields) };
}

const loginReason = "the login finds it out itself, or has no such setting";

function oauthOf(fields: EntryFields): ImportOAuth | undefined {
  const node = fields.get("oauth", "auth");
  // Beside the login, or without one: a list of scopes, and the resource that the client asks for by itself.
  const scopes = [fields.get("oauthScopes"), fields.get("scopes")]
    .map(scopesOf)
    .find((list) => list !== undefined);
  if (fields.get("oauth_resource") !== undefined) fields.notTaken("oauth_resource", loginReason);
  if (node === undefined) return scopes === undefined ? undefined : { scopes };
  if (node.kind === "scalar" && (node.value === false || node.value === "none")) return undefined;
  if (node.kind !== "map") return scopes === undefined ? {} : { scopes };
  const inner = fields.within(node);
  if (inner.flag("enabled") === false) return undefined;
  const clientId = textOf(inner.get("clientId", "CLIENT_ID", "client_id"));
  const clientSecret = inner.parsed("clientSecret", "CLIENT_SECRET", "client_secret");
  const wanted = scopesOf(inner.get("scopes", "scope", "oauthScopes")) ?? scopes;
  const port = inner.get("callbackPort", "callback_port", "redirectPort");
  const redirect = textOf(inner.get("redirectUri", "redirect_uri"));
  const redirectPort =
    port?.kind === "scalar" && typeof port.value === "number" ? port.value : portOf(redirect);
  // What the client remembers of a login is a secret, and belongs to it.
  inner.ignore(
    "tokens",
    "clientInformation",
    "codeVerifier",
    "discoveryState",
    "lastError",
    "lastAuthenticatedAt",
    "redirectUrl",
  );
  for (const { field } of inner.rest()) fields.notTaken(`oauth.${field}`, loginReason);
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(wanted === undefined ? {} : { scopes: wanted }),
    ...(redirectPort === undefined ? {} : { redirectPort }),
  };
}

function scopesOf(node: FileNode | undefined): readonly string[] | undefined {
  const scopes =
    node?.kind === "list"
      ? node.items.flatMap((item) => textOf(item) ?? [])
      : (textOf(node)?.split(/[\s,]+/) ?? []);
  const named = scopes.filter((scope) => scope !== "");
  return named.length === 0 ? undefined : named;
}

/** The port of an address to which a login returns, such as `http://localhost:7777/callback` or `127.0.0.1:7778`. */
function portOf(address: string | undefined): number | undefined {
  const [, port] =
    /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|\[::1\]):(\d{1,5})(?:\/|$)/.exec(address ?? "") ?? [];
  return port === undefined || Number(port) < 1 || Number(port) > 65_535 ? undefined : Number(port);
}

function commandOf(
  fields: EntryFields,
  dialect: ImportSource["dialect"],
): { readonly command: ImportText; readonly args: readonly ImportText[] } | undefined {
  const node = fields.get(dialect === "goose" ? "cmd" : "command");
  if (node === undefined) return undefined;
  if (node.kind === "list") {
    const [command, ...args] = fields.parsedList("command");
    if (command === undefined) throw new EntryError('"command" is an empty list', node.at);
    return { command, args: [...args, ...fields.parsedList("args")] };
  }
  if (node.kind === "map" && dialect === "zed") {
    // The form of earlier versions.
    const inner = new EntryFields(node, (text) => [text]);
    const command = inner.parsed("path");
    if (command === undefined) throw new EntryError('"command" has no path', node.at);
    const env = memberOf(node, "env");
    if (env !== undefined) (fields.node.members as FileMember[]).push({ key: "env", at: env.at, value: env });
    return { command, args: inner.parsedList("args") };
  }
  const command = fields.parsed(dialect === "goose" ? "cmd" : "command");
  if (command === undefined || command.join("").trim() === "")
    throw new EntryError('"command" is empty', node.at);
  return { command, args: fields.parsedList("args") };
}

/** Adds the variables that the client passes on by their names. */
function withNamed(fields: EntryFields, env: Map<string, ImportText>): ReadonlyMap<string, ImportText> {
  for (const name of passedNames(fields)) {
    if (!env.has(name)) env.set(name, [{ variable: name, fallback: undefined }]);
  }
  for (const name of fields.list("env_keys") ?? []) {
    if (!env.has(name)) env.set(name, [{ input: name, fallback: undefined }]);
  }
  return env;
}

/** The variables that Codex passes on: names, or maps with a name. */
function passedNames(fields: EntryFields): readonly string[] {
  const node = fields.get("env_vars");
  if (node === undefined) return [];
  if (node.kind !== "list")
    throw new EntryError(`"env_vars" must be a list, but is ${nounOf(node)}`, node.at);
  return node.items.map((item, at) => {
    const name = item.kind === "map" ? textOf(memberOf(item, "name")) : textOf(item);
    if (name !== undefined) return name;
    throw new EntryError(`"env_vars[${at}]" must be a name, but is ${nounOf(item)}`, item.at);
  });
}

/** Adds the headers for which a client has fields of their own. */
function addTokenHeaders(
  fields: EntryFields,
  headers: Map<string, ImportText>,
  dialect: ImportSource["dialect"],
): void {
  const bearer = fields.text("bearer_token_env_var");
  if (bearer !== undefined)
    headers.set("Authorization", ["Bearer ", { variable: bearer, fallback: undefined }]);
  // Codex refuses the first today; the second is the field of Continue.
  const token =
    dialect === "codex"
      ? fields.parsed("bearer_token")
      : dialect === "continue"
        ? fields.parsed("apiKey")
        : undefined;
  if (token !== undefined) headers.set("Authorization", ["Bearer ", ...token]);
  for (const [name, text] of fields.parsedMap("env_http_headers")) {
    headers.set(name, [{ variable: text.join(""), fallback: undefined }]);
  }
}

/** Goose fills headers from the variables of the entry, and from the secrets that it keeps for it. */
function fillFromEntry(fields: EntryFields, headers: Map<string, ImportText>): void {
  const values = fields.parsedMap("envs");
  const kept = new Set(fields.list("env_keys") ?? []);
  for (const [name, text] of headers) {
    const parts = text.join("").split(/(\$\{\w+\}|\$[A-Za-z_]\w*)/);
    headers.set(
      name,
      parts.flatMap((part, at): ImportText => {
        const variable = at % 2 === 1 ? part.replaceAll(/[${}]/g, "") : "";
        if (kept.has(variable)) return [{ input: variable, fallback: undefined }];
        return values.get(variable) ?? (part === "" ? [] : [part]);
      }),
    );
  }
}

function kindOf(
  written: string | undefined,
  hasCommand: boolean,
  url: ImportText | undefined,
  httpUrl: ImportText | undefined,
  dialect: ImportSource["dialect"],
  at: number,
): ImportTransport["kind"] {
  const word = (written ?? "").toLowerCase().replace(/[^a-z]/g, "");
  if (word === "stdio" || word === "local") return "stdio";
  if (word === "sse") return "sse";
  if (/^(?:http|streamablehttp|https|remote|ws)$/.test(word)) {
    if (word === "ws") throw new EntryError("it is a WebSocket, which MCP has no transport for", at);
    return "streamable_http";
  }
  if (word !== "" && word !== "custom") {
    throw new EntryError(`type ${quoted(written ?? "")} is not stdio, http or sse`, at);
  }
  // Gemini prefers an address to a command.
  if (dialect === "gemini" && httpUrl !== undefined) return "streamable_http";
  if (hasCommand && !(dialect === "gemini" && url !== undefined)) return "stdio";
  if (httpUrl !== undefined) return "streamable_http";
  const path = url?.filter((part) => typeof part === "string").join("") ?? "";
  // Without a type, `url` is SSE for Cline and, as its documentation has it, for Gemini, which tries HTTP too.
  const isOlder = dialect === "cline" || (dialect === "gemini" && !/\/mcp\/?(?:\?|$)/.test(path));
  if (isOlder && url !== undefined) return "sse";
  // Other clients try both, and a path of SSE ends in it.
  return /\/sse\/?(?:\?|$)/.test(path) ? "sse" : "streamable_http";
}
