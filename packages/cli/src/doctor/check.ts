/** Findings of `toolcrib doctor`. */

/** One finding. */
export interface Finding {
  /** `warning`: it works, but needs attention. `unknown`: the check could not be made, so that neither is known. */
  readonly status: "ok" | "warning" | "failed" | "unknown";
  /** The subject of the check, such as `home` or `server files`. */
  readonly subject: string;
  readonly message: string;
  /** The remedy, as a command where possible. */
  readonly fix?: string;
  /** A safe repair that `--fix` makes, where there is one. */
  readonly repair?: Repair;
}

/** A change that `--fix` makes, only of what Toolcrib created, and safe to repeat. */
export interface Repair {
  /** Its effect, as an imperative: `remove run/gateway-7.json`. */
  readonly does: string;
  run(): Promise<void> | void;
}

export function ok(subject: string, message: string): Finding {
  return { status: "ok", subject, message };
}

export function warning(subject: string, message: string, fix?: string, repair?: Repair): Finding {
  return { status: "warning", subject, message, fix, ...(repair === undefined ? {} : { repair }) };
}

export function failed(subject: string, message: string, fix?: string, repair?: Repair): Finding {
  return { status: "failed", subject, message, fix, ...(repair === undefined ? {} : { repair }) };
}

/** A check that could not be made. */
export function unknown(subject: string, message: string, fix?: string): Finding {
  return { status: "unknown", subject, message, fix };
}
