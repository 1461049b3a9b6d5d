/** Findings of `toolcrib doctor`. */

/** One finding. */
export interface Finding {
  /** `warning`: it works, but needs attention. */
  readonly status: "ok" | "warning" | "failed";
  /** The subject of the check, such as `home` or `server files`. */
  readonly subject: string;
  readonly message: string;
  /** How to fix it, as a command where possible. */
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
