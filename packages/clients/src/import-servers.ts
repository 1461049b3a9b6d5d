/**
 * Reads the servers that a client's file lists, in the notation of that client. Every field of an entry is read, or
 * named in `notTaken` with the reason: nothing is lost without a word. Pure; a value that may be a secret is in no
 * message.
 */

import { ClientsError } from "./clients-error.ts";
import type { ClientsCode } from "./codes.ts";
import { EntryError, EntryFields, nounOf, quoted } from "./entry-fields.ts";
import {
  type FileMember,
  type FileNode,
  memberOf,
  parseFile,
  placeAt,
  refuseLarge,
  textOf,
} from "./file-tree.ts";
import type { ImportSource } from "./import-sources.ts";
import { type ImportText, type InputDefaults, parseImportText } from "./import-text.ts";

/** Largest text that is read, in characters. Claude Code keeps its history in its file. */
const textMaxLength = 64 * 1024 * 1024;
/** Most servers of a file. */
const maxServers = 200;

/** A login with OAuth. */
export interface ImportOAuth {
  readonly clientId?: string;
  readonly clientSecret?: ImportText;
  readonly scopes?: readonly string[];
  readonly redirectPort?: number;
}

/** How a server is reached. */
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
      /** How the client logs in with OAuth; undefined where no field of the entry says so. */
      readonly oauth: ImportOAuth | undefined;
    };

/** A server of a client. */
export interface ClientServer {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  /** The folder of the project that alone has the server. */
  readonly project: string | undefined;
  readonly description: string | undefined;
  readonly isDisabled: boolean;
  /** Deadline of a call, as the client has it. */
  readonly timeoutSeconds: number | undefined;
  readonly transport: ImportTransport;
  /** Fields without an effect here, and the reasons. */
  readonly notTaken: readonly { readonly field: string; readonly reason: string }[];
}

/** Something that is not imported, and its place. */
export interface ClientProblem {
  readonly code: ClientsCode;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** The server that is affected; undefined where it is the whole file. */
  readonly server: string | undefined;
}

/** The servers of a file, and what is wrong in it. */
export interface ClientServers {
  readonly servers: readonly ClientServer[];
  /** Entries that are parts of the client itself, and no servers of their own. */
  readonly partsOfClient: readonly {
    readonly name: string;
    readonly line: number;
    readonly reason: string;
  }[];
  readonly problems: readonly ClientProblem[];
}

/** Returns the servers of a text. Never throws: what is not readable is a problem. */
export function readClientServers(text: string, source: ImportSource): ClientServers {
  const reader = new ServersReader(text, source);
  try {
    refuseLarge(text.length, textMaxLength);
    const format = source.path.endsWith(".json") && source.format === "yaml" ? "json" : source.format;
    reader.read(parseFile(text, format));
  } catch (error) {
    if (!(error instanceof ClientsError)) throw error;
    const [, line, column, reason] = /line (\d+), column (\d+): ([\s\S]*)/.exec(error.message) ?? [];
    const isPlaced = line !== undefined && column !== undefined;
    reader.problems.push({
      code: error.code,
      line: isPlaced ? Number(line) : 1,
      column: isPlaced ? Number(column) : 1,
      message: isPlaced ? `It is not readable ${source.format.toUpperCase()}: ${reason}` : error.message,
      server: undefined,
    });
  }
  const { servers, partsOfClient, problems } = reader;
  return { servers, partsOfClient, problems };
}

/** An entry that only the client can have. */
class ClientPart extends Error {}

class ServersReader {
  readonly servers: ClientServer[] = [];
  readonly partsOfClient: { readonly name: string; readonly line: number; readonly reason: string }[] = [];
  readonly problems: ClientProblem[] = [];
  readonly #text: string;
  readonly #source: ImportSource;
  #inputs: InputDefaults = new Map();

  constructor(text: string, source: ImportSource) {
    this.#text = text;
    this.#source = source;
  }

