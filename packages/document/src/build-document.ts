/** The builder of `DocumentNode`s. */

import type { Span } from "@toolcrib/diagnostics";
import type { DocumentNode, MapEntry, ScalarNode, ScalarValue } from "./document-tree.ts";
import type { TreeBuilder } from "./tree-builder.ts";

interface OpenSpan {
  readonly start: number;
  end: number;
}

interface OpenMap {
  readonly kind: "map";
  readonly span: OpenSpan;
  entries: MapEntry[];
}

interface OpenList {
  readonly kind: "list";
  readonly span: OpenSpan;
  readonly items: DocumentNode[];
}

/** Maximum number of fields to compare pairwise; for more, a set finds duplicates. */
const comparedMaxFields = 8;

/**
 * Builds `DocumentNode`s. The first of repeated fields counts. A class, so that
 * all documents share one compiled code.
 */
export class DocumentBuilder implements TreeBuilder<DocumentNode, OpenMap, OpenList> {
  readonly #onDuplicate: (key: string, span: Span) => void;

  /** @param onDuplicate called for each repeated field. */
  constructor(onDuplicate: (key: string, span: Span) => void) {
    this.#onDuplicate = onDuplicate;
  }

  scalar(value: ScalarValue, text: string, start: number, end: number, isPlain: boolean): ScalarNode {
    return { kind: "scalar", span: { start, end }, value, text: value === null ? "" : text, isPlain };
  }

  openMap(start: number): OpenMap {
    return { kind: "map", span: { start, end: start }, entries: [] };
  }

  addField(map: OpenMap, key: string, start: number, end: number, value: DocumentNode): void {
    map.entries.push({ key, keySpan: { start, end }, value });
  }

  closeMap(map: OpenMap, end: number): OpenMap {
    map.span.end = end;
    if (hasDuplicate(map.entries)) map.entries = withoutDuplicates(map.entries, this.#onDuplicate);
    return map;
  }

  openList(start: number): OpenList {
    return { kind: "list", span: { start, end: start }, items: [] };
  }

  addItem(list: OpenList, item: DocumentNode): void {
    list.items.push(item);
  }

  closeList(list: OpenList, end: number): OpenList {
    list.span.end = end;
    return list;
  }
}

function hasDuplicate(entries: readonly MapEntry[]): boolean {
  if (entries.length > comparedMaxFields) return new Set(entries.map(({ key }) => key)).size < entries.length;
  for (let index = 1; index < entries.length; index += 1) {
    const key = entries[index]?.key;
    for (let earlier = 0; earlier < index; earlier += 1) if (entries[earlier]?.key === key) return true;
  }
  return false;
}

function withoutDuplicates(
  entries: readonly MapEntry[],
  onDuplicate: (key: string, span: Span) => void,
): MapEntry[] {
  const seen = new Set<string>();
  return entries.filter(({ key, keySpan }) => {
    const isFirst = !seen.has(key);
    if (isFirst) seen.add(key);
    else onDuplicate(key, keySpan);
    return isFirst;
  });
}
