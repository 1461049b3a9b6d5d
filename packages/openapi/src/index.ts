// For users.
export { documentMaxLength } from "./document/node.ts";
export type { ReadReference } from "./document/references.ts";
export {
  type ImportedApi,
  type ImportedOperation,
  type ImportOptions,
  type ImportReport,
  importOpenapi,
  listOpenapi,
} from "./import-openapi.ts";
export type { Operation, OperationFilter } from "./operations.ts";
