/** Codes of this package's errors, each with its meaning. */
export const runnersCodes = {
  RUNNER_COMMAND_INVALID:
    "The arguments of npx, uvx or go run name no package that can be fetched and locked; the message names the argument.",
  PACKAGE_FETCH_FAILED: "A package could not be fetched from its registry; the message has the reason.",
  PACKAGE_FETCHING: "A package is still being fetched; the server starts when it is there.",
  PACKAGE_UNLOCKED: "A part of a package has no integrity value, so that its contents could not be locked.",
  PACKAGE_CHANGED: "The files of a fetched package are not those that were fetched.",
  PACKAGE_TOO_LARGE: "A package, or all fetched packages together, exceed their limits.",
} as const;

/** A key of `runnersCodes`. */
export type RunnersCode = keyof typeof runnersCodes;
