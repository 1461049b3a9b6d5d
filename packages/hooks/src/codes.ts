/** Codes of this package's errors and findings, each with its meaning. */
export const hooksCodes = {
  HOOK_DENIED: "A hook refused the call, which was not made (`hooks.before_call`).",
  HOOK_FAILED:
    "A hook could not be asked about the call, or did not answer in time, so that the call was not made (`hooks.before_call`).",
  RESULT_WITHHELD:
    "The call was made, and its result is withheld: a hook refused it or did not answer in time (`hooks.after_call`).",
} as const;

/** A key of `hooksCodes`. */
export type HooksCode = keyof typeof hooksCodes;
