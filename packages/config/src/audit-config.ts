/** The types of the section `audit` of a parsed configuration. */

/** The audit trail (`audit`). */
export interface AuditConfig {
  /** The event that an audit record survives: the death of the process, or of the machine. @default "process" */
  readonly durability: "process" | "fsync";
  /** Maximum number of bytes of the trail. @default 4294967296 */
  readonly retentionMaxBytes: number;
  /** Maximum number of bytes of records that the calls of one client may cause in 24 hours. @default half of `retentionMaxBytes` */
  readonly clientMaxBytesPerDay: number;
  /** Days after which records are deleted. @default 400 */
  readonly retentionDays: number;
  /** Places outside the home that keep the signed ends of the trail. */
  readonly anchor: AuditAnchorConfig;
  /** Whether records contain fingerprints of values. @default true */
  readonly fingerprints: boolean;
  /** Arguments that no record shows. */
  readonly redact: readonly AuditRedaction[];
}

/** Arguments that no preview in a record shows, and no text of an approval (`audit.redact`). */
export interface AuditRedaction {
  /** Pattern of tools and prompts, as in a policy. */
  readonly tool: string;
  /**
   * Places of values: names with dots between them (`user.token`), or a JSON Pointer (`/user/token`); `*` stands for any name or
   * index. The value is hidden with everything in it.
   */
  readonly arguments: readonly string[];
}

/** Places that keep the signed ends of the trail (`audit.anchor`); none by default. */
export interface AuditAnchorConfig {
  /** Path of a file that they are appended to: complete, or below `~/`. */
  readonly file?: string;
  /** A program that reads each of them, and its arguments. */
  readonly command?: readonly string[];
}
