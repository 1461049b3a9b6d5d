/** The error class of this package. A refusal can carry the code of another package, such as that of an approval that failed. */

import { CodedError, type CodedErrorOptions } from "@toolcrib/diagnostics";

/** The HTTP server cannot listen, or refuses a request. `rpcCode` is its JSON-RPC code on the MCP wire. */
export class HttpError extends CodedError {
  readonly rpcCode: number;

  constructor(
    code: string,
    message: string,
    options: CodedErrorOptions & { readonly rpcCode?: number } = {},
  ) {
    super(code, message, options);
    this.rpcCode = options.rpcCode ?? -32603;
  }
}
