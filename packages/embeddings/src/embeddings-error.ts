import { CodedError } from "@toolcrib/diagnostics";
import type { EmbeddingsCode } from "./codes.ts";

/** The error of this package. */
export class EmbeddingsError extends CodedError<EmbeddingsCode> {}
