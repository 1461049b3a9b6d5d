/**
 * The fields of one entry of a client's file. Which of them were read is known at the end, so that none is lost without
 * a word. A field of a wrong type is an `EntryError` with its place. Pure.
 */

import type { FileNode } from "./file-node.ts";
import { memberOf, textOf } from "./file-tree.ts";
import type { ImportText } from "./import-text.ts";

/** An entry that cannot be imported. */
export class EntryError extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** The fields of an entry; which of them were read is known at the end. */
export class EntryFields {
  readonly node: Extract<FileNode, { kind: "map" }>;
  readonly #parse: (text: string) => ImportText;
  readonly #read = new Set<string>();
  readonly #notTaken: { readonly field: string; readonly reason: string }[] = [];

  constructor(node: Extract<FileNode, { kind: "map" }>, parse: (text: string) => ImportText) {
    this.node = node;
    this.#parse = parse;
  }

  get(...names: readonly string[]): FileNode | undefined {
    for (const name of names) {
      const found = memberOf(this.node, name);
      if (found === undefined || (found.kind === "scalar" && found.value === null)) continue;
      this.#read.add(name);
      return found;
    }
    return undefined;
  }

  ignore(...names: readonly string[]): void {
    for (const name of names) this.#read.add(name);
  }

  flag(name: string): boolean | undefined {
    const node = this.get(name);
    if (node === undefined) return undefined;
    if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
    throw new EntryError(`"${name}" must be true or false, but is ${nounOf(node)}`, node.at);
  }

  text(name: string): string | undefined {
    const node = this.get(name);
    if (node === undefined) return undefined;
    if (node.kind === "scalar" && typeof node.value === "string") return node.value;
    throw new EntryError(`"${name}" must be a text, but is ${nounOf(node)}`, node.at);
  }

  parsed(...names: readonly string[]): ImportText | undefined {
    const node = this.get(...names);
    if (node === undefined) return undefined;
    if (node.kind === "scalar" && typeof node.value === "string") return this.#parse(node.value);
    throw new EntryError(`"${names[0]}" must be a text, but is ${nounOf(node)}`, node.at);
  }

  list(name: string): readonly string[] | undefined {
    const node = this.get(name);
    if (node === undefined) return undefined;
    if (node.kind !== "list")
      throw new EntryError(`"${name}" must be a list, but is ${nounOf(node)}`, node.at);
    return node.items.map((item, at) => {
      const text = textOf(item);
      if (text !== undefined) return text;
      throw new EntryError(`"${name}[${at}]" must be a text, but is ${nounOf(item)}`, item.at);
    });
  }

  parsedList(name: string): readonly ImportText[] {
    return (this.list(name) ?? []).map((text) => this.#parse(text));
  }

  parsedMap(...names: readonly string[]): Map<string, ImportText> {
    const node = this.get(...names);
    return node === undefined ? new Map() : mapOf(node, names[0] ?? "", this.#parse);
  }

  /** The fields of a map in this entry. */
  within(node: Extract<FileNode, { kind: "map" }>): EntryFields {
    return new EntryFields(node, this.#parse);
  }

  /** Notes a field that was read, or is in a map of this entry, and has no meaning here. */
  notTaken(field: string, reason: string): void {
    this.#notTaken.push({ field, reason });
  }

  /** The fields that nobody read. */
  rest(): readonly { readonly field: string; readonly reason: string }[] {
    const own = this.node.members
      .filter(({ key }, at, all) => !this.#read.has(key) && all.findIndex((one) => one.key === key) === at)
      .filter(({ key, value }) => !isWithoutEffect(key, value))
      .map(({ key, value }) => ({ field: key, reason: reasonOf(key, value) }));
    return [...own, ...this.#notTaken];
  }
}

function mapOf(node: FileNode, name: string, parse: (text: string) => ImportText): Map<string, ImportText> {
  if (node.kind !== "map") throw new EntryError(`"${name}" must be a map, but is ${nounOf(node)}`, node.at);
  const entries = node.members.flatMap(({ key, value }): [string, ImportText][] => {
    if (value.kind === "scalar" && value.value === null) return [];
    const text = textOf(value);
    if (text === undefined)
      throw new EntryError(`"${name}.${key}" must be a text, but is ${nounOf(value)}`, value.at);
    return [[key, parse(text)]];
  });
  return new Map(entries);
}

/** Fields that a client writes for itself, and those whose value is what Toolcrib does anyway. */
function isWithoutEffect(key: string, value: FileNode): boolean {
  if (
    /^(?:gallery|version|dev|icon|metadata|\$schema|id|title|bundled|display_name|remoteConfigured|faviconUrl|serverName|sourceFile|sourceSlug|alwaysLoad|codemode)$|^(?:_|\/\/|#)/.test(
      key,
    )
  )
    return true;
  if (value.kind === "list") return value.items.length === 0;
  if (value.kind === "map") return value.members.length === 0;
  return value.value === null || value.value === "";
}

function reasonOf(key: string, value: FileNode): string {
  // As a map, Codex and Zed have what each tool may do without a question.
  if (key === "tools" && value.kind === "map") return approvalReason;
  return reasons.get(key) ?? "it has no meaning here";
}

const toolsReason = "choose tools in Toolcrib: toolcrib disable tool NAME, or policy.deny";
const approvalReason = "calls need no approval where the entry has trust_state: verified";
const reasons: ReadonlyMap<string, string> = new Map([
  ["disabledTools", toolsReason],
  ["disabled_tools", toolsReason],
  ["enabledTools", toolsReason],
  ["enabled_tools", toolsReason],
  ["includeTools", toolsReason],
  ["excludeTools", toolsReason],
  ["available_tools", toolsReason],
  ["tools", toolsReason],
  ["autoApprove", approvalReason],
  ["alwaysAllow", approvalReason],
  ["trust", approvalReason],
  ["default_tools_approval_mode", approvalReason],
  ["headersHelper", "store the header as a secret: headers: { NAME: { secret_key_ref: … } }"],
  ["envFile", "write its variables in env, or store them as secrets"],
  ["env_keys", "store each as a secret, and name it in env"],
  ["timeout", "set containment: { max_execution_seconds: … }"],
  ["startup_timeout_sec", "a server that starts slowly is waited for in the background"],
  ["startup_timeout_ms", "a server that starts slowly is waited for in the background"],
  ["connectionTimeout", "a server that starts slowly is waited for in the background"],
  ["sandboxEnabled", "Toolcrib contains every server: containment"],
  ["sandbox", "Toolcrib contains every server: containment"],
  ["settings", "they belong to an extension of the editor"],
  ["authProviderType", "log in with auth: { type: oauth }"],
  ["targetAudience", "log in with auth: { type: oauth }"],
  ["targetServiceAccount", "log in with auth: { type: oauth }"],
  ["remote", "Toolcrib starts every server on its own machine"],
  ["experimental_environment", "Toolcrib starts every server on its own machine"],
  ["required", "a server that does not start never ends the gateway"],
  ["supports_parallel_tool_calls", "calls of one server are made in parallel anyway"],
  ["requestOptions", "of it only headers have a meaning here"],
]);

/** Returns what a value is, for messages. */
export function nounOf(node: FileNode): string {
  if (node.kind !== "scalar") return node.kind === "map" ? "a map" : "a list";
  if (node.value === null) return "null";
  return typeof node.value === "string" ? "a text" : `a ${typeof node.value}`;
}

/** Returns a text in quotes, cut to a line. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
