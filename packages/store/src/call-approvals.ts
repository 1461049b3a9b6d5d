/**
 * Approvals of single calls: exactly this tool with exactly these arguments, for this client.
 * A call that needs one is kept here until the operator decides, and an approval is used up by the
 * first such call after it. They are one file of the home (`approvals/calls.json`), so that every
 * gateway and every command of the home sees them, also after a restart.
 *
 * Invariant: a used approval stays in the file, marked, for as long as it was valid, and is given back only while the
 * mark is there. A denial replaces the mark, and a new call can take its place: then it stays used up.
 *
 * It does not know which calls need an approval, and it makes none.
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { FileSteps } from "@toolcrib/files";
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { Identity } from "@toolcrib/tool";
import type { Approver } from "./approval-store.ts";
import { parseApprover } from "./file-approval-store.ts";
import { toHomeLayout } from "./home-layout.ts";
import { full, RecordFile } from "./record-file.ts";

/** Everything that an approval is bound to. A call that differs in any of it is another call. */
export interface ExactCall {
  readonly client: Pick<Identity, "issuer" | "subject" | "name">;
  /** Id of the tool. */
  readonly tool: string;
  /** Id of the tool server. */
  readonly server: string;
  readonly argumentsDigest: string;
  /** Digest of the tool's definition. */
  readonly definitionDigest: string;
  /** Digest of the policy in force. */
  readonly policyDigest: string;
  /** Digest of the inner calls that the approval shows, as far as they are known; absent for a call that makes none. */
  readonly stepsDigest?: string;
}

/** The part of a call that the operator sees, without known secrets. */
export interface ShownCall {
  /** All arguments. */
  readonly arguments: JsonObject;
  /** The inner calls of its steps, for people; absent for a call that makes none. */
  readonly steps?: readonly JsonObject[];
}

/** A call that waits for the operator, that the operator decided about, or that used an approval up. */
export interface CallApproval extends ExactCall {
  /** `call:` and the first 16 hexadecimal digits of `digest`, for people. */
  readonly id: string;
  /** Digest of everything that the approval is bound to: 64 hexadecimal digits. */
  readonly digest: string;
  /** The whole arguments, without known secrets; absent after the decision. */
  readonly arguments?: JsonObject;
  /** The inner calls of its steps; absent after the decision. */
  readonly steps?: readonly JsonObject[];
  readonly state: "pending" | "approved" | "used" | "denied";
  readonly decidedBy?: Approver;
  /** Milliseconds since the epoch. */
  readonly requestedAt: number;
  /** Milliseconds since the epoch; afterwards the call has to be requested again. */
  readonly expiresAt: number;
}

/** Whether a call may be made now. `full`: its client has too many calls that wait. `too_large`: nobody can read its arguments, or a name in it is empty or too long. */
export type CallPermission =
  | {
      readonly kind: "approved";
      readonly id: string;
      /** The approval that the call uses up, for `giveBack`. */
      readonly used: CallApproval;
    }
  | { readonly kind: "pending" | "denied"; readonly id: string; readonly expiresAt: number }
  | { readonly kind: "full" | "too_large" };

/** Dependencies of `CallApprovals`. */
export interface CallApprovalsDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** The steps of a change. @default Node's file system */
  readonly steps?: FileSteps;
}

/** Calls of one client that can wait at a time. @limit client */
export const maxPendingPerClient = 20;
/** Calls of all clients that can wait or be decided at a time. @limit client */
const maxCalls = 1000;
/** Milliseconds that a call waits for a decision. @limit client */
const pendingLifeMs = 3_600_000;
/** Milliseconds that a decision is valid. @limit client */
export const decisionLifeMs = 600_000;
const fileMaxBytes = 32 * 1024 * 1024;
/** Bytes of the arguments of one call as JSON, and of its steps, which are kept whole: a call with more cannot be approved. @limit client */
export const approvedArgumentsMaxBytes = 65_536;
const textMaxLength = 4096;

/** The approvals of calls of one home. */
export class CallApprovals {
  readonly #now: () => number;
  readonly #file: RecordFile<CallApproval>;
  readonly #path: string;