  read(root: FileNode | undefined): void {
    if (root === undefined) return;
    if (root.kind !== "map") {
      this.#report(
        "CLIENTS_FILE_SHAPE",
        `The file must contain a map, but contains ${nounOf(root)}`,
        root.at,
      );
      return;
    }
    this.#reportRepeated(root);
    const { sections, project, client } = this.#source;
    this.#inputs = inputsOf(root);
    let found = false;
    for (const path of sections) {
      const section = memberOf(root, ...path);
      if (section === undefined || (client === "file" && found)) continue;
      if (client === "file" && section.kind === "scalar") continue;
      found = true;
      this.#readSection(section, path.join("."), project, disabledNames(root));
    }
    if (client === "claude-code") this.#readProjects(memberOf(root, "projects"));
    if (client === "continue" && !found) this.#readSingle(root);
  }

  /** The servers that Claude Code keeps for single projects. */
  #readProjects(projects: FileNode | undefined): void {
    if (projects?.kind !== "map") return;
    for (const { key, value } of projects.members) {
      const section = memberOf(value, "mcpServers");
      if (section !== undefined) this.#readSection(section, "mcpServers", key, disabledNames(value));
    }
  }

  /** A file of Continue's folder can be one server, as other clients write it. */
  #readSingle(root: Extract<FileNode, { kind: "map" }>): void {
    const name = textOf(memberOf(root, "name"));
    if (name === undefined || (!memberOf(root, "command") && !memberOf(root, "url"))) return;
    this.#readEntry({ key: name, at: root.at, value: root }, undefined, new Set());
  }

  #readSection(
    section: FileNode,
    name: string,
    project: string | undefined,
    disabled: ReadonlySet<string>,
  ): void {
    if (section.kind === "scalar" && section.value === null) return;
    const entries = section.kind === "map" ? this.#unique(section) : this.#named(section, name);
    if (entries.length > maxServers) {
      this.#report(
        "CLIENTS_FILE_SHAPE",
        `"${name}" has more than ${maxServers} servers; the others are left out`,
        section.at,
      );
    }
    for (const entry of entries.slice(0, maxServers)) this.#readEntry(entry, project, disabled);
  }

  #unique(section: Extract<FileNode, { kind: "map" }>): readonly FileMember[] {
    this.#reportRepeated(section);
    return section.members.filter(
      ({ key }, at) => section.members.findLastIndex((other) => other.key === key) === at,
    );
  }

  /** A program reads the last member of a name, and nobody sees the others. */
  #reportRepeated(map: Extract<FileNode, { kind: "map" }>): void {
    const seen = new Set<string>();
    for (const { key, at } of map.members) {
      if (seen.has(key))
        this.#report("CLIENTS_ENTRY_INVALID", `${quoted(key)} is there twice; the last one counts`, at, key);
      seen.add(key);
    }
  }

  #named(section: FileNode, name: string): readonly FileMember[] {
    if (section.kind !== "list") {
      this.#report(
        "CLIENTS_FILE_SHAPE",
        `"${name}" must be a map of servers, but is ${nounOf(section)}`,
        section.at,
      );
      return [];
    }
    return section.items.flatMap((item, at) => {
      const key = textOf(memberOf(item, "name"));
      if (key !== undefined) return [{ key, at: item.at, value: item }];
      const message =
        item.kind === "map"
          ? `"${name}[${at}]" needs a name`
          : `"${name}[${at}]" must be a map, but is ${nounOf(item)}`;
      this.#report("CLIENTS_ENTRY_INVALID", message, item.at);
      return [];
    });
  }

  #readEntry(
    { key, at, value }: FileMember,
    project: string | undefined,
    disabled: ReadonlySet<string>,
  ): void {
    try {
      if (value.kind !== "map") throw new EntryError(`it must be a map, but is ${nounOf(value)}`, value.at);
      const fields = new EntryFields(value, (text) =>
        parseImportText(text, this.#source.style, this.#inputs),
      );
      const { dialect, timeoutUnit } = this.#source;
      const transport = transportOf(fields, dialect, at);
      const isDisabled =
        fields.flag("disabled") === true || fields.flag("enabled") === false || disabled.has(key);
      const timeoutSeconds = timeoutOf(fields, timeoutUnit);
      const description = fields.text("description");
      fields.ignore("name", "type", "transport", "transportType", "source");
      const { line, column } = placeAt(this.#text, at);
      const notTaken = fields.rest();
      this.servers.push({
        name: key,
        line,
        column,
        project,
        description,
        isDisabled,
        timeoutSeconds,
        transport,
        notTaken,
      });
    } catch (error) {
      if (error instanceof ClientPart) {
        const { line } = placeAt(this.#text, at);
        this.partsOfClient.push({ name: key, line, reason: error.message });
        return;
      }
      if (!(error instanceof EntryError)) throw error;
      this.#report("CLIENTS_ENTRY_INVALID", `Server ${quoted(key)}: ${error.message}`, error.at, key);
    }
  }

  #report(code: ClientsCode, message: string, at: number, server?: string): void {
    this.problems.push({ code, ...placeAt(this.#text, at), message, server });
  }
}

function transportOf(fields: EntryFields, dialect: ImportSource["dialect"], at: number): ImportTransport {
  const written = fields.text("type") ?? fields.text("transport") ?? fields.text("transportType");
  if (dialect === "goose" && /^(?:builtin|platform|frontend|inline_python)$/.test(written ?? "")) {
    throw new ClientPart(`it is a part of Goose (type ${written}), and no server of its own`);
  }
  const command = commandOf(fields, dialect);
  const isOfExtension =
    fields.text("source") === "extension" || memberOf(fields.node, "settings") !== undefined;
  if (dialect === "zed" && command === undefined && isOfExtension) {
    throw new ClientPart("an extension of Zed brings the server, and only Zed knows its command");
  }
  const url = fields.parsed("url", "serverUrl", "uri");
  const httpUrl = fields.parsed("httpUrl");
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
  addCodexHeaders(fields, headers);
  return { kind, url: address, headers, oauth: oauthOf(fields) };
}

function oauthOf(fields: EntryFields): ImportOAuth | undefined {
  const node = fields.get("oauth", "auth", "oauthScopes");
  if (node === undefined || (node.kind === "scalar" && (node.value === false || node.value === "none")))
    return undefined;
  if (node.kind === "list") return { scopes: node.items.flatMap((item) => textOf(item) ?? []) };
  if (node.kind !== "map") return {};
  const inner = fields.within(node);
  const isEnabled = inner.flag("enabled");
  if (isEnabled === false) return undefined;
  const clientId = textOf(inner.get("clientId", "CLIENT_ID", "client_id"));
  const clientSecret = inner.parsed("clientSecret", "CLIENT_SECRET", "client_secret");
  const scope = inner.get("scopes", "scope", "oauthScopes");
  const scopes =
    scope?.kind === "list"
      ? scope.items.flatMap((item) => textOf(item) ?? [])
      : textOf(scope)?.split(/[\s,]+/);
  const port = inner.get("callbackPort", "redirectPort");
  const redirectPort = port?.kind === "scalar" && typeof port.value === "number" ? port.value : undefined;
  for (const { field } of inner.rest()) fields.notTaken(`oauth.${field}`);
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(scopes === undefined || scopes.length === 0 ? {} : { scopes }),
    ...(redirectPort === undefined ? {} : { redirectPort }),
  };
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
  for (const name of fields.list("env_vars") ?? []) {
    if (!env.has(name)) env.set(name, [{ variable: name, fallback: undefined }]);
  }
  for (const name of fields.list("env_keys") ?? []) {
    if (!env.has(name)) env.set(name, [{ input: name, fallback: undefined }]);
  }
  return env;
}

function addCodexHeaders(fields: EntryFields, headers: Map<string, ImportText>): void {
  const bearer = fields.text("bearer_token_env_var");
  if (bearer !== undefined)
    headers.set("Authorization", ["Bearer ", { variable: bearer, fallback: undefined }]);
  for (const [name, text] of fields.parsedMap("env_http_headers")) {
    headers.set(name, [{ variable: text.join(""), fallback: undefined }]);
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
  if (hasCommand) return "stdio";
  if (httpUrl !== undefined) return "streamable_http";
  // Gemini's `url` without a type has always been SSE; other clients try both, and a path of SSE ends in it.
  if (dialect === "gemini" && url !== undefined) return "sse";
  const path = url?.filter((part) => typeof part === "string").join("") ?? "";
  return /\/sse\/?(?:\?|$)/.test(path) ? "sse" : "streamable_http";
}

function timeoutOf(fields: EntryFields, unit: ImportSource["timeoutUnit"]): number | undefined {
  const codex = memberOf(fields.node, "tool_timeout_sec");
  const node = codex ?? (unit === undefined ? undefined : memberOf(fields.node, "timeout"));
  if (node?.kind !== "scalar" || typeof node.value !== "number" || !(node.value > 0)) return undefined;
  fields.ignore(codex === undefined ? "timeout" : "tool_timeout_sec");
  const seconds = codex === undefined && unit === "ms" ? node.value / 1000 : node.value;
  return Math.min(3600, Math.max(1, Math.ceil(seconds)));
}

/** The names of servers that another list of the file switches off. */
function disabledNames(root: FileNode): ReadonlySet<string> {
  const lists = [
    memberOf(root, "disabledMcpServers"),
    memberOf(root, "disabledMcpjsonServers"),
    memberOf(root, "mcp", "excluded"),
  ];
  return new Set(
    lists.flatMap((list) => (list?.kind === "list" ? list.items.flatMap((item) => textOf(item) ?? []) : [])),
  );
}

/** The questions of VS Code, with their defaults. */
function inputsOf(root: FileNode): InputDefaults {
  const inputs = new Map<string, string | undefined>();
  for (const list of [memberOf(root, "inputs"), memberOf(root, "mcp", "inputs")]) {
    for (const item of list?.kind === "list" ? list.items : []) {
      const id = textOf(memberOf(item, "id"));
      const password = memberOf(item, "password");
      const isHidden = password?.kind === "scalar" && password.value === true;
      if (id !== undefined) inputs.set(id, isHidden ? undefined : textOf(memberOf(item, "default")));
    }
  }
  return inputs;
}
