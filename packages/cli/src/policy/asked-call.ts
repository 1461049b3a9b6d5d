/**
 * The call that `toolcrib why` is asked about: one of the audit trail, by its id or as the last one that was refused before
 * it began, or one that waits for the operator's approval, by the id of the approval.
 */

import { randomBytes } from "node:crypto";
import { type AuditCall, type CallApproval, CallApprovals, StoreError } from "@toolcrib/store";
import type { Identity } from "@toolcrib/tool";
import { findReachableGateways } from "../access/open-tool-access.ts";
import { callIdStart, waitingInGateways } from "../approve/open-approvals.ts";
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
}

/** A call that waits. */
export interface WaitingOne extends CallApproval {
  /** Why its approval would not count any more, as a running gateway says. */
  readonly outdated?: string | undefined;
}

/** The calls of a tool that wait: exactly the one that was asked about, and others. */
export interface WaitingOnes {
  readonly exact: readonly WaitingOne[];
  readonly others: readonly WaitingOne[];
  /** What the operator decided about exactly this call, and still counts. */
  readonly decided?: CallApproval | undefined;
}

/** Which calls wait, or why that is not known: a call that needs an approval is refused then. */
export type FoundWaiting =
  | { readonly waiting: WaitingOnes; readonly problem?: never }
  | { readonly waiting?: never; readonly problem: StoreError };

/** Returns the calls that wait of the tool and client of `asked`; the problem where approvals cannot be read. */
export async function findWaiting(context: CliContext, asked: ApprovableCall): Promise<FoundWaiting> {
  const { tool, client, argumentsDigest } = asked;
  const { calls, problem } = await listApprovals(context);
  if (problem !== undefined) return { problem };
  const own = calls.filter(
    (one) =>
      one.tool === tool &&
      (client === undefined ||
        (one.client.issuer === client.issuer && one.client.subject === client.subject)),
  );
  const isExact = (one: CallApproval) => one.argumentsDigest === argumentsDigest;
  const pending = await withOutdated(
    context,
    own.filter(({ state }) => state === "pending"),
  );
  const decided =
    client === undefined ? undefined : own.find((one) => isExact(one) && one.state !== "pending");
  return {
    waiting: { exact: pending.filter(isExact), others: pending.filter((one) => !isExact(one)), decided },
  };
}

/** Adds what the gateways of the home say about calls that wait. Without one, it is not known. */
async function withOutdated(
  { options, signal }: CliContext,
  pending: readonly CallApproval[],
): Promise<readonly WaitingOne[]> {
  if (pending.length === 0 || options.configFiles.length > 0) return pending;
  const [running, ...others] = await findReachableGateways(options.home);
  if (running === undefined) return pending;
  const { calls } = await waitingInGateways(running, others, signal);
  const reasons = new Map(calls.map(({ id, outdated }) => [id, outdated]));
  return pending.map((one) => ({ ...one, outdated: reasons.get(one.id) }));
}

/** Returns the lines that name calls which wait, and how the operator approves them; none where no call waits. */
export function waitingLines(context: CliContext, { waiting, problem }: FoundWaiting): readonly string[] {
  if (problem !== undefined) {
    const { message, hint } = problem;
    const fix = hint === undefined ? "" : `; ${asTyped(hint, context)}`;
    return [`It is not known which calls wait for your approval: ${message}${fix}`];
  }
  const { exact, decided } = waiting;
  const approve = `${ownCommand(context)} approve`;
  const others = waiting.others.filter(({ outdated }) => outdated === undefined);
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
      return `The operator denied exactly this call (${id}), so that it is refused until ${until}`;
    case "used":
      return `A call has used the approval of exactly this call (${id}): the next one needs another`;
    default:
      return `Exactly this call is approved (${id}) for one call until ${until}, unless its definition or the policy changes`;
  }
}
