/** Collects the findings about a document and the documents that it refers to. */

import type { Diagnostic, Severity, Source } from "@toolcrib/diagnostics";
import { type Node, spanOf } from "./node.ts";

/** Maximum number of findings of one import; more findings than that have few causes. */
const findingsMaxCount = 1000;

/** A parsed document. */
export interface OpenFile {
  readonly source: Source;
  readonly root: Node;
}

/** A place in a document: the field `key` of `owner`, or item `key`. */
export interface Place {
  readonly file: OpenFile;
  readonly owner: Node | undefined;
  readonly key: string | number;
}

/** A finding whose place is not a span yet. */
export interface Finding {
  /** @default "warning" */
  readonly severity?: Severity;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** @default the document as a whole */
  readonly place?: Place | undefined;
}

/** The findings of one import. The same finding at the same place counts once. */
export class Findings {
  readonly #diagnostics: Diagnostic[] = [];
  readonly #seen = new Set<string>();

  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics;
  }

  report({ severity = "warning", code, message, hint, place }: Finding): void {
    const span = place === undefined ? undefined : spanOf(place.owner, place.key);
    const identity = `${code} ${place?.file.source.name} ${span?.start} ${message}`;
    if (this.#seen.has(identity) || this.#diagnostics.length >= findingsMaxCount) return;
    this.#seen.add(identity);
    this.#diagnostics.push({
      severity,
      code,
      message,
      ...(hint === undefined ? {} : { hint }),
      ...(place === undefined ? {} : { source: place.file.source }),
      ...(span === undefined ? {} : { span }),
    });
  }
}

/** Joins texts as `a, b and c`. */
export function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
