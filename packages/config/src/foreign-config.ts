/**
 * Reads the servers in files of other MCP hosts: `mcpServers` (.mcp.json, Claude,
 * Cursor and others), `servers` (VS Code) and the list `upstreamServers`
 * (Metatool document). Because these files belong to other programs, an
 * unsupported field is a warning, literal credentials are accepted, and a server
 * that only the other host can start stays in the result with a reason, so that
 * the remaining servers work.
 */

import { didYouMean } from "@toolcrib/diagnostics";
import {
  type DocumentNode,
  entryOf,
  fieldOf,
  type MapEntry,
  type MapNode,
  type Reporter,
  stringOf,
  toDiagnostic,
  typeName,
} from "@toolcrib/document";
import type { ServerDeclaration } from "./config-layer.ts";
import type { TransportConfig } from "./config-types.ts";
import { quote, textOf } from "./display-source.ts";
import { documentFields } from "./document-shape.ts";
import { ForeignTextReader } from "./foreign-text-reader.ts";
import { toServerId } from "./server-id.ts";
import { maxToolServers } from "./tool-server-shape.ts";
import { kindMeant, type TransportKind } from "./transport-kind.ts";

/** Returns the servers of another program's file; `undefined` when `tree` is Toolcrib's own configuration. */
export function foreignServersOf(tree: DocumentNode): MapEntry | undefined {
  if (entryOf(tree, upstreamServers) !== undefined) return undefined;
  if (documentFields.some((name) => name !== "$schema" && entryOf(tree, name) !== undefined))
    return undefined;
  const vsCode = entryOf(tree, "servers") ?? entryOf(fieldOf(tree, "mcp"), "servers");
  const standard = entryOf(tree, "mcpServers") ?? entryOf(fieldOf(tree, "mcp"), "mcpServers");
  return standard ?? (vsCode?.value.kind === "map" ? vsCode : undefined);
}

/**
 * Returns the list of servers of a metatool configuration, whose other sections
 * are Toolcrib's own; `undefined` when `tree` has no such list, or also has
 * `tool_servers`.
 */
export function upstreamServersOf(tree: DocumentNode): MapEntry | undefined {
  return entryOf(tree, "tool_servers") === undefined ? entryOf(tree, upstreamServers) : undefined;
}

/** Name of the list of servers in a metatool configuration. */
export const upstreamServers = "upstreamServers";

/** Parses the servers of `section` and reports findings to `reporter`. Invalid servers are omitted. */
export function parseForeignServers(section: MapEntry, reporter: Reporter): ServerDeclaration[] {
  const entries =
    section.key === upstreamServers ? namedItems(section, reporter) : mapEntries(section, reporter);
  if (entries.length > maxToolServers) {
    const message = `${quote(section.key)} has more than ${maxToolServers} servers`;
    reporter.report({ code: "CONFIG_INVALID_VALUE", message, span: section.keySpan });
  }
  const byId = new Map<string, ServerDeclaration>();
  for (const entry of entries.slice(0, maxToolServers)) {
    const server = parseServer(entry, reporter);
    if (server === undefined) continue;
    const earlier = byId.get(server.id);
    if (earlier === undefined) byId.set(server.id, server);
    else reportSameId(entry, server.id, earlier, reporter);
  }
  return [...byId.values()];
}

function mapEntries({ key, keySpan, value }: MapEntry, reporter: Reporter): readonly MapEntry[] {
  if (value.kind === "map") return value.entries;
  const message = `${quote(key)} must be a map of servers, but is ${typeName(value)}`;
  reporter.report({ code: "CONFIG_WRONG_TYPE", message, span: keySpan });
  return [];
}

/** Returns the items of a list as entries with the name of each item as the key. */
function namedItems({ key, keySpan, value }: MapEntry, reporter: Reporter): readonly MapEntry[] {
  if (value.kind !== "list") {
    const message = `${quote(key)} must be a list of servers, but is ${typeName(value)}`;
    const hint = 'write [{ "name": "github", "command": "mcp-server-github" }]';
    reporter.report({ code: "CONFIG_WRONG_TYPE", message, hint, span: keySpan });
    return [];
  }
  return value.items.flatMap((item, index) => {
    if (item.kind !== "map") {
      const message = `"${key}[${index}]" must be a map, but is ${typeName(item)}`;
      reporter.report({ code: "CONFIG_WRONG_TYPE", message, span: item.span });
      return [];
    }
    const name = fieldOf(item, "name");
    const text = stringOf(name)?.trim() ?? "";
    if (name !== undefined && text !== "") return [{ key: text, keySpan: name.span, value: item }];
    const message = `"${key}[${index}]" needs a name`;
    const hint = 'add "name": "github"; it is the prefix of its tools';
    reporter.report({ code: "CONFIG_FIELD_REQUIRED", message, hint, span: name?.span ?? item.span });
    return [];
  });
}

