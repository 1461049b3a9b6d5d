/** The error class of this package. Its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { McpkgCode } from "./codes.ts";

/** An operation on a package failed; `code` is a key of `mcpkgCodes`. */
export class McpkgError extends CodedError<McpkgCode> {}
