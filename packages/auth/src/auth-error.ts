/** The error class of this package. */

import { CodedError } from "@toolcrib/diagnostics";
import type { AuthCode } from "./codes.ts";

/** A token or the control socket could not be used. No message contains a token. */
export class AuthError extends CodedError<AuthCode> {}