function parseServer(entry: MapEntry, reporter: Reporter): ServerDeclaration | undefined {
  const name = entry.key;
  const written = entry.value;
  if (written.kind !== "map") {
    const message = `Server ${quote(name)} must be a map, but is ${typeName(written)}`;
    reporter.report({ code: "CONFIG_WRONG_TYPE", message, span: entry.keySpan });
    return undefined;
  }
  const node = unnested(written);
  if (isTrue(fieldOf(node, "disabled")) || isFalse(fieldOf(node, "enabled"))) {
    const message = `Server ${quote(name)} is disabled in its file and ignored`;
    reporter.report({ severity: "warning", code: "CONFIG_FOREIGN_DISABLED", message, span: entry.keySpan });
    return undefined;
  }
  const texts = new ForeignTextReader(name, reporter);
  const transport = parseTransport(entry, node, texts, reporter);
  if (transport === undefined) return undefined;
  const { problems } = texts;
  reportIgnored(name, node, transport.kind, reporter);
  for (const problem of problems) reporter.report({ ...problem, severity: "warning" });
  return {
    id: idOf(entry, reporter),
    name,
    description: stringOf(fieldOf(node, "description")),
    transport,
    trustState: "unverified",
    firstContact: "ask",
    pinsResources: false,
    validation: "strict",
    mutabilityClass: "unknown",
    declared: {},
    labels: {},
    dataLabels: [],
    problems: problems.map((problem) => toDiagnostic(problem, reporter.source)),
    source: reporter.source,
    span: entry.keySpan,
    node: written,
  };
}

/** Returns the fields of a server whose command or URL is within `transport`, as if they were its own. */
function unnested(node: MapNode): MapNode {
  const transport = fieldOf(node, "transport");
  if (transport?.kind !== "map" || transportFields.some((field) => entryOf(node, field) !== undefined))
    return node;
  const own = node.entries.filter(({ key }) => key !== "transport");
  const names = new Set(own.map(({ key }) => key));
  return { ...node, entries: [...own, ...transport.entries.filter(({ key }) => !names.has(key))] };
}

function idOf({ key, keySpan }: MapEntry, reporter: Reporter): string {
  const id = toServerId(key);
  if (id !== key) {
    reporter.report({
      severity: "warning",
      code: "CONFIG_ID_NORMALIZED",
      message: `Server ${quote(key)} gets the id ${quote(id)}: its name is not valid in tool names`,
      span: keySpan,
    });
  }
  return id;
}

function reportSameId(entry: MapEntry, id: string, earlier: ServerDeclaration, reporter: Reporter): void {
  reporter.report({
    code: "CONFIG_ID_DUPLICATE",
    message: `Servers ${quote(earlier.name ?? "")} and ${quote(entry.key)} get the same id ${quote(id)}`,
    hint: "rename one of the two",
    span: entry.keySpan,
  });
}

/** Field names of a URL; most programs use the first. */
const urlFields = ["url", "httpUrl", "serverUrl"] as const;
/** Fields one of which every server has. */
const transportFields = ["command", ...urlFields];

function parseTransport(
  entry: MapEntry,
  node: MapNode,
  texts: ForeignTextReader,
  reporter: Reporter,
): TransportConfig | undefined {
  const command = fieldOf(node, "command");
  const urlEntry = urlFields.map((field) => entryOf(node, field)).find((found) => found !== undefined);
  const kind = kindOf(entry.key, node, command, urlEntry, texts);
  if (kind === "stdio") {
    if (command === undefined || (command.kind === "scalar" && command.text.trim() === "")) {
      return reportMissing(entry, "command", reporter);
    }
    return {
      kind,
      command: texts.one(command, "command"),
      args: texts.list(fieldOf(node, "args"), "args", textOf(command) ?? ""),
      env: texts.map(fieldOf(node, "env"), "env"),
      cwd: texts.optional(fieldOf(node, "cwd"), "cwd"),
    };
  }
  const url = urlEntry?.value;
  if (url === undefined || (url.kind === "scalar" && url.text.trim() === "")) {
    return reportMissing(entry, kind === undefined ? "command or url" : "url", reporter);
  }
  return {
    kind: kind ?? "streamable_http",
    url: texts.url(url),
    headers: texts.map(fieldOf(node, "headers"), "headers"),
    allowHttp: false,
  };
}

