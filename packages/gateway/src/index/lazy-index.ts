/**
 * A search index that reads changed tools when a search needs them, or ahead of
 * it in portions: to read the words of a thousand tools takes longer than to
 * list them.
 */

import { createToolSearch, type ToolSearch } from "@toolcrib/search";
import type { ToolId } from "@toolcrib/tool";
import type { IndexedTool } from "./build-index.ts";

/** A search index with pending changes. */
export class LazyIndex {
  readonly #search: ToolSearch = createToolSearch();
  /** The new entry of each changed id; `undefined` for a removed one. */
  readonly #pending = new Map<ToolId, IndexedTool | undefined>();

  /** The complete index: pending changes are indexed first. */
  get complete(): ToolSearch {
    this.indexPending(Number.POSITIVE_INFINITY);
    return this.#search;
  }

  /** Adds or replaces a tool. */
  set(entry: IndexedTool): void {
    this.#pending.set(entry.id, entry);
  }

  /** Removes a tool. */
  remove(id: ToolId): void {
    this.#pending.set(id, undefined);
  }

  /** Indexes up to `count` pending changes. @returns whether any are left */
  indexPending(count: number): boolean {
    let left = count;
    for (const [id, entry] of this.#pending) {
      if (left <= 0) return true;
      left -= 1;
      this.#pending.delete(id);
      if (entry === undefined) this.#search.remove(id);
      else this.#search.add(toDocument(entry));
    }
    return this.#pending.size > 0;
  }
}

function toDocument({ id, tool }: IndexedTool): Parameters<ToolSearch["add"]>[0] {
  const { name, title, description, inputSchema } = tool.definition;
  return { id, name, title, namespace: tool.namespace, description, tags: tool.tags, inputSchema };
}
