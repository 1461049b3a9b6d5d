/** The state of a changed configuration, for the operator. Types only. */

/** The configuration in force, for the status. */
export interface ConfigStatus {
  /** The files that it was read from. */
  readonly files: readonly string[];
  /** Its digest, such as `sha256:…`. */
  readonly digest: string;
  /** When it was put in force. ISO 8601. */
  readonly loadedAt: string;
  /** Why the present files are not in force, and since when; absent when they are. */
  readonly lastError?: { readonly at: string; readonly message: string };
  /** Why parts of the last change are not in force, although the rest of it is; absent for a change that is in force as a whole. */
  readonly incomplete?: readonly string[];
  /** Changed settings that apply after a restart; absent for none. */
  readonly pendingRestart?: readonly string[];
}

/** The state of a changed configuration. */
export interface ConfigOutcome {
  /** Digest of the configuration in force. */
  readonly digest: string;
  /** Changed paths that are in force now, such as `tool_servers.github`. */
  readonly applied: readonly string[];
  /** Changed paths that apply after a restart. */
  readonly needsRestart: readonly string[];
  /** Why parts of the change are not in force, although the rest of it is, until a restart; absent for none. */
  readonly incomplete?: readonly string[];
  /**
   * Why nothing was changed, with places in files; absent when the configuration was applied. Where the change could not be
   * taken back as a whole, `incomplete` says so, too.
   */
  readonly error?: string;
}
