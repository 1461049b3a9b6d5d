/** The error class of this package. It can carry the code of another package: a secret that cannot be read keeps its code. */

import { CodedError } from "@toolcrib/diagnostics";

/** A declaration cannot be used. */
export class ConfigError extends CodedError {}
