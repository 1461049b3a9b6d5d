/**
 * What every origin of tools implements. The gateway knows no origin by name
 * except where it is put together.
 */

import type { JsonObject } from "@toolcrib/json";
import type { CallContext, ClientSession } from "./call-context.ts";
import type { Origin, Tool, ToolResult } from "./tool.ts";

/** Stop listening. Safe to call again. */
export type Unsubscribe = () => void;

/** Where a source stands. */
export interface Health {
  /**
   * `starting`: first contact is under way. `ready`: calls can succeed.
   * `unavailable`: it failed and will be tried again. `stopped`: for good.
   */
  readonly state: "starting" | "ready" | "unavailable" | "stopped";
  /** Why it is not ready, for people. Never a secret. */
  readonly reason?: string;
  /** Milliseconds since the epoch of the last change of `state`. */
  readonly since: number;
}

/** What changed: one of the lists, or the health. */
export interface SourceChange {
  readonly kind: "tools" | "resources" | "prompts" | "health";
}

/** One kind of thing turned into tools, and their execution. */
export interface ToolSource extends AsyncDisposable {
  /** Unique in the gateway; for upstream servers the `tool_servers` id. */
  readonly id: string;
  readonly origin: Origin;
  /** Whether it checks arguments itself, so that they reach it as they came. @default false: they are checked by the input schema before */
  readonly checksArguments?: boolean;
  /** Milliseconds until a call of `tool` is failed. @default what the gateway gives tools of its origin */
  deadlineMs?(tool: Tool): number;
  /** Make first contact. Resolves when it succeeded or failed; `health()` tells which. Never rejects for a source that is down. */
  start(signal: AbortSignal): Promise<void>;
  /** The tools as last listed; the same array until `onChange` says `tools`. */
  tools(): readonly Tool[];
  onChange(listener: (change: SourceChange) => void): Unsubscribe;
  /**
   * Execute. A tool that failed is a result with `isError: true`.
   *
   * @throws {CodedError} when the operation failed (unreachable, timed out, cancelled).
   */
  call(tool: Tool, args: JsonObject, context: CallContext): Promise<ToolResult>;
  health(): Health;
  /** What else than tools it offers; absent for most origins. */
  readonly features?: SourceFeatures;
}

/** Who watches resources: a client's session, or a stream that listens. Compared by identity. */
export interface ResourceWatcher {
  /** The client's session where it has one; its own upstream session is then used. */
  readonly session?: ClientSession;
  updated(uri: string): void;
}

/** Resources, prompts and completion of a source, spelled as on the wire. */
export interface SourceFeatures {
  /** MCP `ServerCapabilities` as the source declared them; empty before first contact. */
  capabilities(): JsonObject;
  /** Human text about the use of this server, if it gave some. */
  instructions(): string | undefined;
  /** All pages of each list, as last read. */
  resources(): readonly JsonObject[];
  resourceTemplates(): readonly JsonObject[];
  prompts(): readonly JsonObject[];
  /**
   * `resources/read`, `prompts/get` or `completion/complete`.
   *
   * @throws {CodedError} when the operation failed; an error of the server itself keeps its JSON-RPC code.
   */
  request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject>;
  /** Watch a resource on account of `watcher`, who hears `updated` until `unwatch` or the end of its session. */
  watch(uri: string, watcher: ResourceWatcher): Promise<void>;
  unwatch(uri: string, watcher: ResourceWatcher): Promise<void>;
}
