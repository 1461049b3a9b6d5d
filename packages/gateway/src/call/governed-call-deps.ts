/** The dependencies of the governed call. Types only. */

import type { ApprovalStepDeps, CallJournals, CallLimits } from "@toolcrib/admission";
import type { CallHooksDeps } from "@toolcrib/hooks";
import type { GatewayPolicy } from "@toolcrib/inventory";
import type { SchemaValidator } from "@toolcrib/json";
import type { FairShare, InFlight } from "@toolcrib/lifecycle";
import type { HiddenArguments } from "@toolcrib/policy";
import type { openFingerprints } from "@toolcrib/store";
import type { Identity, ToolId } from "@toolcrib/tool";
import type { CallLog } from "./call-log.ts";
import type { CallTarget } from "./call-target.ts";
import type { ExecutionDeps } from "./execute-call.ts";

/** Dependencies of the governed call. */
export interface GovernedCallDeps extends ExecutionDeps {
  readonly policy: GatewayPolicy;
  readonly validator: SchemaValidator;
  /** Arguments that no preview shows. */
  readonly hiddenArguments: HiddenArguments;
  /** Computes fingerprints of values for the record. @default records have none */
  readonly fingerprints: Awaited<ReturnType<typeof openFingerprints>> | undefined;
  readonly log: CallLog;
  /** A new unique id for a call. */
  readonly newCallId: () => string;
  readonly limits: {
    /** Largest result in bytes. */
    readonly resultMaxBytes: number;
    /** Maximum number of calls in flight. */
    readonly maxConcurrentCalls: number;
    /** Greatest depth of inner calls. */
    readonly maxDepth: number;
  };
  /** Calls in flight, of all callers together. */
  readonly inFlight: InFlight;
  /** The same calls by client. */
  readonly shares: FairShare;
  /** Approvals of single calls. */
  readonly approval: ApprovalStepDeps;
  /** Calls that wait for approvals of their inner calls. */
  readonly journals: CallJournals;
  /** Returns the target of an inner call that is planned; undefined for a tool that does not exist for the caller. */
  readonly targetOf: (identity: Identity, name: string) => CallTarget | undefined;
  /** Returns the target of a tool by the policy as it is now, also where no client may list it; undefined where it is not offered any more. */
  readonly currentTarget: (id: ToolId) => CallTarget | undefined;
  /** Rates, budgets and windows of time; undefined where none is configured. */
  readonly callLimits: CallLimits | undefined;
  /** Programs that are asked about calls; undefined where none is configured. */
  readonly hooks: CallHooksDeps | undefined;
}
