/**
 * Reads the servers that a client's file lists, in the notation of that client. Every field of an entry is read, or
 * named in `notTaken` with the reason: nothing is lost without a word. Pure; a value that may be a secret is in no
 * message.
 */

import { ClientsError } from "./clients-error.ts";
import type { ClientsCode } from "./codes.ts";
import { EntryError, EntryFields, nounOf, quoted } from "./entry-fields.ts";
import { ClientPart, type ImportTransport, transportOf } from "./entry-transport.ts";
import type { FileMember, FileNode } from "./file-node.ts";
import { memberOf, parseFile, placesIn, refuseLarge, type TextPlace, textOf } from "./file-tree.ts";
import type { ImportSource } from "./import-sources.ts";
import { type InputDefaults, parseImportText } from "./import-text.ts";

/** Largest text that is read, in characters. Claude Code keeps its history in its file. */
const textMaxLength = 64 * 1024 * 1024;
/** Most repeated names of a map that are reported. */
const maxRepeated = 100;
/** Most servers of a file. */
const maxServers = 200;

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
    reader.read(parseFile(text, formatOf(source)));
  } catch (error) {
    if (!(error instanceof ClientsError)) throw error;
    const [, line, column, reason] = /line (\d+), column (\d+): ([\s\S]*)/.exec(error.message) ?? [];
    const isPlaced = line !== undefined && column !== undefined;
    reader.problems.push({
      code: error.code,
      line: isPlaced ? Number(line) : 1,
      column: isPlaced ? Number(column) : 1,
      message: isPlaced ? `It is not readable ${formatOf(source).toUpperCase()}: ${reason}` : error.message,
      server: undefined,
    });
  }
  const { servers, partsOfClient, problems } = reader;
  return { servers, partsOfClient, problems };
}

/** In a folder of YAML files, those of other clients are JSON. */
function formatOf({ path, format }: ImportSource): ImportSource["format"] {
  return format === "yaml" && /\.json$/i.test(path) ? "json" : format;
}

class ServersReader {
  readonly servers: ClientServer[] = [];
  readonly partsOfClient: { readonly name: string; readonly line: number; readonly reason: string }[] = [];
  readonly problems: ClientProblem[] = [];
  readonly #placeAt: (offset: number) => TextPlace;
  readonly #source: ImportSource;
  #inputs: InputDefaults = new Map();

  constructor(text: string, source: ImportSource) {
    this.#placeAt = placesIn(text);
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
      if (section === undefined || (found && (client === "file" || path.length === 0))) continue;
      if ((client === "file" && section.kind === "scalar") || (path.length === 0 && !isMapOfMaps(section)))
        continue;
      found = true;
      this.#readSection(section, path.join("."), project, switchedOff(root));
    }
    // The projects of Claude Code; Continue accepts its file, too.
    if (client === "claude-code" || (client === "continue" && formatOf(this.#source) === "json"))
      this.#readProjects(memberOf(root, "projects"));
    if (client === "continue" && !found) this.#readSingle(root);
  }

  /** The servers that Claude Code keeps for single projects. */
  #readProjects(projects: FileNode | undefined): void {
    if (projects?.kind !== "map") return;
    for (const { key, value } of projects.members) {
      const section = memberOf(value, "mcpServers");
      if (section !== undefined) this.#readSection(section, "mcpServers", key, switchedOff(value));
    }
  }

  /** A file of Continue's folder can be one server, as other clients write it; the file gives it its name. */
  #readSingle(root: Extract<FileNode, { kind: "map" }>): void {
    const [, file = ""] = /([^\\/]+?)(?:\.\w+)?$/.exec(this.#source.path) ?? [];
    const name = textOf(memberOf(root, "name")) ?? file;
    if (name === "" || (!memberOf(root, "command") && !memberOf(root, "url"))) return;
    this.#readEntry({ key: name, at: root.at, value: root }, undefined, () => false);
  }

  #readSection(
    section: FileNode,
    name: string,
    project: string | undefined,
    isOff: (name: string) => boolean,
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
    for (const entry of entries.slice(0, maxServers)) this.#readEntry(entry, project, isOff);
  }

