/** The one error class of this package; its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";

/** An operation on composite tools failed; `code` is one of this package's codes. */
export class MetatoolError extends CodedError {}
