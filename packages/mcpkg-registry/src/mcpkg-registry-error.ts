/** The error class of this package. Its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { McpkgRegistryCode } from "./codes.ts";

/** An operation on a registry of packages failed; `code` is a key of `mcpkgRegistryCodes`. */
export class McpkgRegistryError extends CodedError<McpkgRegistryCode> {}
