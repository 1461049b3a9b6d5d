// For users.
export type { SearchMatch } from "./clauses.ts";
export type { SearchDocument } from "./document.ts";
export {
  type SearchField,
  type SearchFieldOptions,
  type SearchOptions,
  searchFields,
  searchLimits,
} from "./options.ts";
export type { SearchReason } from "./ranker.ts";
export { SearchError } from "./search-error.ts";
export { createToolSearch, type SearchHit, type SearchRequest, type ToolSearch } from "./tool-search.ts";
