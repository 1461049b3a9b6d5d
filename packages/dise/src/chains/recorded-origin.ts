/**
 * The role of a recorded call in a chain. The source that made the call may be gone, and a record has no facts but
 * its origin: this is the one place that reads it. Pure.
 */

/** The roles that a recorded call can have. */
export interface CallRole {
  /** Whether it can be a step. Toolcrib's own tools cannot. */
  readonly isStep: boolean;
  /** Whether its inner calls are composed already. */
  readonly isComposed: boolean;
  /** Whether a chain names it by the id of its source, which is the toolId of a package. */
  readonly isNamedBySource: boolean;
}

/** Returns the role of a call whose record has this `origin`. */
export function roleOf(origin: string): CallRole {
  return {
    isStep: origin !== "meta",
    isComposed: origin === "saved" || origin === "package",
    isNamedBySource: origin === "package",
  };
}
