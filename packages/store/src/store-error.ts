import { CodedError } from "@toolcrib/diagnostics";
import type { StoreCode } from "./codes.ts";

/** An operation of the store failed. */
export class StoreError extends CodedError<StoreCode> {}
