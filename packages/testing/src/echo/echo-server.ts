/**
 * What all connections of one echo server share: its tools, its resources,
 * and the log of what it received. It knows no transport; an entry or an HTTP
 * server makes an `EchoConnection` for each connection or session.
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

/** What the process around an echo server gives it. */
export interface EchoHost {
  readonly environment: { readonly [name: string]: string | undefined };
  /** End as a process that crashed does. */
  crash(code: number): void;
  /** Pids of processes that tools started and that still run. */
  readonly children: Set<number>;
}

/** Something that subscribers hear of. */
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

/** Oldest received messages are forgotten past this many. */
const receivedMaxCount = 1000;

export class EchoServer {
  readonly host: EchoHost;
  readonly options: EchoOptions;
  readonly serverInfo: JsonObject;
  readonly capabilities: ReadonlySet<EchoCapability>;
  /** Versions it speaks, oldest first. */
  readonly versions: readonly string[];
  readonly tools = new Map<string, EchoTool>();
  readonly resources = new Map<string, string>(initialResources);
  readonly received: JsonRpcMessage[] = [];
  readonly connections = new Set<EchoConnection>();
  /** How many calls were cancelled while they waited, by a message or by a closed connection. */
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

  /** Whether it speaks 2026-07-28. */
  get isModern(): boolean {
    return this.versions.includes(modernVersion);
  }

  /** Whether it speaks a version with `initialize`. */
  get isLegacy(): boolean {
    return this.versions[0] !== modernVersion;
  }

  /** What `initialize` and `server/discover` say it can do. */
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

  /** Add a tool that returns its arguments as JSON text; `definition` goes out as it is. */
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

  /** Give a tool another description, as an upstream does whose tool changed under its users. */
  redefineTool(name: string): void {
    const tool = this.tools.get(name);
    if (tool === undefined) return;
    const description = `${stringOf(tool.definition, "description", name)} (redefined)`;
    this.tools.set(name, { ...tool, definition: { ...tool.definition, description } });
  }

  /** Keep `message` for the tool `received`; calls are left out, so that they cost nothing. */
  record(message: JsonRpcMessage): void {
    if (message.method === undefined || message.method === "tools/call") return;
    this.received.push(message);
    if (this.received.length > receivedMaxCount) this.received.shift();
  }

  /** Tell every connection that wants to hear of it. */
  announce(change: EchoChange): void {
    for (const connection of this.connections) connection.announce(change);
  }

  #addNumberedTool(number: number): void {
    const name = `tool_${String(number).padStart(4, "0")}`;
    const call: EchoTool["call"] = (given) => textResult(stringOf(given, "text", ""));
    this.tools.set(name, defineTool(name, `Returns its text, number ${number}`, { text }, [], call));
  }
}