function reportMissing(entry: MapEntry, field: string, reporter: Reporter): undefined {
  reporter.report({
    code: "CONFIG_FIELD_REQUIRED",
    message: `Server ${quote(entry.key)} needs ${field}`,
    hint:
      field === "url"
        ? 'add "url": "https://host/mcp"'
        : 'add "command" for a program, or "url" for an endpoint',
    span: entry.keySpan,
  });
  return undefined;
}

function kindOf(
  name: string,
  node: MapNode,
  command: DocumentNode | undefined,
  url: MapEntry | undefined,
  texts: ForeignTextReader,
): TransportKind | undefined {
  const typeNode = ["type", "kind", "transport", "transportType"]
    .map((field) => fieldOf(node, field))
    .find((found) => stringOf(found) !== undefined);
  const written = stringOf(typeNode);
  if (written !== undefined && typeNode !== undefined) {
    const kind = kindMeant(written);
    if (kind !== undefined) return kind;
    texts.addProblem({
      code: "CONFIG_WRONG_TYPE",
      message: `Server ${quote(name)} cannot start: type ${quote(written)} is not stdio, http or sse`,
      hint: "write stdio, http or sse",
      span: typeNode.span,
    });
  }
  if (command !== undefined) return "stdio";
  if (url === undefined) return undefined;
  // Hosts without a type try both transports; a path that ends in /sse always means SSE.
  return /\/sse\/?(?:\?|$)/.test(stringOf(url.value) ?? "") ? "sse" : "streamable_http";
}

const readFields: { readonly [K in "stdio" | "http"]: readonly string[] } = {
  stdio: ["command", "args", "env", "cwd"],
  http: [...urlFields, "headers"],
};
const commonFields = [
  "type",
  "kind",
  "transport",
  "transportType",
  "disabled",
  "enabled",
  "description",
  "name",
];
/** Fields that have no effect here and need no warning. */
const silentFields: ReadonlySet<string> = new Set([
  "gallery",
  "version",
  "dev",
  "icon",
  "metadata",
  "$schema",
  "id",
  "title",
]);

const policyHint = "set allowed tools in the section policy of Toolcrib's own configuration";
const ignoredHints: { readonly [field: string]: string } = {
  timeout: "declare the server under tool_servers and set containment: { max_execution_seconds: 30 }",
  envFile: `write the variables in env, as \${NAME}`,
  trust: "declare the server under tool_servers and set trust_state",
  oauth: "send a token in headers",
  auth: "send a token in headers",
  headersHelper: "send a token in headers",
  autoApprove: policyHint,
  alwaysAllow: policyHint,
  disabledTools: policyHint,
  enabledTools: policyHint,
  includeTools: policyHint,
  excludeTools: policyHint,
  tools: policyHint,
};

function reportIgnored(name: string, node: MapNode, kind: TransportKind, reporter: Reporter): void {
  const known = [...readFields[kind === "stdio" ? "stdio" : "http"], ...commonFields];
  const present = new Set(node.entries.map(({ key }) => key));
  const free = known.filter((field) => !present.has(field));
  for (const { key, keySpan } of node.entries) {
    if (known.includes(key) || silentFields.has(key) || /^(?:_|\/\/|#)/.test(key)) continue;
    const hint = Object.hasOwn(ignoredHints, key) ? ignoredHints[key] : didYouMean(key, free);
    const message = `Field ${quote(key)} of server ${quote(name)} has no effect here`;
    reporter.report({ severity: "warning", code: "CONFIG_FOREIGN_FIELD", message, hint, span: keySpan });
  }
}

function isTrue(node: DocumentNode | undefined): boolean {
  return node?.kind === "scalar" && node.value === true;
}

function isFalse(node: DocumentNode | undefined): boolean {
  return node?.kind === "scalar" && node.value === false;
}
