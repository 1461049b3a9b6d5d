/**
 * The definitions of tools and the single calls that wait for the operator, and the operator's
 * decisions. The callers of this file know that their caller is the operator.
 */

import type { Logger } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { credentialRanges, readableArguments } from "@toolcrib/redaction";
import {
  type AuditStore,
  type CallApproval,
  type CallApprovals,
  recordOrLog,
  toAuditClient,
} from "@toolcrib/store";
import type { Identity } from "@toolcrib/tool";
import { AdmissionError } from "./admission-error.ts";
import type { HeldDefinitions, WaitingDefinitions, WaitingServer } from "./held-definitions.ts";
import {
  type ApprovalBinding,
  approvalBinding,
  type CallContextParts,
  outdatedReason,
} from "./outdated-call.ts";

/** A call that waits for approval, for people. */
export interface PendingCall
  extends Pick<CallApproval, "id" | "client" | "tool" | "server" | "requestedAt" | "expiresAt"> {
  /** The arguments without known secrets; long ones and those with the form of a credential can be left out, with marks. */
  readonly arguments: JsonObject;
  /** Whether anything is left out of `arguments`: `Approvals.call` returns all of them. */
  readonly isPartial: boolean;
  /** The inner calls of its steps, with what is left out as in `arguments`; absent for a call that makes none. */
  readonly steps?: readonly JsonObject[];
  /** Why an approval would not count in this gateway, as a clause; absent where it would. */
  readonly outdated?: string;
}

/** Everything that waits for the operator. */
export interface WaitingApprovals {
  /** Servers with definitions that wait. */
  readonly servers: readonly WaitingServer[];
  /** Calls that wait, of all gateways of the home, the earliest first. */
  readonly calls: readonly PendingCall[];
}

/** Dependencies of `Approvals`. */
export interface ApprovalsDeps {
  readonly held: HeldDefinitions;
  readonly calls: CallApprovals | undefined;
  readonly audit: Pick<AuditStore, "record">;
  readonly logger: Logger;
  readonly parts: CallContextParts;
  /** Returns the digest of the policy in force. */
  readonly policyDigest: () => string;
}

/** The approvals of a gateway. */
export class Approvals {
  readonly #deps: ApprovalsDeps;

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
  }

  /** The servers with definitions that wait for approval. @param isShown which definitions count. @default all */
  servers(isShown?: Parameters<HeldDefinitions["servers"]>[0]): readonly WaitingServer[] {
    return this.#deps.held.servers(isShown);
  }

  /** Returns what waits. @throws {StoreError} when the approvals cannot be read. */
  async waiting(): Promise<WaitingApprovals> {
    const calls = (await this.#deps.calls?.pending()) ?? [];
    return { servers: this.servers(), calls: calls.map((call) => this.#toPending(call)) };
  }

  /**
   * Returns a call that waits with all of its arguments; undefined when no call with this id waits.
   *
   * @throws {StoreError} when the approvals cannot be read.
   */
  async call(id: string): Promise<PendingCall | undefined> {
    const call = (await this.#deps.calls?.pending())?.find((one) => one.id === id);
    if (call === undefined) return undefined;
    const whole = {
      arguments: call.arguments ?? {},
      ...(call.steps === undefined ? {} : { steps: call.steps }),
    };
    return { ...this.#toPending(call), ...whole, isPartial: false };
  }

  /** What an approval of a call of the tool with the id `tool` is bound to now. */
  bindingOf(tool: string): ApprovalBinding {
    const { parts, policyDigest } = this.#deps;
    return approvalBinding(tool, parts, policyDigest());
  }

  /** The definitions of a server that wait. @throws {AdmissionError} `SERVER_NOT_FOUND` */
  definitions(server: string): WaitingDefinitions {
    return this.#deps.held.definitions(server);
  }

  /** Approves definitions of a server, as `HeldDefinitions.approve`. */
  approveDefinitions(
    server: string,
    digest: string,
    operator: Identity,
    names?: readonly string[],
  ): Promise<readonly string[]> {
    return this.#deps.held.approve(server, digest, operator, names);
  }

  /**
   * Decides about a call that waits. A denial also ends an approval: one that a call has used is not given back.
   *
   * @param by the operator, or the client whose person answered a form.
   * @param through how the person answered. @default the command line or the API
   * @returns the call, with `isUsed` where a call has used the approval and may have been made; undefined when there is
   *   no call with this id to decide about.
   * @throws {AdmissionError} `APPROVAL_OUTDATED` for an approval of the operator that would not count any more.
   * @throws {StoreError} when the decision cannot be stored.
   */
  async decideCall(
    id: string,
    decision: "approved" | "denied",
    by: Identity,
    through?: "elicitation",
  ): Promise<(PendingCall & { readonly isUsed?: true }) | undefined> {
    if (decision === "approved" && through === undefined) await this.#assertCounts(id);
    const decided = await this.#deps.calls?.decide(id, decision, by);
    if (decided === undefined) return undefined;
    const { client, tool, server, argumentsDigest } = decided;
    const type = decision === "approved" ? "approval.call.granted" : "approval.call.denied";
    recordOrLog(this.#deps, type, {
      approval: id,
      client: toAuditClient({ ...client, roles: [] }),
      tool,
      server,
      argumentsDigest,
      decidedBy: toAuditClient(by),
      ...(through === undefined ? {} : { through }),
    });
    return { ...this.#toPending(decided), ...(decided.isUsed === true ? { isUsed: true } : {}) };
  }

  /** @throws {AdmissionError} `APPROVAL_OUTDATED` */
  async #assertCounts(id: string): Promise<void> {
    const call = await this.call(id);
    if (call?.outdated === undefined) return;
    throw new AdmissionError(
      "APPROVAL_OUTDATED",
      `"${id}" was not approved: an approval would not count, because ${call.outdated}`,
      { hint: "the client can make the call again; if it needs an approval then, it waits under another id" },
    );
  }

  #toPending(call: CallApproval): PendingCall {
    const { parts, policyDigest } = this.#deps;
    const outdated = outdatedReason(call, parts, policyDigest());
    return { ...toPending(call), ...(outdated === undefined ? {} : { outdated }) };
  }

  /** Decides again which definitions are held back. */
  reconsider(): void {
    this.#deps.held.reconsider();
  }

  /** Takes over definitions that other processes approved. Never rejects. */
  refresh(): Promise<void> {
    return this.#deps.held.refresh();
  }
}

function toPending(call: CallApproval): PendingCall {
  const { id, client, tool, server, requestedAt, expiresAt } = call;
  return {
    id,
    client,
    tool,
    server,
    ...readable(call),
    requestedAt,
    expiresAt,
  };
}

/** The arguments and steps of a call, shortened together. */
function readable({
  arguments: args = {},
  steps,
}: Pick<CallApproval, "arguments" | "steps">): Pick<PendingCall, "arguments" | "steps" | "isPartial"> {
  // An agent chooses the names of parameters: one that is that of a secret only in doubt hides nothing here.
  const find = (text: string) => credentialRanges(text, "certain");
  if (steps === undefined) return readableArguments(args, find);
  const parts = [args, ...steps].map((one) => readableArguments(one, find));
  return {
    arguments: parts[0]?.arguments ?? {},
    steps: parts.slice(1).map((part) => part.arguments),
    isPartial: parts.some(({ isPartial }) => isPartial),
  };
}
