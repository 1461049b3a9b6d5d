/**
 * The interface of a running gateway for programs in the same process: the
 * command line, the status API, tests and embedding programs. Types only;
 * `start-gateway.ts` composes the gateway.
 */

import type { Approvals, PauseStatus, Pauses, WaitingServer } from "@toolcrib/admission";
import type { PolicyStatus } from "@toolcrib/cedar";
import type { GatewayConfig } from "@toolcrib/config";
import type { ConfigOutcome, ConfigStatus } from "@toolcrib/config-changes";
import type { CodedError } from "@toolcrib/diagnostics";
import type { ClientTools, EndpointUsage } from "@toolcrib/discovery";
import type { EmbeddingsStatus } from "@toolcrib/embeddings";
import type { Tasks } from "@toolcrib/extensions";
import type { RuleUsage } from "@toolcrib/guards";
import type { Hooks } from "@toolcrib/hooks";
import type { IdleRule, SourceStatuses } from "@toolcrib/inventory";
import type { JsonObject } from "@toolcrib/json";
import type { McpService } from "@toolcrib/mcp";
import type { ToolSearch } from "@toolcrib/search";
import type { HeadAnchors, QuarantinedDefinition } from "@toolcrib/store";
import type { Identity, Origin, Tool, ToolId, ToolResult } from "@toolcrib/tool";
import type { LimitQuestion, PolicySituation } from "./policy/open-policy-state.ts";
import type { Telemetry } from "./telemetry/traced-call.ts";

/** A tool in a list for people. */
export interface ToolSummary {
  readonly id: ToolId;
  /** Its name on the MCP wire of `/mcp`. */
  readonly wireName: string;
  readonly namespace: string;
  readonly origin: Origin;
  /** Whether it is one of Toolcrib's own tools, such as `search_tools`. */
  readonly isOwn: boolean;
  readonly title?: string;
  readonly description?: string;
  readonly tags: readonly string[];
}

/** A search hit. */
export interface ToolHit {
  readonly id: ToolId;
  readonly name: string;
  readonly score: number;
  /** The words of the query that matched and the fields, as short texts such as `file in name`. */
  readonly why: readonly string[];
  /** The parts of the score, the greatest first, where they were asked for. */
  readonly parts?: ReturnType<ToolSearch["search"]>[number]["why"];
  /** Its ranks by words and by meaning, where they were asked for and search went by both. */
  readonly ranks?: ReturnType<ClientTools["search"]>[number]["ranks"];
  readonly description?: string;
}

/** The state of the whole gateway. `servers` and `toolspecs` list the configured sources. */
export interface GatewayStatus extends SourceStatuses {
  readonly version: string;
  readonly startedAt: string;
  readonly url?: string;
  /** Number of tools, without Toolcrib's own. */
  readonly tools: number;
  /** Number of Toolcrib's own tools, such as `search_tools`. */
  readonly ownTools: number;
  readonly sessions: number;
  readonly callsInFlight: number;
  readonly tasks: ReturnType<Tasks["usage"]>;
  /** Costs of lists of tools, in estimated tokens. */
  readonly discovery: DiscoveryStatus;
  /** Rules of the policy that match no tool or prompt of the servers that they name. */
  readonly idleRules: readonly IdleRule[];
  /** The configuration in force, and what became of changes of it; absent for clients. */
  readonly configuration?: ConfigStatus;
  /** The policy files; absent where there are none, and for clients. */
  readonly policy?: PolicyStatus;
  readonly quarantined: readonly QuarantinedDefinition[];
  /** Servers with definitions that wait for the operator's approval. */
  readonly waiting: readonly WaitingServer[];
  /** Pauses of the operator. */
  readonly pauses: readonly PauseStatus[];
  /** Why it is not known what is paused, so that every call is refused. */
  readonly pausesProblem?: string;
  /** Names or patterns of tools that the operator switched off; absent for none, and for clients. */
  readonly disabledTools?: readonly string[];
  /** Usage of each limit. */
  readonly limits: readonly RuleUsage[];
  /** Places that keep the signed ends of the audit trail. */
  readonly anchors: ReturnType<HeadAnchors["status"]>;
  /** The hooks with what became of the questions to them, for the operator; absent for clients and where none is configured. */
  readonly hooks?: ReturnType<Hooks["usage"]>;
  /** Search by meaning, for the operator; absent for clients and where it is off. */
  readonly embeddings?: EmbeddingsStatus;
  /** Counts of sent and lost telemetry; absent where none is configured. For clients without addresses and reasons. */
  readonly telemetry?: ReturnType<Telemetry["status"]>;
}

