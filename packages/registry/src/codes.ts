/** Codes of this package's errors and findings, each with its meaning. */
export const registryCodes = {
  REGISTRY_NOT_STARTED: "ErrNotStarted: the registry was used before `start()` or after `stop()`.",
  REGISTRY_ALREADY_STARTED: "ErrAlreadyStarted: the registry was started twice.",
  REGISTRY_TOOL_NOT_FOUND: "ErrToolNotFound: no tool has this id.",
  REGISTRY_BACKEND_NOT_FOUND:
    "ErrBackendNotFound: the tool's backend is not registered, or the selector chose none of its backends.",
  REGISTRY_HANDLER_NOT_FOUND: "ErrHandlerNotFound: a local tool has no function to run.",
  REGISTRY_EXECUTION_FAILED:
    "ErrExecutionFailed: the tool ran and failed, or could not be run; the cause says why.",
  REGISTRY_UNAUTHORIZED: "A request to a served registry has no valid credentials.",
  REGISTRY_INVALID_REQUEST: "ErrInvalidRequest: an argument of the registry is not valid.",
} as const;

/** A key of `registryCodes`. */
export type RegistryCode = keyof typeof registryCodes;
