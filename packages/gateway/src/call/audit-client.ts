/** The form in which an identity is recorded in the audit trail. */

import type { AuditClient } from "@toolcrib/store";
import { type Identity, issuerName } from "@toolcrib/tool";

/** Converts an identity, with what the client's software reports about itself, to its audit form. */
export function toAuditClient(identity: Identity, clientInfo?: AuditClient["clientInfo"]): AuditClient {
  const client = { kind: issuerName(identity), name: identity.name };
  return clientInfo === undefined ? client : { ...client, clientInfo };
}
