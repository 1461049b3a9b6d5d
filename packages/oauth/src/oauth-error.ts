/** The error class of this package. */

import { CodedError } from "@toolcrib/diagnostics";
import type { OAuthCode } from "./codes.ts";

/** A login, a request for tokens, or the check of a token failed. No message contains a token, a code or a secret. */
export class OAuthError extends CodedError<OAuthCode> {}
