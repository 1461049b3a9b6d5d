import { CodedError } from "@toolcrib/diagnostics";
import type { InventoryCode } from "./codes.ts";

/** A source was asked for that does not exist. The code is one of this package, or that of every request for a server. */
export class InventoryError extends CodedError<InventoryCode | "SERVER_NOT_FOUND"> {}
