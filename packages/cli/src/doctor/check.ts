/** What a check of `toolcrib doctor` finds. */

/** One finding. */
export interface Finding {
  /** `warning`: works, but should be looked at. */
  readonly status: "ok" | "warning" | "failed";
  /** What was looked at, such as `home` or `server files`. */
  readonly subject: string;
  readonly message: string;
  /** How to mend it, as a command where possible. */
  readonly fix?: string;
}

export function ok(subject: string, message: string): Finding {
  return { status: "ok", subject, message };
}

export function warning(subject: string, message: string, fix?: string): Finding {
  return { status: "warning", subject, message, fix };
}

export function failed(subject: string, message: string, fix?: string): Finding {
  return { status: "failed", subject, message, fix };
}
