/** Codes of this package's errors and findings, each with its meaning. */
export const storeCodes = {
  STORE_CLOSED: "The store was used after it was closed.",
  STORE_HOME_UNUSABLE: "The home directory cannot be created, read or locked.",
  STORE_WRITERS_EXHAUSTED: "More processes write to one home than there are writer numbers.",
  AUDIT_UNWRITABLE: "An audit record could not be written, so the call it announces must not be made.",
  AUDIT_RECORD_TOO_LARGE:
    "An audit record is longer than its limit even without its preview and with its texts cut.",
  AUDIT_RECORDS_DROPPED:
    "Audit records were discarded because the trail could not be written for too long; their number is recorded.",
  AUDIT_SEGMENT_DAMAGED: "A segment ends in an unfinished line or was removed while it was written to.",
  AUDIT_RETENTION_FAILED: "Old audit segments could not be deleted as the retention limits ask.",
  AUDIT_QUERY_INVALID: "A question about the audit trail is outside its limits.",
  AUDIT_INDEX_FAILED:
    "The index of the audit trail cannot be brought up to date or read; the trail itself is not affected.",
  AUDIT_INDEX_REBUILT: "The index of the audit trail was damaged and is built again from the segments.",
} as const;

/** A key of `storeCodes`. */
export type StoreCode = keyof typeof storeCodes;
