import { CodedError } from "@toolcrib/diagnostics";
import type { LearningCode } from "./codes.ts";

/** The error of this package. */
export class LearningError extends CodedError<LearningCode> {}
