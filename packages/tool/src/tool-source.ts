/**
 * The interface that every origin of tools implements. Apart from its
 * composition roots, the gateway does not distinguish origins.
 */

import type { JsonObject } from "@toolcrib/json";
import type { CallContext, ClientSession } from "./call-context.ts";
import type { Origin, Tool, ToolResult } from "./tool.ts";

/** Removes a listener. Safe to repeat. */
export type Unsubscribe = () => void;

/** The state of a source. */
export interface Health {
  /**
   * `starting`: the first connection is in progress. `ready`: calls can succeed.
   * `unavailable`: it failed and is retried. `idle`: it does not run, and starts at
   * its next call. `quarantined`: it misbehaved, and is not used until an operator
   * releases it. `stopped`: it does not start again. `disabled`: the operator switched
   * it off, and it is not opened.
   */
  readonly state: "starting" | "ready" | "unavailable" | "idle" | "quarantined" | "stopped" | "disabled";
  /** The reason why it is not ready, as text. Never a secret. */
  readonly reason?: string;
  /**
   * The failure behind `reason`, for programs: the code of its error, the code that the system gave (`ECONNREFUSED`),
   * the HTTP status of the answer, and whether the server announced OAuth.
   */
  readonly failure?: {
    readonly code: string;
    readonly systemCode?: string;
    readonly status?: number;
    readonly usesOAuth?: boolean;
  };
  /** Milliseconds since the epoch of the last change of `state`. */
  readonly since: number;
  /**
   * The step of a source that starts, where it is known. `fetching`: its package is downloaded. `connecting`: it has
   * not answered its handshake. `listing`: it has, and its lists are read.
   */
  readonly phase?: "fetching" | "connecting" | "listing";
  /** Bytes of the package that is being fetched so far; absent while it waits for other fetches. */
  readonly fetchedBytes?: number;
}

/** A change of one of the lists, or of the health. */
export interface SourceChange {
  readonly kind: "tools" | "resources" | "prompts" | "health";
}

/** An inner call that a tool makes, as far as it is known before the tool is called. */
export interface PlannedCall {
  /** Its name within the tool. */
  readonly step: string;
  /** The tool that it calls: an id or a name on the wire. */
  readonly tool: string;
  /** Its arguments; undefined where they depend on the results of earlier calls. */
  readonly arguments: JsonObject | undefined;
  /** Where its arguments come from, for people. */
  readonly mapping: JsonObject;
}

/** A provider of tools, which lists and executes them. */
export interface ToolSource extends AsyncDisposable {
  /** Unique in the gateway; for upstream servers the `tool_servers` id. */
  readonly id: string;
  readonly origin: Origin;
  /** Whether the source validates arguments itself and receives them unchanged. @default false: the gateway validates them against the input schema */
  readonly checksArguments?: boolean;
  /** Whether results can be questions to the client (`input_required`). @default false: such members are removed */
  readonly returnsQuestions?: boolean;
  /** Returns the time limit of a call of `tool` in milliseconds. @default the gateway's limit for tools of this origin */
  deadlineMs?(tool: Tool): number;
  /** Connects for the first time. Resolves after success and after failure; `health()` returns the state. Never rejects for an unavailable source. */
  start(signal: AbortSignal): Promise<void>;
  /** Returns the tools of the last listing; the same array until `onChange` reports `tools`. */
  tools(): readonly Tool[];
  /**
   * Returns why a tool that the source has is not offered, and how to change that; undefined for an unknown name.
   *
   * @param name its name in the source
   */
  explainTool?(name: string): string | undefined;
  /**
   * Reads again for whom the tools are listed (`Tool.listedFor`), where another process can have changed it. Called
   * before a client gets the answer for an unknown tool because the tool is not listed for it.
   */
  refresh?(): Promise<void>;
  /** Whether its lists are known while it starts, from an earlier connection. @default false */
  hasLists?(): boolean;
  /**
   * Connects before the call `context`, where the lists are those of an earlier connection: they are current
   * afterwards. Rejects when it cannot connect.
   *
   * @returns undefined where the lists are current.
   */
  connect?(context: CallContext): Promise<void> | undefined;
  onChange(listener: (change: SourceChange) => void): Unsubscribe;
  /**
   * Returns the inner calls that a call of `tool` makes, in their order, where they follow from its definition: the
   * approval of the call shows them. Absent, or undefined, for tools that make none or choose them while they run.
   */
  planCall?(
    tool: Tool,
    args: JsonObject,
    caller: Pick<CallContext, "identity">,
  ): readonly PlannedCall[] | undefined;
  /**
   * Executes a tool. A tool that failed returns a result with `isError: true`.
   *
   * @param beforeSend checks the call against the lists as they are then. A source that waits before it sends a call,
   *   or sends it again, calls this right before each time; what it throws ends the call.
   * @throws {CodedError} when the operation failed (unreachable, timed out, cancelled).
   */
  call(tool: Tool, args: JsonObject, context: CallContext, beforeSend?: () => void): Promise<ToolResult>;
  health(): Health;
  /** Resources, prompts and completion; absent for most origins. */
  readonly features?: SourceFeatures;
}

/** A subscriber to resources: the session or the change stream of a client. Compared by object identity. */
export interface ResourceWatcher {
  /** The session of the client, if it has one. Its own upstream session is then used. */
  readonly session?: ClientSession;
  /** The client whose share of what is watched it uses, in all of its sessions and streams. @default it has no share */
  readonly holder?: string;
  /** Checks the watch against the lists as they are then, right before each time that the source asks for it. What it throws ends the attempt. */
  beforeSend?(): void;
  updated(uri: string): void;
}

/** Resources, prompts and completion of a source, spelled as on the wire. */
export interface SourceFeatures {
  /** Returns the declared MCP `ServerCapabilities`; empty before the first connection. */
  capabilities(): JsonObject;
  /** Returns the server's text about its use, if any. */
  instructions(): string | undefined;
  /** Each list returns all pages of the last listing. */
  resources(): readonly JsonObject[];
  resourceTemplates(): readonly JsonObject[];
  prompts(): readonly JsonObject[];
  /**
   * Sends `resources/read`, `prompts/get` or `completion/complete`.
   *
   * @param beforeSend as for `ToolSource.call`
   * @throws {CodedError} when the operation failed; an error of the server itself keeps its JSON-RPC code.
   */
  request(
    method: string,
    params: JsonObject,
    context: CallContext,
    beforeSend?: () => void,
  ): Promise<JsonObject>;
  /** Subscribes `watcher` to a resource: it receives `updated` until `unwatch` or the end of its session. */
  watch(uri: string, watcher: ResourceWatcher): Promise<void>;
  unwatch(uri: string, watcher: ResourceWatcher): Promise<void>;
}
