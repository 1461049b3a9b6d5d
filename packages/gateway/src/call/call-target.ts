/**
 * The operation that a governed call runs: a tool of any source, or a resource
 * or prompt of a server. It carries everything that the steps of the call need,
 * so that the governed call knows nothing about kinds of sources.
 */

import type { MergedOverride } from "@toolcrib/discovery";
import type { TaskOrigin } from "@toolcrib/extensions";
import type { AccessSubject } from "@toolcrib/inventory";
import type { JsonObject } from "@toolcrib/json";
import type { ServiceRequest } from "@toolcrib/mcp";
import type { TrustViolation } from "@toolcrib/policy";
import type { CallContext, Origin, PlannedCall, ToolId } from "@toolcrib/tool";

/** The operation to execute. */
export interface CallTarget {
  /** Subject of the decision of the policy. */
  readonly subject: AccessSubject;
  /** Id in policy and audit: a `ToolId`, or `server:resources/URI` and `server:prompts/NAME`. */
  readonly id: ToolId;
  /** Name in policy: with the prefix of its server. */
  readonly wireName: string;
  /** Method of MCP that runs it, and whose parameters the arguments are; `tools/call` for the arguments of a tool. */
  readonly method: string;
  /** Name in messages to the client: without a prefix on the endpoint of one server. */
  readonly shownName: string;
  readonly origin: Origin;
  /** Id of the configured source that runs it; undefined for other sources. */
  readonly server: string | undefined;
  /** Whether it is one of Toolcrib's own tools. */
  readonly isOwn: boolean;
  /** Milliseconds until the call is failed. */
  readonly deadlineMs: number;
  /** The setting that changes the deadline, for hints; undefined where none does. */
  readonly deadlineSetting: string | undefined;
  /** Containment tier for the audit. */
  readonly containment: string | undefined;
  /** Parts of the operator's declaration about its server that every call of it breaks. */
  readonly violations: readonly TrustViolation[];
  /** Whether its server is unverified: what it sends is labelled, and has no hidden characters. The source removes them from results, before it checks them. */
  readonly isUnverified: boolean;
  /** Members for the `_meta` of its results; undefined for results that need no label. */
  readonly label: JsonObject | undefined;
  /** Facts to which an approval of each call is bound besides the call; undefined for a tool whose calls need none. */
  readonly approval:
    | {
        readonly server: string;
        readonly noun?: string | undefined;
        readonly definitionDigest: string;
        /** Whether the tool declares that it writes, so that `mutability_class: read_only` would block it. */
        readonly declaresWrites: boolean;
      }
    | undefined;
  /** Returns the digest of the tool's definition; empty for a resource or prompt. */
  readonly definitionDigest: () => string;
  /** Returns the inner calls that a call makes, as far as they are known before; undefined where it chooses them while it runs. */
  readonly plan:
    | ((args: JsonObject, caller: Pick<CallContext, "identity">) => readonly PlannedCall[] | undefined)
    | undefined;
  /** Whether it can call other tools through the gateway. */
  readonly callsTools: boolean;
  /** Whether questions of its inner calls wait here: its source does not pass them on as a result itself. */
  readonly asksForInnerCalls: boolean;
  readonly inputSchema: JsonObject | undefined;
  /** The input schema that clients are shown, in which the operator can have changed arguments. */
  readonly shownSchema: JsonObject | undefined;
  /** Changes of the operator; undefined where there are none. */
  readonly override: MergedOverride | undefined;
  /** Whether arguments pass that fit `inputSchema` only after a conversion of types. */
  readonly coercesArguments: boolean;
  /** Whether `null` passes for an optional argument: its server decides what it means. */
  readonly passesNulls: boolean;
  readonly outputSchema: JsonObject | undefined;
  /** Whether it runs as a task (`execution.taskSupport` of its definition); absent where its definition does not say. */
  readonly taskSupport?: string | undefined;
  /** Executes it. @throws {CodedError} when the operation failed. */
  execute(args: JsonObject, context: CallContext): Promise<JsonObject>;
}

/** The requester of a call, and the channel to its client. */
export interface CallOrigin
  extends Pick<
    CallContext,
    | "identity"
    | "owners"
    | "run"
    | "era"
    | "session"
    | "clientCapabilities"
    | "logLevel"
    | "rounds"
    | "task"
    | "wantsProgress"
    | "meta"
  > {
  /** Sends progress, notifications and requests to the client that made the call. */
  readonly clientChannel: Pick<CallContext, "progress" | "notify" | "ask">;
  readonly signal: AbortSignal | undefined;
  /** Called when the call of a task is on record. */
  readonly onBegun?: TaskOrigin["onBegun"];
  /** Called when the call of a task is executed. */
  readonly onDeadline?: TaskOrigin["onDeadline"];
  /** Name and version of the client's software, as it reports them. */
  readonly clientInfo: { readonly name: string; readonly version: string } | undefined;
  /** The trace context in the headers of the client's HTTP request, unchecked; absent for inner calls. */
  readonly httpTrace?: ServiceRequest["httpTrace"];
  /** Whether the client chose this call itself: not a composite, which can choose calls that nobody at the client sees. */
  readonly isDirect: boolean;
  /** The call that makes this inner call; absent for a client's own call. */
  readonly parent:
    | { readonly callId: string; readonly depth: number; readonly tool: ToolId | undefined }
    | undefined;
}