  constructor(home: string, { now, randomBytes, steps }: CallApprovalsDeps) {
    const layout = toHomeLayout(home);
    this.#now = now;
    this.#path = join(layout.approvalDirectory, "calls.json");
    this.#file = new RecordFile(
      { layout, randomBytes, steps },
      {
        path: this.#path,
        lockName: "call-approvals",
        maxBytes: fileMaxBytes,
        keyOf: ({ digest }) => digest,
        parse: parseApproval,
        hint: "remove the file: calls that wait for approval then have to be requested again",
        removesEmpty: true,
      },
    );
  }

  /**
   * Asks for permission to make a call. An approval is used up by it; a call without a decision waits for one from now
   * on. The same call waits only once.
   *
   * @param show returns what the operator sees; undefined where it is too large. Called for a new call.
   * @throws {StoreError} when the approvals cannot be read or written.
   */
  async request(call: ExactCall, show: () => ShownCall | undefined): Promise<CallPermission> {
    const known = this.#current(await this.#file.read()).get(digestOfCall(call));
    // Without a change, no lock is taken: a client that repeats a call that waits writes nothing.
    if (isAnswered(known)) return toPermission(known);
    return this.#file.change((records) => this.#decide(records, call, show));
  }

  /**
   * Gives an approval back whose call was not made. It is valid for as long as before. A denial since then stays, and
   * so does the same call where it waits again: the operator sees it, and decides about it. An approval whose mark gave
   * way to other calls stays used up.
   *
   * @param used as `request` returned it.
   * @returns whether the same call can be made by an approval now.
   * @throws {StoreError} when the approvals cannot be read or written; the approval stays used up then.
   */
  async giveBack(used: CallApproval): Promise<boolean> {
    return await this.#file.change((records) => {
      this.#dropExpired(records);
      const known = records.get(used.digest);
      if (used.expiresAt <= this.#now()) return false;
      if (known?.state !== "approved" && known?.state !== "used") return false;
      // The same call can have been approved again meanwhile. Both approvals count as one: that which is valid for longer.
      if (known.state === "used" || known.expiresAt < used.expiresAt) records.set(used.digest, used);
      return true;
    });
  }

  /** Returns the calls that wait for a decision, the earliest first. @throws {StoreError} `STORE_UNREADABLE` */
  async pending(): Promise<readonly CallApproval[]> {
    return (await this.list()).filter(({ state }) => state === "pending");
  }

  /** Returns the calls that wait, and those of the last ten minutes that were decided about or used an approval, the earliest first. @throws {StoreError} `STORE_UNREADABLE` */
  async list(): Promise<readonly CallApproval[]> {
    const records = this.#current(await this.#file.read());
    return [...records.values()].sort((a, b) => a.requestedAt - b.requestedAt);
  }

  /**
   * Decides about a call that waits. The decision is valid for ten minutes, an approval for one call. A denial also ends
   * an approval: one that a call has used is not given back.
   *
   * @returns the call, with `isUsed` where a call has used the approval and may have been made; undefined when there is
   *   no call with this id to decide about.
   * @throws {StoreError} when the decision cannot be stored.
   */
  async decide(
    id: string,
    state: "approved" | "denied",
    { issuer, subject }: Approver,
  ): Promise<(CallApproval & { readonly isUsed?: true }) | undefined> {
    if (undecidedWith(id, state, this.#current(await this.#file.read())) === undefined) return undefined;
    return this.#file.change((records) => {
      this.#dropExpired(records);
      const call = undecidedWith(id, state, records);
      if (call === undefined) return undefined;
      const expiresAt = this.#now() + decisionLifeMs;
      const decided: CallApproval = { ...call, state, decidedBy: { issuer, subject }, expiresAt };
      // Nobody reads them any more.
      const { arguments: _arguments, steps: _steps, ...kept } = decided;
      records.set(call.digest, kept);
      return call.state === "used" ? { ...decided, isUsed: true as const } : decided;
    });
  }

  #decide(
    records: Map<string, CallApproval>,
    call: ExactCall,
    show: () => ShownCall | undefined,
  ): CallPermission {
    this.#dropExpired(records);
    const digest = digestOfCall(call);
    const id = idOf(digest);
    const known = records.get(digest);
    if (known?.state === "approved") {
      records.set(digest, { ...known, state: "used" });
      return { kind: "approved", id, used: known };
    }
    if (isAnswered(known)) return toPermission(known);
    const { issuer, subject, name } = call.client;
    const waiting = records
      .values()
      .filter(({ client, state }) => state === "pending" && isSame(client, call.client));
    if ([...waiting].length >= maxPendingPerClient) return { kind: "full" };
    // Somebody searched for two calls with one id: the operator could take one for the other.
    if (records.values().some((other) => other.id === id && other.digest !== digest)) return { kind: "full" };
    if (known === undefined && records.size >= maxCalls) this.#makeRoom(records);
    const shown = show();
    if (shown === undefined || isTooLarge(shown)) return { kind: "too_large" };
    const requestedAt = this.#now();
    const added = parseApproval({
      id,
      digest,
      ...call,
      client: { issuer, subject, name },
      ...shown,
      state: "pending",
      requestedAt,
      expiresAt: requestedAt + pendingLifeMs,
    });
    // What cannot be read back makes the whole file unreadable, for every client.
    if (added === undefined) return { kind: "too_large" };
    records.set(digest, added);
    return toPermission(added);
  }

  /** Removes the oldest mark of a used approval, which can then not be given back. @throws {StoreError} `STORE_FULL` */
  #makeRoom(records: Map<string, CallApproval>): void {
    const mark = records.values().find(({ state }) => state === "used");
    if (mark === undefined) throw full(this.#path, `${maxCalls} calls`);
    records.delete(mark.digest);
  }

  #current(records: ReadonlyMap<string, CallApproval>): ReadonlyMap<string, CallApproval> {
    const current = new Map(records);
    this.#dropExpired(current);
    return current;
  }

  #dropExpired(records: Map<string, CallApproval>): void {
    const at = this.#now();
    for (const [digest, record] of records) {
      const { expiresAt, requestedAt, state, arguments: args, steps, stepsDigest } = record;
      // Nobody can decide about what cannot be shown: the call is requested again.
      if (state === "pending" && (args === undefined || (stepsDigest !== undefined && steps === undefined)))
        records.delete(digest);
      // After a jump of the clock to the past, nothing is valid for longer than it was meant to be.
      if (expiresAt <= at || requestedAt > at + pendingLifeMs) records.delete(digest);
    }
  }
}

