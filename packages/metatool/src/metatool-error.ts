/** The error class of this package. A refused definition carries the code of its first finding, which can be a code of another package. */

import { CodedError } from "@toolcrib/diagnostics";

/** An operation on composite tools failed */
export class MetatoolError extends CodedError {}
