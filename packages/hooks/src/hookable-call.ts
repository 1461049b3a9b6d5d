/** A call as its hooks know it, and what they take from its execution. Types only. */

import type { CodedError } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import type { CallContext, Era, Origin, ToolId } from "@toolcrib/tool";

/** The target of the call. */
export interface HookableTarget {
  readonly id: ToolId;
  readonly wireName: string;
  /** Method of MCP that runs it; `tools/call` for the arguments of a tool. */
  readonly method: string;
  /** Its name in messages to the client. */
  readonly shownName: string;
  readonly origin: Origin;
  /** Id of its configured source; undefined for other sources. */
  readonly server: string | undefined;
  /** Whether it is one of Toolcrib's own tools. */
  readonly isOwn: boolean;
  readonly isUnverified: boolean;
  /** Milliseconds until the call is failed. */
  readonly deadlineMs: number;
}

/** The requester of a call. */
export interface HookableOrigin extends Pick<CallContext, "identity" | "owners" | "era"> {
  readonly signal: AbortSignal | undefined;
}

/** Ids of a call. */
export interface HookableCall {
  readonly subject: Pick<CallContext, "callId" | "parentId" | "depth"> & { readonly tool: ToolId };
}

/** Arguments that no hook is shown. */
export interface HiddenPlaces {
  /** Returns the places of hidden values: the names that lead to each. */
  of(target: HookableTarget, args: JsonObject): readonly (readonly string[])[];
}

/** Calls in flight, which the operator can pause. */
export interface PausableCalls {
  /** Adds a call. @returns removes it @throws {CodedError} when it is paused */
  enter(target: HookableTarget, origin: HookableOrigin, cancel: (reason: CodedError) => void): () => void;
}

/** The parts that hooked calls share with the execution of calls. */
export interface ExecutionRules {
  /** Returns the error of a call that is cancelled for `reason`. */
  readonly cancelledError: (reason: unknown) => CodedError;
  /** Codes of calls that ended before their answer: their errors have no data of a tool. */
  readonly endCodes: ReadonlySet<string>;
  /**
   * Returns a result that a hook puts in place of another one as it may be read.
   *
   * @throws {Error} where its form is not that of a result of the method.
   */
  readonly receive: (
    result: JsonObject,
    sender: { readonly server: string; readonly isUntrusted: boolean },
    call: { readonly method: string; readonly era: Era },
  ) => JsonObject;
}
