/**
 * What can be found: a tool as the index sees it, and its text field by field.
 */

import { searchLimits } from "./options.ts";
import { schemaTextOf } from "./schema-text.ts";

/** A tool to be found. It is read once, when it is added; later changes to it are not seen. */
export interface SearchDocument {
  /** Unique in the index, such as `github:create_issue`; what searches return. */
  readonly id: string;
  /** The tool's own name, such as `create_issue`. */
  readonly name: string;
  readonly title?: string;
  /** Where the tool comes from, such as `github`. */
  readonly namespace: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  /** JSON Schema of the arguments; parameter names and descriptions are taken from it. */
  readonly inputSchema?: unknown;
}

/** The text of each field of `document`, in the order of `searchFields`, cut to what is indexed. */
export function fieldTextsOf(document: SearchDocument): readonly string[] {
  const parameters = schemaTextOf(document.inputSchema);
  return [
    document.name,
    document.title ?? "",
    document.namespace,
    document.description ?? "",
    document.tags?.join("\n") ?? "",
    parameters.names,
    parameters.descriptions,
  ].map((text) =>
    text.length > searchLimits.fieldMaxChars ? text.slice(0, searchLimits.fieldMaxChars) : text,
  );
}
