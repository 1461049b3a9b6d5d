/** The store was used after it was closed. */
export const storeClosed = "STORE_CLOSED";
/** The home directory cannot be created, read or locked. */
export const storeHomeUnusable = "STORE_HOME_UNUSABLE";
/** More processes write to one home than there are writer numbers. */
export const storeWritersExhausted = "STORE_WRITERS_EXHAUSTED";
/** An audit record could not be written, so the call it announces must not be made. */
export const auditUnwritable = "AUDIT_UNWRITABLE";
/** An audit record is longer than its limit even without its preview and with its texts cut. */
export const auditRecordTooLarge = "AUDIT_RECORD_TOO_LARGE";
/** Audit records were discarded because the trail could not be written for too long; their number is recorded. */
export const auditRecordsDropped = "AUDIT_RECORDS_DROPPED";
/** A segment ends in an unfinished line or was removed while it was written to. */
export const auditSegmentDamaged = "AUDIT_SEGMENT_DAMAGED";
/** Old audit segments could not be deleted as the retention limits ask. */
export const auditRetentionFailed = "AUDIT_RETENTION_FAILED";
/** A question about the audit trail is outside its limits. */
export const auditQueryInvalid = "AUDIT_QUERY_INVALID";
/** The index of the audit trail cannot be brought up to date or read; the trail itself is not affected. */
export const auditIndexFailed = "AUDIT_INDEX_FAILED";
/** The index of the audit trail was damaged and is built again from the segments. */
export const auditIndexRebuilt = "AUDIT_INDEX_REBUILT";
