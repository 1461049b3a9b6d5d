import { CodedError } from "@toolcrib/diagnostics";
import type { SearchCode } from "./codes.ts";

/** Reports a search or a change of the index that failed; its codes are in `codes.ts`. */
export class SearchError extends CodedError<SearchCode> {}
