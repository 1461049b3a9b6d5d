// For users.
export type { SearchDocument } from "./document.ts";
export {
  type SearchOptions,
  searchFields,
  searchLimits,
} from "./options.ts";
export { SearchError } from "./search-error.ts";
export { createToolSearch, type ToolSearch } from "./tool-search.ts";
