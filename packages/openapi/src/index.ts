// For users.
export {
  type ImportOptions,
  type ImportReport,
  importOpenapi,
  listOpenapi,
} from "./import-openapi.ts";
export type { Operation } from "./operations.ts";
