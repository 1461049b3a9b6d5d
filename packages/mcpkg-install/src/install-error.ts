/** The error class of this package. Its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { McpkgInstallCode } from "./codes.ts";

/** An installation, or the use of an installed package, failed; `code` is a key of `mcpkgInstallCodes`. */
export class InstallError extends CodedError<McpkgInstallCode> {}
