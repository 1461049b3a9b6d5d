/** The form in which an identity is recorded in the audit trail. */

import type { Identity } from "@toolcrib/tool";
import type { AuditClient } from "./audit-event.ts";

/** Converts an identity, with what the client's software reports about itself, to its audit form. */
export function toAuditClient(
  { issuer, subject, name }: Identity,
  clientInfo?: AuditClient["clientInfo"],
): AuditClient {
  return clientInfo === undefined ? { issuer, subject, name } : { issuer, subject, name, clientInfo };
}
