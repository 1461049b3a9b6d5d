import { CodedError, type CodedErrorOptions } from "@toolcrib/diagnostics";
import type { ExtensionsCode } from "./codes.ts";

/** A request of an extension cannot be answered; `rpcCode` is its JSON-RPC code. */
export class ExtensionsError extends CodedError<ExtensionsCode> {
  readonly rpcCode: number;

  constructor(
    code: ExtensionsCode,
    message: string,
    options: CodedErrorOptions & { readonly rpcCode?: number } = {},
  ) {
    super(code, message, options);
    this.rpcCode = options.rpcCode ?? internalError;
  }
}

const internalError = -32603;
