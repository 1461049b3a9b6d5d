/** The form in which an identity is recorded in the audit trail, and back. */

import { isJsonObject } from "@toolcrib/json";
import type { Identity } from "@toolcrib/tool";
import type { AuditClient } from "./audit-event.ts";

/** Converts an identity, with what the client's software reports about itself, to its audit form. */
export function toAuditClient(
  { issuer, subject, name }: Identity,
  clientInfo?: AuditClient["clientInfo"],
): AuditClient {
  return clientInfo === undefined ? { issuer, subject, name } : { issuer, subject, name, clientInfo };
}

/**
 * Returns the issuer and the subject of a recorded client; `undefined` for data in another form. A record of an
 * earlier version has `kind`, the issuer without `toolcrib:`, and its name was its subject.
 */
export function clientIdentityOf(client: unknown): Pick<Identity, "issuer" | "subject"> | undefined {
  if (!isJsonObject(client)) return undefined;
  const { issuer, subject, kind, name } = client;
  if (typeof issuer === "string" && typeof subject === "string") return { issuer, subject };
  return typeof kind === "string" && typeof name === "string"
    ? { issuer: `toolcrib:${kind}`, subject: name }
    : undefined;
}
