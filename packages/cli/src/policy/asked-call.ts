/**
 * The call that `toolcrib why` is asked about: one of the audit trail, by its id or as the last one that was refused before
 * it began, or one that waits for the operator's approval, by the id of the approval.
 */

import { randomBytes } from "node:crypto";
import type { ApprovalBinding } from "@toolcrib/admission";
import { type AuditCall, type CallApproval, CallApprovals, StoreError } from "@toolcrib/store";
import type { Identity } from "@toolcrib/tool";
import { callIdStart } from "../approve/open-approvals.ts";
import { ambiguousCall, idsStartingWith, openTrailReader, type TrailReader } from "../audit/find-call.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { ownCommand } from "../serve/own-command.ts";
import { asTyped } from "../serve/source-table.ts";

/** A call that exists. */
export interface AskedCall {
  /** As the audit trail has it; absent where only the approval is known. */
  readonly recorded?: AuditCall | undefined;
  /** As it waits for approval; absent where it does not, or another call was named. */
  readonly waiting?: CallApproval | undefined;
}

/** The word for the newest call that was refused before it began. One that was denied after it had waited is a failed call. */
export const lastCall = "last";
/** Newest refused calls among which that of an approval is looked for. */
const refusedMaxCount = 1000;

/**
 * Finds the call that `what` names; undefined where it names none.
 *
 * @param client the client whose last refused call is meant. @default any
 * @throws {CliError} `CLI_CALL_NOT_FOUND`, `CLI_APPROVAL_NOT_FOUND`; `CLI_USAGE` where several calls start with `what`
 */
export async function findAskedCall(
  context: CliContext,
  what: string,
  client: string | undefined,
): Promise<AskedCall | undefined> {
  if (what.startsWith(callIdStart)) return await findApproval(context, what);
  if (what === lastCall) {
    await using reader = await openTrailReader(context);
    const [newest] = await reader.list({ type: "call.denied", limit: 1, ...(client && { client }) });
    if (newest !== undefined) return { recorded: await showOf(reader, newest) };
    const whose = client === undefined ? "" : ` of "${client}"`;
    throw new CliError(
      "CLI_CALL_NOT_FOUND",
      `The audit trail has no call${whose} that was refused before it began`,
      {
        hint: "toolcrib audit list --long shows the calls that it has, and toolcrib why CALL explains one of them, also one that was denied after it had waited",
      },
    );
  }
  if (!/^[0-9A-Za-z_-]{8,200}$/.test(what)) return undefined;
  await using reader = await openTrailReader(context);
  const records = await idsStartingWith(reader, what);
  if (records.size === 0) return undefined;
  const id = records.has(what) ? what : records.size === 1 ? [...records.keys()][0] : undefined;
  if (id === undefined) throw ambiguousCall(what, records, "why");
  return { recorded: await reader.show(id) };
}

/** @throws {StoreError} `STORE_UNREADABLE` where the trail has no such call and approvals cannot be read */
async function findApproval(context: CliContext, id: string): Promise<AskedCall> {
  const { calls, problem } = await listApprovals(context);
  const waiting = calls?.find((one) => one.id === id && one.state === "pending");
  if (waiting !== undefined) return { waiting };
  await using reader = await openTrailReader(context);
  const refused = await reader.list({ type: "call.denied", limit: refusedMaxCount });
  const found = refused.find(({ data }) => (data as { readonly approval?: string }).approval === id);
  if (found !== undefined) return { recorded: await showOf(reader, found) };
  if (problem !== undefined) throw problem;
  throw new CliError("CLI_APPROVAL_NOT_FOUND", `No call with the id "${id}" waits for approval`, {
    hint: "toolcrib approve lists those that wait; toolcrib audit list --type call.denied --long lists the refused calls, and toolcrib why CALL explains one by the id in its column CALL",
  });
}

async function showOf(
  reader: Pick<TrailReader, "show">,
  { data }: { readonly data: object },
): Promise<AuditCall | undefined> {
  return await reader.show((data as { readonly callId: string }).callId);
}

/** Returns the calls of the home that wait for approval or were decided about, or why these are not known. */
async function listApprovals({
  options,
  now,
}: CliContext): Promise<
  | { readonly calls: readonly CallApproval[]; readonly problem?: never }
  | { readonly calls?: never; readonly problem: StoreError }
> {
  try {
    return { calls: await new CallApprovals(options.home, { now, randomBytes }).list() };
  } catch (error) {
    if (error instanceof StoreError) return { problem: error };
    throw error;
  }
}

/** A call as approvals know it. */
export interface ApprovableCall {
  readonly tool: string;
  /** The client; any where it is absent. */
  readonly client?: Pick<Identity, "issuer" | "subject"> | undefined;
  /** Digest of its arguments; absent where they are not known. */
  readonly argumentsDigest?: string | undefined;
  /** Id of its approval, where it is known: the call is this one. */
  readonly approval?: string | undefined;
}

