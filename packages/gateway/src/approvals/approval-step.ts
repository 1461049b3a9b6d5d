/**
 * The step of a governed call that asks for the operator's approval: tools of unverified servers
 * that are not known to be read-only are called only after an approval of exactly that
 * call. The operator's own calls need none: a client never approves for itself, and the
 * operator is the one who approves.
 */

import { type CodedError, isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { CallApprovals, CallPermission } from "@toolcrib/store";
import { type Identity, isOperator } from "@toolcrib/tool";
import type { ArgumentFacts } from "../call/call-log.ts";
import type { CallTarget } from "../call/call-target.ts";
import { GatewayError } from "../gateway-error.ts";

/** Dependencies of the step. */
export interface ApprovalStepDeps {
  /** Without them, calls that need an approval are refused. */
  readonly approvals: Pick<CallApprovals, "request"> | undefined;
  /** Digest of the policy in force. */
  readonly policyDigest: string;
  /** The command by which the operator approves. */
  readonly approveCommand: string;
}

/** A call that is about to be made. */
export interface ApprovableCall extends ArgumentFacts {
  readonly identity: Identity;
}

/** The outcome of the step: the approval that the call uses up, or the reason why it is not made. */
export type ApprovalOutcome =
  | { readonly kind: "approved"; readonly approval: string }
  | { readonly kind: "refused"; readonly error: CodedError; readonly approval: string | undefined };

/** Whether a call of `target` by `identity` needs the step. */
export function isApprovalNeeded({ approval }: CallTarget, identity: Identity): boolean {
  return approval !== undefined && !isOperator(identity);
}

/** Asks for the approval of a call that needs one. Never rejects. */
export async function askApproval(
  { approvals, policyDigest, approveCommand }: ApprovalStepDeps,
  target: CallTarget,
  { identity, argumentsDigest, preview }: ApprovableCall,
): Promise<ApprovalOutcome> {
  const { id: tool, approval } = target;
  if (approval === undefined || approvals === undefined || argumentsDigest === undefined) {
    return refused(new GatewayError("APPROVAL_REQUIRED", `${required(target)}, and nobody can give it here`));
  }
  const { issuer, subject, name } = identity;
  const client = { issuer, subject, name };
  try {
    const permission = await approvals.request(
      { client, tool, ...approval, argumentsDigest, policyDigest },
      preview,
    );
    return permission.kind === "approved"
      ? { kind: "approved", approval: permission.id }
      : refused(errorOf(target, permission, approveCommand), "id" in permission ? permission.id : undefined);
  } catch (cause) {
    const message = `${required(target)}, and approvals cannot be read or stored: ${messageOf(cause)}`;
    const hint = isCodedError(cause) ? cause.hint : undefined;
    return refused(new GatewayError("APPROVAL_UNAVAILABLE", message, { cause, hint }));
  }
}

function refused(error: CodedError, approval?: string): ApprovalOutcome {
  return { kind: "refused", error, approval };
}

function required({ shownName, approval }: CallTarget): string {
  return `"${shownName}" was not called: each call needs the operator's approval, because its server "${approval?.server}" is unverified and the tool is not known to be read-only`;
}

function errorOf(
  target: CallTarget,
  permission: Exclude<CallPermission, { readonly kind: "approved" }>,
  command: string,
): GatewayError {
  switch (permission.kind) {
    case "pending":
      return new GatewayError("APPROVAL_REQUIRED", required(target), {
        hint: `the operator can approve exactly this call: ${command} ${permission.id}; repeat the call with the same arguments then. To call the tool without approvals, the operator can set policy.waive_approval: ["${target.wireName}"], or mutability_class: read_only or trust_state: verified for the server`,
        data: { approval: permission.id },
      });
    case "denied":
      return new GatewayError(
        "APPROVAL_DENIED",
        `"${target.shownName}" was not called: the operator denied exactly this call (${permission.id})`,
        { hint: "do not repeat it; ask the user what to do instead", data: { approval: permission.id } },
      );
    case "full":
      return new GatewayError(
        "APPROVALS_FULL",
        `${required(target)}, and too many calls of this client wait for one`,
        { hint: `wait until the operator decided about earlier calls (${command})` },
      );
  }
}
