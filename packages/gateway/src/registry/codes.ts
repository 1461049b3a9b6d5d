/** ErrNotStarted: the registry is used before `start()` or after `stop()`. */
export const registryNotStarted = "REGISTRY_NOT_STARTED";
/** ErrAlreadyStarted: the registry is started twice. */
export const registryAlreadyStarted = "REGISTRY_ALREADY_STARTED";
/** ErrToolNotFound: no tool has this id. */
export const registryToolNotFound = "REGISTRY_TOOL_NOT_FOUND";
/** ErrBackendNotFound: the tool's backend is not registered, or the selector chose none of its backends. */
export const registryBackendNotFound = "REGISTRY_BACKEND_NOT_FOUND";
/** ErrHandlerNotFound: a local tool has no function to run. */
export const registryHandlerNotFound = "REGISTRY_HANDLER_NOT_FOUND";
/** ErrExecutionFailed: the tool ran and failed, or could not be run; the cause says why. */
export const registryExecutionFailed = "REGISTRY_EXECUTION_FAILED";
/** ErrInvalidRequest: what the registry was given is not what it takes. */
export const registryInvalidRequest = "REGISTRY_INVALID_REQUEST";
