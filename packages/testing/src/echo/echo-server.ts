/**
 * The state that all connections of one echo server share: its tools, its
 * resources, and the messages that it received. It has no transport; an entry or an
 * HTTP server creates an `EchoConnection` for each connection or session.
 */

import { initialResources } from "./content.ts";
import type { EchoConnection } from "./echo-connection.ts";
import type { EchoCapability, EchoOptions } from "./echo-options.ts";
import { defineTool, type EchoTool, stringOf, text, textResult } from "./echo-tool.ts";
import { interactiveTools } from "./interactive-tools.ts";
import type { JsonObject, JsonRpcMessage } from "./json-rpc.ts";
import { legacyVersions, modernVersion } from "./modern-era.ts";
import { plainTools } from "./plain-tools.ts";
import { unrulyTools } from "./unruly-tools.ts";

/** The process of an echo server. */
export interface EchoHost {
  readonly env: { readonly [name: string]: string | undefined };
  /** Ends like a process that crashes. */
  crash(code: number): void;
  /** Pids of the running processes that tools started. */
  readonly children: Set<number>;
}

/** A change that subscribers are notified of. */
export type EchoChange =
  | { readonly kind: "toolsListChanged" }
  | { readonly kind: "resourceUpdated"; readonly uri: string };

const allCapabilities: readonly EchoCapability[] = [
  "tools",
  "resources",
  "prompts",
  "logging",
  "completions",
];

/** Number of received messages that are kept; the oldest ones are dropped first. */
const receivedMaxCount = 1000;

export class EchoServer {
  readonly host: EchoHost;
  readonly options: EchoOptions;
  readonly serverInfo: JsonObject;
  readonly capabilities: ReadonlySet<EchoCapability>;
  /** Supported versions, oldest first. */
  readonly versions: readonly string[];
  readonly tools = new Map<string, EchoTool>();
  readonly resources = new Map<string, string>(initialResources);
  readonly received: JsonRpcMessage[] = [];
  readonly connections = new Set<EchoConnection>();
  /** Calls that were cancelled in flight, by a message or a closed connection. */
  cancelledCount = 0;

  constructor(host: EchoHost, options: EchoOptions) {
    this.host = host;
    this.options = options;
    this.serverInfo = { name: options.name ?? "echo", version: "1.0.0" };
    this.capabilities = new Set(options.capabilities ?? allCapabilities);
    const protocol = options.protocol ?? "2025-11-25";
    this.versions = [...legacyVersions, modernVersion].filter((version) =>
      options.only === true ? version === protocol : version <= protocol,
    );
    if (this.versions.length === 0) throw new Error(`Unknown protocol version "${protocol}"`);
    for (const tool of [...plainTools, ...unrulyTools, ...interactiveTools]) {
      const { name } = tool.definition;
      if (options.builtin === undefined || options.builtin.includes(name)) this.tools.set(name, tool);
    }
    for (let number = 1; number <= (options.tools ?? 0); number += 1) this.#addNumberedTool(number);
    for (const definition of options.define ?? []) this.addTool(definition);
  }

  /** Whether it supports 2026-07-28. */
  get isModern(): boolean {
    return this.versions.includes(modernVersion);
  }

  /** Whether it supports a version with `initialize`. */
  get isLegacy(): boolean {
    return this.versions[0] !== modernVersion;
  }

  /** The capabilities in the results of `initialize` and `server/discover`. */
  describeCapabilities(): JsonObject {
    const described: { [name: string]: JsonObject } = {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      logging: {},
      completions: {},
    };
    return Object.fromEntries(
      Object.entries(described).filter(([name]) => this.capabilities.has(name as EchoCapability)),
    );
  }

  /** Adds a tool that returns its arguments as JSON text; `definition` is listed unchanged. */
  addTool(definition: JsonObject): void {
    const name = stringOf(definition, "name", "");
    this.tools.set(name, {
      definition: { inputSchema: { type: "object" }, ...definition, name },
      call: (given) => textResult(JSON.stringify(given)),
    });
  }

  removeTool(name: string): void {
    this.tools.delete(name);
  }

  /** Changes the description of a tool, like an upstream server whose tool changes while it is in use. */
  redefineTool(name: string): void {
    const tool = this.tools.get(name);
    if (tool === undefined) return;
    const description = `${stringOf(tool.definition, "description", name)} (redefined)`;
    this.tools.set(name, { ...tool, definition: { ...tool.definition, description } });
  }

  /** Stores `message` for the tool `received`. Calls are not stored, so that they cost nothing. */
  record(message: JsonRpcMessage): void {
    if (message.method === undefined || message.method === "tools/call") return;
    this.received.push(message);
    if (this.received.length > receivedMaxCount) this.received.shift();
  }

  /** Notifies every connection that is subscribed to the change. */
  announce(change: EchoChange): void {
    for (const connection of this.connections) connection.announce(change);
  }

  #addNumberedTool(number: number): void {
    const name = `tool_${String(number).padStart(4, "0")}`;
    const call: EchoTool["call"] = (given) => textResult(stringOf(given, "text", ""));
    this.tools.set(name, defineTool(name, `Returns its text, number ${number}`, { text }, [], call));
  }
}
