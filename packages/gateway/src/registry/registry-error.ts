/**
 * The sentinel errors of the registry document as coded errors, each with the
 * JSON-RPC code that stands for it on the wire.
 */

import { CodedError, type CodedErrorOptions } from "@toolcrib/diagnostics";
import {
  registryAlreadyStarted,
  registryBackendNotFound,
  registryExecutionFailed,
  registryHandlerNotFound,
  registryInvalidRequest,
  registryNotStarted,
  registryToolNotFound,
} from "./codes.ts";

/** Codes of `RegistryError`. */
export type RegistryErrorCode =
  | typeof registryNotStarted
  | typeof registryAlreadyStarted
  | typeof registryToolNotFound
  | typeof registryBackendNotFound
  | typeof registryHandlerNotFound
  | typeof registryExecutionFailed
  | typeof registryInvalidRequest;

/** JSON-RPC 2.0 codes of the registry's errors. */
export const registryRpcCodes: { readonly [Code in RegistryErrorCode]: number } = {
  [registryNotStarted]: -32603,
  [registryAlreadyStarted]: -32603,
  [registryToolNotFound]: -32602,
  [registryBackendNotFound]: -32603,
  [registryHandlerNotFound]: -32603,
  [registryExecutionFailed]: -32603,
  [registryInvalidRequest]: -32600,
};

/** A registry operation failed. */
export class RegistryError extends CodedError {
  /** JSON-RPC code that stands for it on the wire. */
  readonly rpcCode: number;

  constructor(code: RegistryErrorCode, message: string, options: CodedErrorOptions = {}) {
    super(code, message, options);
    this.rpcCode = registryRpcCodes[code];
  }
}
