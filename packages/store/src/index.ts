// For users.

// For other packages here.
export { acceptFindings } from "./accept-findings.ts";
export { appendAnchor } from "./anchor-file.ts";
export type {
  Approval,
  ApprovalStore,
  Approver,
  StoredApproval,
} from "./approval-store.ts";
export { clientIdentityOf, toAuditClient } from "./audit-client.ts";
export type {
  AuditCallSubject,
  AuditClient,
  AuditEvents,
  AuditRecord,
  HookRecord,
  SavedToolEvent,
} from "./audit-event.ts";
export type { AuditCall } from "./audit-query.ts";
export type { AuditStore } from "./audit-store.ts";
export { BudgetStore } from "./budget-store.ts";
export {
  approvedArgumentsMaxBytes,
  type CallApproval,
  CallApprovals,
} from "./call-approvals.ts";
export { digestOf } from "./definition-digest.ts";
export {
  DefinitionPins,
  type HeldReason,
  type ListedDefinition,
  type PinRules,
} from "./definition-pins.ts";
export { escapeUnsafe } from "./escape-unsafe.ts";
export { ExportProof } from "./export-proof.ts";
export { openApprovalStore } from "./file-approval-store.ts";
export { openAuditReader } from "./file-audit-reader.ts";
export { createPauseStore } from "./file-pause-store.ts";
export { createPinStore } from "./file-pin-store.ts";
export { createTestHistory } from "./file-test-history.ts";
export { openFingerprints } from "./fingerprint-key.ts";
export { type HeadAnchors, openAnchors } from "./head-anchors.ts";
export { jsonDigest } from "./json-digest.ts";
export { MemorySessionStore } from "./memory-session-store.ts";
export { openStore, type Store } from "./open-store.ts";
export type { PauseStore } from "./pause-store.ts";
export type { Pin, PinStore, SourcePins } from "./pin-store.ts";
export {
  type PinMemory,
  Quarantine,
  type QuarantinedDefinition,
  type QuarantineFinding,
} from "./quarantine.ts";
export { readTrail } from "./read-trail.ts";
export { recordOrLog } from "./record-or-log.ts";
export type {
  SavedTool,
  SavedToolChange,
  SavedToolDefinition,
  SavedToolMetadata,
  SavedToolResult,
  SavedToolStore,
} from "./saved-tool-store.ts";
export type { SecretChange, SecretEntry, SecretStore } from "./secret-store.ts";
export { SeenLabels } from "./seen-labels.ts";
export type { SessionRecord, SessionStore } from "./session-store.ts";
export { StoreError } from "./store-error.ts";
export { SwitchStore } from "./switch-store.ts";
export type { TestHistory, TestRun } from "./test-history.ts";
export { verifyExport } from "./verify-export.ts";
export { verifyTrail } from "./verify-trail.ts";
