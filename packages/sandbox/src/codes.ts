/** Codes of this package's errors, each with its meaning. */
export const sandboxCodes = {
  SANDBOX_UNAVAILABLE:
    "This machine cannot enforce the containment that a process needs; the message names what is missing.",
  SANDBOX_PATH_REFUSED:
    "A path that a process in a sandbox should get does not exist or cannot be looked up, or holds the configuration, the home of Toolcrib, credentials or a socket, or its program is behind a link that it can change.",
  SANDBOX_LIMIT: "The number of sandboxes that may run at a time is reached.",
} as const;

/** A key of `sandboxCodes`. */
export type SandboxCode = keyof typeof sandboxCodes;
