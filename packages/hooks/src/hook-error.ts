import { CodedError } from "@toolcrib/diagnostics";
import type { HooksCode } from "./codes.ts";

/** A hook refuses a call, or withholds its result. */
export class HookError extends CodedError<HooksCode> {}