function isTooLarge({ arguments: args, steps = [] }: ShownCall): boolean {
  return [args, steps].some((one) => Buffer.byteLength(JSON.stringify(one)) > approvedArgumentsMaxBytes);
}

/** Returns the call about which `decision` can be made. */
function undecidedWith(
  id: string,
  decision: "approved" | "denied",
  records: ReadonlyMap<string, CallApproval>,
): CallApproval | undefined {
  return records
    .values()
    .find(
      (call) =>
        call.id === id &&
        (call.state === "pending" ||
          (decision === "denied" && (call.state === "approved" || call.state === "used"))),
    );
}

/** Whether a call waits or is denied: to request it changes nothing. */
function isAnswered(known: CallApproval | undefined): known is CallApproval {
  return known !== undefined && known.state !== "approved" && known.state !== "used";
}

function toPermission({ id, state, expiresAt }: CallApproval): CallPermission {
  return { kind: state === "denied" ? "denied" : "pending", id, expiresAt };
}

function idOf(digest: string): string {
  return `call:${digest.slice(0, 16)}`;
}

/** Returns the digest of everything that an approval is bound to. */
function digestOfCall(call: ExactCall): string {
  const { client, tool, server, argumentsDigest, definitionDigest, policyDigest, stepsDigest } = call;
  const bound = [
    client.issuer,
    client.subject,
    tool,
    server,
    argumentsDigest,
    definitionDigest,
    policyDigest,
    ...(stepsDigest === undefined ? [] : [stepsDigest]),
  ];
  return createHash("sha256").update(canonicalJson(bound)).digest("hex");
}

function isSame(a: CallApproval["client"], b: CallApproval["client"]): boolean {
  return a.issuer === b.issuer && a.subject === b.subject;
}

function parseApproval(value: JsonObject): CallApproval | undefined {
  const { tool, server, argumentsDigest, definitionDigest, policyDigest, state } = value;
  const { requestedAt, expiresAt, decidedBy, stepsDigest, steps } = value;
  const client = isJsonObject(value["client"]) ? value["client"] : {};
  const { issuer, subject, name } = client;
  if (!isText(issuer) || !isText(subject) || !isText(name)) return undefined;
  if (!isText(tool) || !isText(server) || !isText(argumentsDigest)) return undefined;
  if (!isText(definitionDigest) || !isText(policyDigest)) return undefined;
  if (stepsDigest !== undefined && !isText(stepsDigest)) return undefined;
  if (state !== "pending" && state !== "approved" && state !== "used" && state !== "denied") return undefined;
  if (typeof requestedAt !== "number" || typeof expiresAt !== "number") return undefined;
  const call = {
    client: { issuer, subject, name },
    tool,
    server,
    argumentsDigest,
    definitionDigest,
    policyDigest,
    ...(stepsDigest === undefined ? {} : { stepsDigest }),
  };
  const approver = decidedBy === undefined ? undefined : parseApprover(decidedBy);
  const digest = digestOfCall(call);
  // The digest follows from the call, so that an edited record is not an approval of another call.
  if (value["digest"] !== digest || (decidedBy !== undefined && approver === undefined)) return undefined;
  return {
    id: idOf(digest),
    digest,
    ...call,
    ...(isJsonObject(value["arguments"]) ? { arguments: value["arguments"] } : {}),
    ...(Array.isArray(steps) && steps.every(isJsonObject) ? { steps } : {}),
    state,
    ...(approver === undefined ? {} : { decidedBy: approver }),
    requestedAt,
    expiresAt,
  };
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "" && value.length <= textMaxLength;
}
