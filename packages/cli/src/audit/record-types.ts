/** The types of records as an option of commands: one of them, or all of a group. Pure. */

import type { AuditEvents } from "@toolcrib/store";
import { InvalidArgumentError } from "commander";

type AuditEventType = keyof AuditEvents;

// A type that is not here does not compile.
const known: { readonly [Type in AuditEventType]: true } = {
  "call.intent": true,
  "call.completed": true,
  "call.denied": true,
  "containment.violation": true,
  "mutability.violation": true,
  "result.suspicious": true,
  "server.started": true,
  "server.stopped": true,
  "server.quarantined": true,
  "definition.changed": true,
  "definition.approved": true,
  "config.changed": true,
  "config.rejected": true,
  "policy.changed": true,
  "policy.rejected": true,
  "policy.failed": true,
  "labels.forgotten": true,
  "package.ran": true,
  "behaviour.changed": true,
  "behaviour.released": true,
  "tool.saved": true,
  "tool.deleted": true,
  "approval.requested": true,
  "approval.granted": true,
  "approval.call.granted": true,
  "approval.call.denied": true,
  "guard.paused": true,
  "guard.resumed": true,
  "switch.enabled": true,
  "switch.disabled": true,
  "token.created": true,
  "token.revoked": true,
  "token.replaced": true,
  "secret.used": true,
  "secret.echoed": true,
  "egress.denied": true,
  "egress.alarm": true,
  "audit.key": true,
  "audit.damaged": true,
  "audit.accepted": true,
  "audit.recovered": true,
  "audit.pruned": true,
  "audit.dropped": true,
  "audit.limited": true,
};

const all = Object.keys(known) as readonly AuditEventType[];

/** Parses `--type`: a type such as `call.denied`, or a group such as `egress.*`. */
export function parseRecordTypes(text: string): readonly AuditEventType[] {
  const group = text.endsWith(".*") ? text.slice(0, -1) : undefined;
  const types = all.filter((type) => (group === undefined ? type === text : type.startsWith(group)));
  if (types.length > 0) return types;
  throw new InvalidArgumentError(
    `It must be the type of a record, such as call.denied, or a group: ${groups}.`,
  );
}

const groups = [...new Set(all.map((type) => `${type.slice(0, type.lastIndexOf("."))}.*`))].join(", ");
