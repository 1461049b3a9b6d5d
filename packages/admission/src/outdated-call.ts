/**
 * Calls that wait for an approval which would not count any more: an approval is bound to the policy and the definition
 * at the time of the request, and its server can be gone. The store does not know that; the gateway does.
 */

import { type CallApproval, digestOf } from "@toolcrib/store";
import { type Identity, identityKey, localIdentityKeys, type Tool } from "@toolcrib/tool";

/** The parts of a gateway that approvals of calls depend on. */
export interface CallContextParts {
  readonly index: { find(id: string): { readonly tool: Tool } | undefined };
  readonly roster: { readonly entries: readonly { readonly id: string }[] };
  /** Whether the policy could allow a client a tool of the index. */
  readonly mayAllow: (identity: Identity, tool: string) => boolean;
}

/** Returns a function that returns the digest of the policy in force: of the lists, and of the policy files. */
export function policyDigestOf(
  listsDigest: () => string,
  policy: { readonly filesDigest: string | undefined },
): () => string {
  return () => `${listsDigest()} ${policy.filesDigest ?? ""}`.trimEnd();
}

/** What an approval of a call is bound to besides the call itself. */
export type ApprovalBinding = Pick<CallApproval, "policyDigest"> &
  Partial<Pick<CallApproval, "definitionDigest">>;

/** Returns what an approval of a call of `tool` is bound to now; without a definition where the tool is not offered. */
export function approvalBinding(
  tool: string,
  { index }: Pick<CallContextParts, "index">,
  policyDigest: string,
): ApprovalBinding {
  const entry = index.find(tool);
  return entry === undefined
    ? { policyDigest }
    : { policyDigest, definitionDigest: digestOf(entry.tool.definition) };
}

/** Returns why an approval of `call` would not count in this gateway, as a clause; undefined where it would. */
export function outdatedReason(
  call: CallApproval,
  { index, roster, mayAllow }: CallContextParts,
  policyDigest: string,
): string | undefined {
  const { server, tool, client } = call;
  if (!roster.entries.some(({ id }) => id === server)) return `its server "${server}" is not configured`;
  const entry = index.find(tool);
  if (call.policyDigest !== policyDigest) {
    // Roles are not kept with the call; the local clients have none.
    const isLocal = localIdentityKeys(client.name).includes(identityKey(client));
    const isDenied = entry !== undefined && isLocal && !mayAllow({ ...client, roles: [] }, tool);
    return isDenied ? "the policy denies it now" : "the policy changed after it was requested";
  }
  const isChanged = entry !== undefined && digestOf(entry.tool.definition) !== call.definitionDigest;
  return isChanged ? "the definition of the tool changed after it was requested" : undefined;
}
