/** The one error class of this package; its codes are in `codes.ts` and the `codes.ts` of its folders. */

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
