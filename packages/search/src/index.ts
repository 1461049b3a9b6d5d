// For users.
export type { SearchDocument } from "./document.ts";
export { type SearchOptions, searchFields } from "./options.ts";
export { SearchError } from "./search-error.ts";
export { TaughtWords } from "./taught-words.ts";
export { createToolSearch, type ToolSearch } from "./tool-search.ts";
