/** Codes of this package's errors, each with its meaning. */
export const storeCodes = {
  STORE_CLOSED: "The store was used after it was closed.",
  STORE_HOME_UNUSABLE: "The home directory cannot be created, read or locked.",
  STORE_WRITERS_EXHAUSTED: "More processes write to one home than there are writer numbers.",
  STORE_UNREADABLE: "A file of the home cannot be read, so its approvals or pins do not count.",
  STORE_UNWRITABLE: "A file of the home could not be written.",
  STORE_BUSY: "Another process has locked the home for too long.",
  STORE_CONFLICT: "A stored record was changed after the caller read it.",
  STORE_FULL: "The store has its maximum number of records.",
  STORE_RECORD_TOO_LARGE: "A record exceeds its limit.",
  AUDIT_UNWRITABLE: "An audit record could not be written, so the call must not be made.",
  AUDIT_BUDGET_EXCEEDED:
    "A client has used its budget of audit records for 24 hours, so its calls are refused.",
  AUDIT_RECORD_TOO_LARGE:
    "An audit record exceeds its limit even without its preview and with truncated texts.",
  AUDIT_RECORDS_DROPPED:
    "Audit records were discarded because the trail could not be written for too long. Their number is recorded.",
  AUDIT_SEGMENT_DAMAGED: "A segment ends in an unfinished line, or was removed while it was in use.",
  AUDIT_DAMAGED:
    "A start found that the audit trail is not what was signed before. It is recorded, and verification reports it.",
  AUDIT_RETENTION_FAILED: "Audit segments beyond the retention limits could not be deleted.",
  AUDIT_ANCHOR_UNREADABLE: "An anchor file of the audit trail cannot be read, or has too many lines.",
  AUDIT_UNREADABLE: "A segment of the audit trail, an export of it or the proof of one cannot be read.",
  AUDIT_QUERY_INVALID: "A query of the audit trail exceeds its limits.",
  AUDIT_INDEX_FAILED:
    "The index of the audit trail cannot be updated or read. The trail itself is not affected.",
  AUDIT_INDEX_REBUILT: "The index of the audit trail was damaged and is rebuilt from the segments.",
} as const;

/** A key of `storeCodes`. */
export type StoreCode = keyof typeof storeCodes;