/** A call that waits. */
export interface WaitingOne extends CallApproval {
  /** Why its approval would not count any more. */
  readonly outdated?: string | undefined;
}

/** What is known about approvals of a call: whether exactly it waits or was decided about, and others of its tool that wait. */
export interface KnownApprovals {
  readonly exact: readonly WaitingOne[];
  readonly others: readonly WaitingOne[];
  /** What was decided about exactly this call, where that still counts. */
  readonly decided?: CallApproval | undefined;
}

/** The approvals, or why they are not known: a call that needs one is refused then. */
export type FoundApprovals =
  | { readonly known: KnownApprovals; readonly problem?: never }
  | { readonly known?: never; readonly problem: StoreError };

/**
 * Returns the approvals of the tool and client of `asked`; the problem where they cannot be read.
 *
 * @param binding what an approval is bound to now; undefined where that is not known, so that no decision is known to count
 */
export async function findApprovals(
  context: CliContext,
  asked: ApprovableCall,
  binding: ApprovalBinding | undefined,
): Promise<FoundApprovals> {
  const { tool, client, argumentsDigest, approval } = asked;
  const { calls, problem } = await listApprovals(context);
  if (problem !== undefined) return { problem };
  const own = calls
    .filter(
      (one) =>
        one.tool === tool &&
        (client === undefined ||
          (one.client.issuer === client.issuer && one.client.subject === client.subject)),
    )
    .map((one): WaitingOne => ({ ...one, outdated: binding && outdatedBy(one, binding) }));
  const isNamed = own.some(({ id }) => id === approval);
  const isExact = (one: CallApproval) =>
    isNamed ? one.id === approval : one.argumentsDigest === argumentsDigest;
  const pending = own.filter(({ state }) => state === "pending");
  const exact = pending.filter(isExact);
  const isCounted = (one: WaitingOne) =>
    one.state !== "pending" && one.outdated === undefined && binding !== undefined && client !== undefined;
  const newest = own.findLast((one) => isExact(one) && isCounted(one));
  // A later request of the same call waits for a decision of its own.
  const isReplaced = exact.some(
    ({ outdated, requestedAt }) => outdated === undefined && requestedAt > (newest?.requestedAt ?? 0),
  );
  return {
    known: {
      exact,
      others: pending.filter((one) => !isExact(one)),
      decided: isReplaced ? undefined : newest,
    },
  };
}

/** Returns why a decision about a call does not count any more, as a clause; undefined where it does. */
function outdatedBy(
  { policyDigest, definitionDigest }: CallApproval,
  binding: ApprovalBinding,
): string | undefined {
  if (policyDigest !== binding.policyDigest) return "the policy changed after it was requested";
  const isSame = binding.definitionDigest === undefined || definitionDigest === binding.definitionDigest;
  return isSame ? undefined : "the definition of the tool changed after it was requested";
}

/** Returns the lines that name calls which wait, and how the operator approves them; none where no call waits. */
export function approvalLines(context: CliContext, { known, problem }: FoundApprovals): readonly string[] {
  if (problem !== undefined) {
    const { message, hint } = problem;
    const fix = hint === undefined ? "" : `; ${asTyped(hint, context)}`;
    return [`It is not known which calls wait for your approval: ${message}${fix}`];
  }
  const { exact, decided } = known;
  const approve = `${ownCommand(context)} approve`;
  const others = known.others.filter(({ outdated }) => outdated === undefined);
  const [other] = others;
  return [
    ...(decided === undefined ? [] : [decidedLine(decided)]),
    ...exact.map(({ id, client, outdated }) =>
      outdated === undefined
        ? `Exactly this call of "${client.name}" waits for your approval: ${approve} ${id}`
        : `Exactly this call of "${client.name}" (${id}) cannot be approved any more: ${outdated}`,
    ),
    ...(other === undefined
      ? []
      : others.length === 1
        ? [
            `A call of it by "${other.client.name}" with other arguments waits for your approval: ${approve} ${other.id}`,
          ]
        : [`${others.length} calls of it with other arguments wait for your approval: ${approve}`]),
  ];
}

function decidedLine({ id, state, expiresAt }: CallApproval): string {
  const until = new Date(expiresAt).toISOString();
  switch (state) {
    case "denied":
      return `Exactly this call was denied (${id}), so that it is refused until ${until}`;
    case "used":
      return `A call has used the approval of exactly this call (${id}): the next one needs another, unless it continues that call`;
    default:
      return `Exactly this call is approved (${id}) for one call until ${until}, unless its definition or the policy changes`;
  }
}
