/** The error class of this package. Its codes are in `codes.ts`. */

import { CodedError } from "@toolcrib/diagnostics";
import type { ClientsCode } from "./codes.ts";

/** A file of a client cannot be edited; `code` is a key of `clientsCodes`. */
export class ClientsError extends CodedError<ClientsCode> {}
