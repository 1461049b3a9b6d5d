/**
 * Calls that wait for an approval which would not count any more: an approval is bound to the policy and the definition
 * at the time of the request, and its server can be gone. The store does not know that; the gateway does.
 */

import { digestPolicy, type PolicyConfig } from "@toolcrib/config";
import { type CallApproval, digestOf } from "@toolcrib/store";
import { identityKey, localIdentityKeys } from "@toolcrib/tool";
import type { ToolIndex } from "../index/tool-index.ts";
import type { GatewayPolicy } from "../policy/access-subject.ts";
import type { SourceRoster } from "../sources/source-roster.ts";

/** The parts of a gateway that approvals of calls depend on. */
export interface CallContextParts {
  readonly index: Pick<ToolIndex, "find">;
  readonly roster: Pick<SourceRoster, "entries">;
  readonly policy: GatewayPolicy;
}

/** Returns a function that returns the digest of the policy in force: of the lists, and of the policy files. */
export function policyDigestOf(
  config: PolicyConfig,
  { policy }: Pick<CallContextParts, "policy">,
): () => string {
  const listsDigest = digestPolicy(config);
  return () => `${listsDigest} ${policy.filesDigest ?? ""}`.trimEnd();
}

/** Returns why an approval of `call` would not count in this gateway, as a clause; undefined where it would. */
export function outdatedReason(
  call: CallApproval,
  { index, roster, policy }: CallContextParts,
  policyDigest: string,
): string | undefined {
  const { server, tool, client } = call;
  if (!roster.entries.some(({ id }) => id === server)) return `its server "${server}" is not configured`;
  const entry = index.find(tool);
  if (call.policyDigest !== policyDigest) {
    // Roles are not kept with the call; the local clients have none.
    const isLocal = localIdentityKeys(client.name).includes(identityKey(client));
    const isDenied = entry !== undefined && isLocal && !policy.mayAllow({ ...client, roles: [] }, entry);
    return isDenied ? "the policy denies it now" : "the policy changed after it was requested";
  }
  const isChanged = entry !== undefined && digestOf(entry.tool.definition) !== call.definitionDigest;
  return isChanged ? "the definition of the tool changed after it was requested" : undefined;
}
