/** What a call means for its client: which call its questions belong to, and whether a denial is concealed. Pure. */

import type { StateOwner } from "@toolcrib/admission";
import type { GatewayPolicy } from "@toolcrib/inventory";
import type { JsonObject } from "@toolcrib/json";
import { type Identity, isOperator } from "@toolcrib/tool";
import type { CallTarget } from "../call/call-target.ts";
import type { CallOutcome } from "../gateway.ts";

/** The call that questions belong to. An approval of it is bound to its definition, too. */
export function ownerOf(identity: Identity, { id, approval }: CallTarget, args: JsonObject): StateOwner {
  return { identity, target: approval === undefined ? id : `${id} ${approval.definitionDigest}`, args };
}

/**
 * Whether a client gets the answer for an unknown name in place of a denial: what it may not list does not exist for
 * it. The denial is recorded.
 */
export function isConcealed(
  { kind }: CallOutcome,
  identity: Identity,
  { subject }: CallTarget,
  policy: GatewayPolicy,
): boolean {
  return kind === "denied" && !isOperator(identity) && !policy.allowsListing(identity, subject);
}
