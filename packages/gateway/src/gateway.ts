/**
 * What a running gateway offers to programs in the same process: the command
 * line, the admin API, tests and embedding programs. Types only; the gateway
 * is put together in `start-gateway.ts`.
 */

import type { ContainmentPart } from "@toolcrib/config";
import type { JsonObject } from "@toolcrib/json";
import type { McpService } from "@toolcrib/mcp";
import type { Health, Identity, Origin, Tool, ToolId, ToolResult } from "@toolcrib/tool";

/** One tool as people see it in a list. */
export interface ToolSummary {
  readonly id: ToolId;
  /** Its name on the MCP wire of `/mcp`. */
  readonly wireName: string;
  readonly namespace: string;
  readonly origin: Origin;
  readonly title?: string;
  readonly description?: string;
  readonly tags: readonly string[];
}

/** A search hit. */
export interface ToolHit {
  readonly id: ToolId;
  readonly name: string;
  readonly score: number;
  /** Which words of the query matched in which fields, as short texts such as `file in name`. */
  readonly why: readonly string[];
  readonly description?: string;
}

/** One upstream server as people see it. */
export interface ServerStatus {
  readonly id: string;
  readonly name?: string;
  readonly transport: "stdio" | "sse" | "streamable_http";
  readonly health: Health;
  readonly trustState: string;
  readonly mutabilityClass: string;
  /** The containment in effect, declared or by default, and what of it is enforced. */
  readonly containment: {
    readonly networkEgress: string;
    readonly filesystemWrite: string;
    readonly maxExecutionSeconds: number;
    /** Whether every part that restricts the server is enforced. */
    readonly enforced: boolean;
    /** Parts that restrict the server and are enforced. */
    readonly enforcedParts: readonly ContainmentPart[];
    /** Parts that restrict the server and are not enforced. */
    readonly notEnforcedParts: readonly ContainmentPart[];
  };
  readonly labels: { readonly [key: string]: string };
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
  readonly protocolVersion?: string;
  readonly serverInfo?: JsonObject;
  /** Process id of the shared stdio server, while it runs. */
  readonly pid?: number;
  readonly restarts: number;
}

/** One toolspec as people see it. */
export interface ToolspecStatus {
  readonly id: string;
  /** Name and version of its manifest. */
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** `unavailable` while one of its secrets cannot be read. */
  readonly health: Health;
  readonly tools: number;
  /** Host patterns that it may reach. */
  readonly hosts: readonly string[];
  /** What its credentials are kept under, never a value. */
  readonly credentials: readonly { readonly id: string; readonly secret: string }[];
  readonly labels: { readonly [key: string]: string };
}

/** The whole gateway at a glance. */
export interface GatewayStatus {
  readonly version: string;
  readonly startedAt: string;
  readonly url?: string;
  readonly servers: readonly ServerStatus[];
  readonly toolspecs: readonly ToolspecStatus[];
  readonly tools: number;
  readonly sessions: number;
  readonly callsInFlight: number;
  readonly quarantined: readonly { readonly id: ToolId; readonly reason: string }[];
}

/** How a call went. Exactly one completion is recorded for each. */
export type CallOutcome =
  | { readonly kind: "result"; readonly callId: string; readonly result: ToolResult }
  | {
      readonly kind: "denied";
      readonly callId: string;
      readonly code: string;
      readonly reason: string;
      readonly rule: string;
      readonly hint?: string;
    }
  | { readonly kind: "failed"; readonly callId: string; readonly error: Error };

/** Options of `Gateway.call`. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (params: JsonObject) => void;
}

/** A running gateway. Disposing it drains calls, stops servers and closes the store. */
export interface Gateway extends AsyncDisposable {
  /** The MCP side, for any transport. */
  readonly service: McpService;
  /** Resolves when every source made first contact, whether it succeeded or not. Never rejects. */
  ready(): Promise<void>;
  /** Resolves when, after that, the words of all tools were read for search: nothing of the start is left to do. Never rejects. */
  prepared(): Promise<void>;
  status(): GatewayStatus;
  /** Tools that `identity` may see, in list order. */
  listTools(identity: Identity): readonly ToolSummary[];
  /** Search among the tools that `identity` may see. @param limit 1..100. */
  search(identity: Identity, query: string, limit: number): readonly ToolHit[];
  /** A tool by `ToolId` or wire name; undefined when it does not exist or may not be seen. */
  describe(identity: Identity, name: string): Tool | undefined;
  /** Execute through the governed call. @param name `ToolId` or wire name. */
  call(identity: Identity, name: string, args: JsonObject, options?: CallOptions): Promise<CallOutcome>;
  /** Last lines of a stdio server's standard error. */
  serverLog(id: string, lines: number): readonly string[];
  /** Start the HTTP front door. */
  listen(): Promise<{ readonly url: string }>;
}
