/**
 * A search index that reads changed tools when a search needs them, or ahead of
 * it in portions: to read the words of a thousand tools takes longer than to
 * list them.
 *
 * Definitions are indexed without secrets: otherwise a client could find out a
 * secret by searching for its prefixes. A secret that becomes known later leaves
 * the index before the next search.
 */

import type { SecretScrubber } from "@toolcrib/redaction";
import { createToolSearch, type SearchOptions, type ToolSearch } from "@toolcrib/search";
import type { Tool, ToolDefinition, ToolId } from "@toolcrib/tool";
import type { IndexedTool } from "./build-index.ts";

/** Removes secrets from definitions. */
export type DefinitionScrubber = Pick<SecretScrubber, "definition" | "value" | "generation">;

/** A search index with pending changes. */
export class LazyIndex {
  readonly #search: ToolSearch;
  readonly #scrubber: DefinitionScrubber | undefined;
  /** The new tool of each changed id; `undefined` for a removed one. */
  readonly #pending = new Map<ToolId, Tool | undefined>();
  /** The tools of the search, and their definitions as they were indexed. */
  readonly #indexed = new Map<ToolId, { readonly tool: Tool; readonly definition: ToolDefinition }>();
  /** Generation of the scrubber that the index was compared with. */
  #generation = 0;

  /** @param scrubber without one, definitions are indexed as they are */
  constructor(scrubber: DefinitionScrubber | undefined, options?: SearchOptions) {
    this.#scrubber = scrubber;
    this.#search = createToolSearch(options);
  }

  /** The complete index: pending changes are indexed first. */
  get complete(): ToolSearch {
    this.indexPending(Number.POSITIVE_INFINITY);
    return this.#search;
  }

  /** Adds or replaces a tool. */
  set({ id, tool, shownDefinition: definition }: IndexedTool): void {
    this.#pending.set(id, definition === tool.definition ? tool : { ...tool, definition });
  }

  /** Removes a tool. */
  remove(id: ToolId): void {
    this.#pending.set(id, undefined);
  }

  /** Indexes up to `count` pending changes. @returns whether any are left */
  indexPending(count: number): boolean {
    this.#checkAgain();
    let left = count;
    for (const [id, tool] of this.#pending) {
      if (left <= 0) return true;
      left -= 1;
      this.#pending.delete(id);
      if (tool === undefined) this.#remove(id);
      else this.#add(id, tool);
    }
    return this.#pending.size > 0;
  }

  /** Makes all tools pending after the scrubber learned a secret. */
  #checkAgain(): void {
    const generation = this.#scrubber?.generation ?? 0;
    if (generation === this.#generation) return;
    this.#generation = generation;
    for (const [id, { tool }] of this.#indexed) if (!this.#pending.has(id)) this.#pending.set(id, tool);
  }

  #add(id: ToolId, tool: Tool): void {
    const definition = this.#scrubber?.definition(tool.definition) ?? tool.definition;
    const known = this.#indexed.get(id);
    if (known?.tool === tool && known.definition === definition) return;
    this.#indexed.set(id, { tool, definition });
    const { name, title, description, inputSchema } = definition;
    this.#search.add({
      id,
      name,
      title,
      namespace: tool.namespace,
      description,
      tags: tool.tags,
      inputSchema,
      examples: tool.examples?.map((text) => this.#scrubber?.value(text) ?? text),
    });
  }

  #remove(id: ToolId): void {
    this.#indexed.delete(id);
    this.#search.remove(id);
  }
}
