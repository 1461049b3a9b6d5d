/** The contract of everything that runs one endpoint of a package. Types, and the error of a start. */

import type { JsonObject } from "@toolcrib/json";
import type { CallContext, ToolResult } from "@toolcrib/tool";

/** Runs calls of one endpoint. */
export interface EndpointRunner {
  /**
   * Runs a call. A tool that failed returns a result with `isError: true`.
   *
   * @throws {NotStarted} when nothing of the tool ran, so that another implementation can be tried.
   * @throws {CodedError} when the operation failed otherwise.
   */
  run(args: JsonObject, context: CallContext): Promise<ToolResult>;
}

/** Nothing of the tool ran. The message is the end of a sentence. */
export class NotStarted extends Error {
  readonly hint: string | undefined;

  constructor(
    reason: string,
    options: { readonly hint?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(reason, { cause: options.cause });
    this.hint = options.hint;
  }
}
