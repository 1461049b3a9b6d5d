/**
 * The sentinel errors of the registry document as coded errors, each with the
 * JSON-RPC code that stands for it on the wire.
 */

import { CodedError, type CodedErrorOptions } from "@toolcrib/diagnostics";
import type { RegistryCode } from "./codes.ts";

/** JSON-RPC 2.0 codes of the registry's errors. */
export const registryRpcCodes: { readonly [Code in RegistryCode]: number } = {
  REGISTRY_NOT_STARTED: -32603,
  REGISTRY_ALREADY_STARTED: -32603,
  REGISTRY_TOOL_NOT_FOUND: -32602,
  REGISTRY_BACKEND_NOT_FOUND: -32603,
  REGISTRY_HANDLER_NOT_FOUND: -32603,
  REGISTRY_EXECUTION_FAILED: -32603,
  REGISTRY_UNAUTHORIZED: -32600,
  REGISTRY_INVALID_REQUEST: -32600,
};

/** A registry operation failed. */
export class RegistryError extends CodedError<RegistryCode> {
  /** JSON-RPC code that stands for it on the wire. */
  readonly rpcCode: number;

  constructor(code: RegistryCode, message: string, options: CodedErrorOptions = {}) {
    super(code, message, options);
    this.rpcCode = registryRpcCodes[code];
  }
}
