/**
 * The call that `toolcrib why` is asked about: one of the audit trail, by its id or as the last one that was refused,
 * or one that waits for the operator's approval, by the id of the approval.
 */

import { randomBytes } from "node:crypto";
import { type AuditCall, type CallApproval, CallApprovals } from "@toolcrib/store";
import type { Identity } from "@toolcrib/tool";
import { callIdStart } from "../approve/open-approvals.ts";
import { ambiguousCall, idsStartingWith, openTrailReader, type TrailReader } from "../audit/find-call.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { ownCommand } from "../serve/own-command.ts";

/** A call that exists. */
export interface AskedCall {
  /** As the audit trail has it; absent where only the approval is known. */
  readonly recorded?: AuditCall | undefined;
  /** As it waits for approval; absent where it does not, or another call was named. */
  readonly waiting?: CallApproval | undefined;
}

/** The word for the newest refused call. */
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
    throw new CliError("CLI_CALL_NOT_FOUND", `The audit trail has no refused call${whose}`, {
      hint: "toolcrib audit list --long shows the calls that it has",
    });
  }
  if (!/^[0-9A-Za-z_-]{8,200}$/.test(what)) return undefined;
  await using reader = await openTrailReader(context);
  const records = await idsStartingWith(reader, what);
  if (records.size === 0) return undefined;
  const id = records.has(what) ? what : records.size === 1 ? [...records.keys()][0] : undefined;
  if (id === undefined) throw ambiguousCall(what, records, "why");
  return { recorded: await reader.show(id) };
}

async function findApproval(context: CliContext, id: string): Promise<AskedCall> {
  const waiting = (await waitingCalls(context)).find((one) => one.id === id);
  if (waiting !== undefined) return { waiting };
  await using reader = await openTrailReader(context);
  const refused = await reader.list({ type: "call.denied", limit: refusedMaxCount });
  const found = refused.find(({ data }) => (data as { readonly approval?: string }).approval === id);
  if (found !== undefined) return { recorded: await showOf(reader, found) };
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

/** Returns the calls of the home that wait for approval. @throws {StoreError} `STORE_UNREADABLE` */
async function waitingCalls({ options, now }: CliContext): Promise<readonly CallApproval[]> {
  return await new CallApprovals(options.home, { now, randomBytes }).pending();
}

/** A call as approvals know it. */
export interface ApprovableCall {
  readonly tool: string;
  /** The client; any where it is absent. */
  readonly client?: Pick<Identity, "issuer" | "subject"> | undefined;
  /** Digest of its arguments; absent where they are not known. */
  readonly argumentsDigest?: string | undefined;
}

/** The calls of a tool that wait: exactly the one that was asked about, and others. */
export interface WaitingOnes {
  readonly exact: readonly CallApproval[];
  readonly others: readonly CallApproval[];
}

/** Returns the calls that wait of the tool and client of `asked`. @throws {StoreError} `STORE_UNREADABLE` */
export async function findWaiting(context: CliContext, asked: ApprovableCall): Promise<WaitingOnes> {
  const { tool, client, argumentsDigest } = asked;
  const own = (await waitingCalls(context)).filter(
    (one) =>
      one.tool === tool &&
      (client === undefined ||
        (one.client.issuer === client.issuer && one.client.subject === client.subject)),
  );
  const isExact = (one: CallApproval) => one.argumentsDigest === argumentsDigest;
  return { exact: own.filter(isExact), others: own.filter((one) => !isExact(one)) };
}

/** Returns the lines that name calls which wait, and how the operator approves them; none where no call waits. */
export function waitingLines(context: CliContext, { exact, others }: WaitingOnes): readonly string[] {
  const approve = `${ownCommand(context)} approve`;
  const [other] = others;
  return [
    ...exact.map(
      ({ id, client }) => `Exactly this call of "${client.name}" waits for your approval: ${approve} ${id}`,
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
