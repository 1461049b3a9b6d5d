/** Records events of operations that do not depend on the audit trail. */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import type { AuditEvents, RecordableEventType } from "./audit-event.ts";
import type { AuditStore } from "./audit-store.ts";

/** Where events go, and failures to record them. */
export interface EventSinks {
  readonly audit: Pick<AuditStore, "record">;
  readonly logger: Pick<Logger, "error">;
}

/**
 * Records an event, and logs an error where that fails, as in a trail that is closing: what the event reports is done
 * or answered regardless. Never throws. What must not happen without a record calls `record` or `intent` itself.
 */
export function recordOrLog<Type extends RecordableEventType>(
  { audit, logger }: EventSinks,
  type: Type,
  data: AuditEvents[Type],
): void {
  try {
    audit.record(type, data);
  } catch (error) {
    logger.error({ type, reason: messageOf(error) }, "audit record could not be written");
  }
}
