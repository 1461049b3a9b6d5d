// For users.
export type {
  AuditCallSubject,
  AuditClient,
  AuditDropped,
  AuditEvents,
  AuditEventType,
  AuditPosition,
  AuditPruned,
  AuditRecord,
  AuditRecovered,
  CallCompleted,
  CallDenied,
  CallIntent,
  ConfigChanged,
  EgressAlarm,
  EgressDenied,
  EgressEventData,
  RecordableEventType,
  SavedToolEvent,
  SecretEvent,
  ServerQuarantined,
  ServerStarted,
  ServerStopped,
} from "./audit-event.ts";
export type { AuditDurability, AuditOptions } from "./audit-options.ts";
export type { AuditCall, AuditListQuery, AuditProblem } from "./audit-query.ts";
export type { AuditQueries, AuditReader, AuditStore } from "./audit-store.ts";
export type { AuditStats } from "./audit-writer.ts";
export { type StoreCode, storeCodes } from "./codes.ts";
// For other packages here.
export { escapeUnsafe } from "./escape-unsafe.ts";
export { openAuditReader } from "./file-audit-reader.ts";
export { openStore, type Store, type StoreDeps, type StoreOptions } from "./open-store.ts";
export { StoreError } from "./store-error.ts";
export type { AuditTailOptions } from "./tail-trail.ts";
