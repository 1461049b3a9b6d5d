// For users.
export type { ReadReference } from "./document/references.ts";
export {
  type ImportOptions,
  type ImportReport,
  importOpenapi,
  listOpenapi,
} from "./import-openapi.ts";
export type { Operation } from "./operations.ts";
