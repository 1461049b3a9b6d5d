// For users.
export type { DocumentKind, StructureCodes } from "./document-kind.ts";
export {
  type DocumentNode,
  documentMaxBytes,
  documentMaxDepth,
  documentMaxNodes,
  entryOf,
  fieldOf,
  itemsOf,
  type ListNode,
  type MapEntry,
  type MapNode,
  nodeAt,
  type ScalarNode,
  type ScalarValue,
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
export { type ReadJsonOptions, readJson } from "./read-json.ts";
export { readLargeYaml } from "./read-large-yaml.ts";
export { createReporter, type Problem, type Reporter, toDiagnostic } from "./reporter.ts";
export {
  anyJson,
  anything,
  type ChoiceOptions,
  choice,
  type Definitions,
  fieldPlace,
  flag,
  type Inspect,
  type IntegerOptions,
  integer,
  invalid,
  literalNumber,
  type Place,
  reportAt,
  reportType,
  type Shape,
  type TextOptions,
  text,
  type ValueOf,
} from "./shape.ts";
export {
  type DictionaryOptions,
  dictionary,
  either,
  type ListOptions,
  list,
  type RecordOf,
  type RecordOptions,
  type Required,
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
export type { ReadFault, Reading, ReadLimits, TreeBuilder } from "./tree-builder.ts";
