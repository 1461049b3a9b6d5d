/** The error class of this package; its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { UpstreamCode } from "./codes.ts";

/** An upstream server could not be reached, or a request to it failed. */
export class UpstreamError extends CodedError<UpstreamCode> {}
