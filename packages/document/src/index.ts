// For users.
export type { DocumentKind } from "./document-kind.ts";
export {
  type DocumentNode,
  documentMaxBytes,
  entryOf,
  fieldOf,
  itemsOf,
  type MapEntry,
  type MapNode,
  nodeAt,
  type ScalarNode,
  stringOf,
  toJsonValue,
  typeName,
} from "./document-tree.ts";
export {
  checkDocument,
  notUtf8,
  type OpenDocument,
  openDocument,
  tooLarge,
  type UnreadSource,
} from "./open-document.ts";
export { readJson } from "./read-json.ts";
export { readLargeYaml } from "./read-large-yaml.ts";
export { type Problem, Reporter, toDiagnostic } from "./reporter.ts";
export {
  anyJson,
  anything,
  choice,
  type Definitions,
  decimal,
  fieldPlace,
  flag,
  type Inspect,
  integer,
  invalid,
  literalNumber,
  type Place,
  reportAt,
  reportType,
  type Shape,
  text,
  type ValueOf,
} from "./shape.ts";
export {
  dictionary,
  either,
  list,
  type RecordOf,
  record,
  reportAtMap,
  reportRepeated,
} from "./shape-collection.ts";
export {
  listOf,
  looksLikeSecret,
  quote,
  secretSpans,
  spanWithin,
  starOut,
  tokenPattern,
} from "./shown-text.ts";
export type { TreeBuilder } from "./tree-builder.ts";
