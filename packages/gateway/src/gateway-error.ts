/** The error class of this package. It can carry the code of another package: an error of a source or of the configuration keeps its code on its way to the client. */

import { CodedError, type CodedErrorOptions } from "@toolcrib/diagnostics";

/** A gateway operation failed. `rpcCode` is its JSON-RPC code on the MCP wire. */
export class GatewayError extends CodedError {
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
