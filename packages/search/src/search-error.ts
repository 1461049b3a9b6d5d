import { CodedError } from "@toolcrib/diagnostics";
import type { SearchCode } from "./codes.ts";

/** A search or a change of the index that could not be done; its codes are in `codes.ts`. */
export class SearchError extends CodedError<SearchCode> {}
