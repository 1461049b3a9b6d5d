import { CodedError } from "@toolcrib/diagnostics";
import type { AdmissionCode } from "./codes.ts";

/** A call is not let in, or a decision of the operator cannot be carried out. */
export class AdmissionError extends CodedError<AdmissionCode> {}
