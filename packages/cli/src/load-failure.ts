/**
 * Recognizes a module that cannot be loaded: an incomplete installation. Imports
 * nothing, so that it works when any package is missing.
 */

/** Message and hint for a module that cannot be loaded. */
export interface LoadFailure {
  readonly code: "CLI_INSTALLATION_INCOMPLETE";
  readonly message: string;
  readonly hint: string;
}

/** Returns the explanation of `error`; `undefined` unless a module is missing. */
export function toLoadFailure(error: unknown): LoadFailure | undefined {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return undefined;
  // Further lines name the place of the import in every module.
  const reason = String(message).split("\n", 1)[0];
  return {
    code: "CLI_INSTALLATION_INCOMPLETE",
    message: `Cannot load a part of Toolcrib: ${reason}`,
    hint: "install Toolcrib again; in a checkout, run npm ci",
  };
}

/** Returns the text for an error that no other code can report, because that code cannot be loaded. */
export function explainUnreportable(error: unknown): string {
  const failure = toLoadFailure(error);
  if (failure !== undefined) return `error ${failure.code}: ${failure.message}\nhint: ${failure.hint}\n`;
  return `error CLI_INTERNAL: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
}