/** Costs of lists of tools, in estimated tokens. */
export interface DiscoveryStatus {
  /** The endpoints that the reader of the status may use. */
  readonly endpoints: readonly EndpointUsage[];
  /** Of all lists that clients received, and what these would have cost more in the mode `full`. */
  readonly listedTokens: number;
  readonly savedTokens: number;
  /** Of results that were cut off and not read later. */
  readonly cutTokens: number;
}

/** The outcome of a call. Exactly one completion or denial is recorded for each. */
export type CallOutcome =
  | {
      readonly kind: "result";
      readonly callId: string;
      readonly result: ToolResult;
      /** Whether the operator approved the call; only on results that are questions. */
      readonly isApproved?: boolean;
    }
  | {
      readonly kind: "denied";
      readonly callId: string;
      readonly code: string;
      readonly reason: string;
      readonly rule: string;
      readonly hint?: string;
      /** A text of the rule's author for the client that is denied. */
      readonly message?: string;
    }
  | { readonly kind: "failed"; readonly callId: string; readonly error: Error };

/** Options of `Gateway.call`. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (params: JsonObject) => void;
}

/** A running gateway. Disposing it drains calls, stops servers and closes the store. */
export interface Gateway extends AsyncDisposable {
  /** Definitions and calls that wait for the operator. Its callers act for the operator. */
  readonly approvals: Approvals;
  /** Pauses of the operator. Its callers act for the operator. */
  readonly pauses: Pauses;
  /** The MCP side, for any transport. */
  readonly service: McpService;
  /** Resolves when every source made first contact, successful or not. Never rejects. */
  ready(): Promise<void>;
  /** Resolves when, after that, all tools are indexed for search: the start is complete. Never rejects. */
  prepared(): Promise<void>;
  /** Resolves when the next call of a tool begins. */
  nextCall(): Promise<void>;
  /** The whole status, which takes time where there are many tools, rules and definitions. */
  status(): GatewayStatus;
  /** The part of the status about the sources, which takes far less time. */
  sources(): SourceStatuses;
  /** Number of calls in flight. */
  callsInFlight(): number;
  /** Tools that `identity` may use, in list order. */
  listTools(identity: Identity): readonly ToolSummary[];
  /** Searches among the tools that `identity` may use, by words and, with `search.embeddings`, by meaning. @param limit 1..100. @param explains whether the hits have `parts` */
  search(identity: Identity, query: string, limit: number, explains?: boolean): Promise<readonly ToolHit[]>;
  /** A tool by `ToolId` or wire name; undefined if it does not exist or may not be used. */
  describe(identity: Identity, name: string): Tool | undefined;
  /** The policy in force and everything that it decides about, for its operator. @param asked a call: `limit` says whether a limit would refuse it now */
  policySituation(asked?: LimitQuestion): PolicySituation;
  /** Returns the error for a tool that is not offered: `TOOL_UNAVAILABLE` with the reason, or `TOOL_NOT_FOUND`. */
  explain(identity: Identity, name: string): CodedError;
  /** Executes a tool through the governed call. @param name `ToolId` or wire name. */
  call(identity: Identity, name: string, args: JsonObject, options?: CallOptions): Promise<CallOutcome>;
  /**
   * Puts another configuration in force: at once, as a whole, and without a restart of what stays as it is. What is read
   * at the start only is reported. Resolves when it is in force, or refused. Never rejects.
   *
   * @param files that it was read from.
   */
  applyConfig(config: GatewayConfig, files: readonly string[]): Promise<ConfigOutcome>;
  /** Reports that a changed configuration is not used. @param problem the errors with their places */
  refuseConfig(problem: string): ConfigOutcome;
  /** Last lines of a stdio server's standard error; none for other sources. @throws {GatewayError} `SERVER_NOT_FOUND` */
  serverLog(id: string, lines: number): readonly string[];
  /** The names of the profiles that `identity` may use. */
  profilesOf(identity: Identity): readonly string[];
  /** Starts the HTTP server. @throws {HttpError} `HTTP_…` */
  listen(): Promise<{ readonly url: string }>;
  /**
   * Starts the control server: the same endpoints without a token, on a socket of
   * the user who runs this process. Its callers are the operator. Needs the home.
   *
   * @throws {AuthError} `CONTROL_LISTEN_FAILED`.
   * @throws {FilesError} `FILE_EXPOSED`
   */
  listenControl(): Promise<{ readonly path: string }>;
}
