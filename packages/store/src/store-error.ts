import { CodedError } from "@toolcrib/diagnostics";
import type { StoreCode } from "./codes.ts";

/** An operation of the store failed; `code` is one of this package's codes. */
export class StoreError extends CodedError<StoreCode> {}
