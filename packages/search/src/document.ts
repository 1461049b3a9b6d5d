/**
 * The document of a tool in the index, and its text by field.
 */

import { searchLimits } from "./options.ts";
import { schemaTextOf } from "./schema-text.ts";

/** A tool in the index. It is read once, when it is added; later changes have no effect. */
export interface SearchDocument {
  /** Unique in the index, such as `github:create_issue`. Searches return it. */
  readonly id: string;
  /** The tool's own name, such as `create_issue`. */
  readonly name: string;
  readonly title?: string;
  /** The source of the tool, such as `github`. */
  readonly namespace: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  /** JSON Schema of the arguments, with the names and descriptions of the parameters. */
  readonly inputSchema?: unknown;
  /** Texts that show its use: examples, and names of tests. */
  readonly examples?: readonly string[];
}

/** Returns the text of each field of `document`, in the order of `searchFields`, cut to the limits. */
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
    document.examples?.join("\n") ?? "",
  ].map((text) =>
    text.length > searchLimits.fieldMaxChars ? text.slice(0, searchLimits.fieldMaxChars) : text,
  );
}