  #unique(section: Extract<FileNode, { kind: "map" }>): readonly FileMember[] {
    this.#reportRepeated(section);
    const last = new Map(section.members.map(({ key }, at) => [key, at]));
    return section.members.filter(
      ({ key, value }, at) => last.get(key) === at && !this.#isSetting(key, value),
    );
  }

  /** Version 2 of opencode has settings beside the servers, and the servers below `servers`. */
  #isSetting(key: string, value: FileNode): boolean {
    if (this.#source.dialect !== "opencode" || !/^(?:servers|timeout)$/.test(key)) return false;
    return (
      value.kind !== "map" ||
      !value.members.some((member) => member.key === "type" || member.key === "enabled")
    );
  }

  /** A program reads the last member of a name, and nobody sees the others. */
  #reportRepeated(map: Extract<FileNode, { kind: "map" }>): void {
    const seen = new Set<string>();
    let count = 0;
    for (const { key, at } of map.members) {
      if (seen.has(key) && count < maxRepeated) {
        count += 1;
        this.#report("CLIENTS_ENTRY_INVALID", `${quoted(key)} is there twice; the last one counts`, at, key);
      }
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
      const key = textOf(memberOf(item, "name")) ?? this.#unnamed(item, at);
      if (key !== undefined) return [{ key, at: item.at, value: item }];
      const block = this.#source.dialect === "continue" ? textOf(memberOf(item, "uses")) : undefined;
      if (block !== undefined) {
        const { line } = this.#placeAt(item.at);
        const reason = "it is a block of the hub of Continue, and only Continue knows what is in it";
        this.partsOfClient.push({ name: block, line, reason });
        return [];
      }
      const message =
        item.kind === "map"
          ? `"${name}[${at}]" needs a name`
          : `"${name}[${at}]" must be a map, but is ${nounOf(item)}`;
      this.#report("CLIENTS_ENTRY_INVALID", message, item.at);
      return [];
    });
  }

  /** The servers in the older file of Continue have no names. */
  #unnamed(item: FileNode, at: number): string | undefined {
    const isOlder = this.#source.dialect === "continue" && memberOf(item, "transport")?.kind === "map";
    return isOlder ? `mcp-server-${at + 1}` : undefined;
  }

  #readEntry(
    { key, at, value: written }: FileMember,
    project: string | undefined,
    isOff: (name: string) => boolean,
  ): void {
    try {
      if (written.kind !== "map")
        throw new EntryError(`it must be a map, but is ${nounOf(written)}`, written.at);
      const { dialect, style } = this.#source;
      const isForeign = style === "continue" && formatOf(this.#source) === "json";
      const fields = new EntryFields(flattened(written), (text) =>
        parseImportText(text, isForeign ? "continue-json" : style, this.#inputs),
      );
      const transport = transportOf(fields, dialect, at);
      const isDisabled = fields.flag("disabled") === true || fields.flag("enabled") === false || isOff(key);
      const timeoutSeconds = timeoutOf(fields, this.#source);
      const description = fields.text("description");
      fields.ignore("name", "type", "transport", "transportType", "source");
      const { line, column } = this.#placeAt(at);
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
        const { line } = this.#placeAt(at);
        this.partsOfClient.push({ name: key, line, reason: error.message });
        return;
      }
      if (!(error instanceof EntryError)) throw error;
      this.#report("CLIENTS_ENTRY_INVALID", `Server ${quoted(key)}: ${error.message}`, error.at, key);
    }
  }

  #report(code: ClientsCode, message: string, at: number, server?: string): void {
    this.problems.push({ code, ...this.#placeAt(at), message, server });
  }
}

function isMapOfMaps(node: FileNode): boolean {
  return (
    node.kind === "map" && node.members.length > 0 && node.members.every(({ value }) => value.kind === "map")
  );
}

/** Cline writes the transport of a server as a map of its own. */
function flattened(node: Extract<FileNode, { kind: "map" }>): Extract<FileNode, { kind: "map" }> {
  const transport = memberOf(node, "transport");
  if (transport?.kind !== "map") return node;
  const outer = node.members.filter(({ key }) => key !== "transport");
  const own = new Set(outer.map(({ key }) => key));
  return { ...node, members: [...outer, ...transport.members.filter(({ key }) => !own.has(key))] };
}

function timeoutOf(fields: EntryFields, source: ImportSource): number | undefined {
  const [name, node, unit] = limitOf(fields, source);
  if (node?.kind !== "scalar" || typeof node.value !== "number" || !(node.value > 0)) return undefined;
  // Claude Code ignores less than a second, which was meant as seconds.
  if (source.client === "claude-code" && node.value < 1000) return undefined;
  fields.ignore(name);
  const seconds = unit === "ms" ? node.value / 1000 : node.value;
  return Math.min(3600, Math.max(1, Math.ceil(seconds)));
}

/** The field of an entry that limits calls, its value and its unit. */
function limitOf(
  fields: EntryFields,
  { dialect, timeoutUnit }: ImportSource,
): readonly [name: string, node: FileNode | undefined, unit: "s" | "ms"] {
  if (dialect === "codex") return ["tool_timeout_sec", memberOf(fields.node, "tool_timeout_sec"), "s"];
  // In version 2 of opencode, a map of limits; before, the limit of the list of tools.
  if (dialect === "opencode") return ["timeout", memberOf(fields.node, "timeout", "execution"), "ms"];
  const node = timeoutUnit === undefined ? undefined : memberOf(fields.node, "timeout");
  return ["timeout", node, timeoutUnit ?? "s"];
}

/** Whether another list of the file switches a server off, by its name; Gemini ignores the case of letters. */
function switchedOff(root: FileNode): (name: string) => boolean {
  const names = (...path: readonly string[]) => {
    const list = memberOf(root, ...path);
    return list?.kind === "list" ? list.items.flatMap((item) => textOf(item) ?? []) : [];
  };
  const folded = (...path: readonly string[]) => new Set(names(...path).map(toFolded));
  const disabled = new Set(names("disabledMcpServers"));
  const [allowed, excluded] = [folded("mcp", "allowed"), folded("mcp", "excluded")];
  return (name) => {
    const id = toFolded(name);
    return disabled.has(name) || excluded.has(id) || (allowed.size > 0 && !allowed.has(id));
  };
}

function toFolded(name: string): string {
  return name.toLowerCase().trim();
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
