/**
 * Searches the index for one client: only tools that it may find, without known secrets. Words that uses taught weigh in
 * the order of the hits, and never make a tool visible.
 */

import type { TextScrubber } from "@toolcrib/redaction";
import type { ToolSearch } from "@toolcrib/search";
import type { ToolId } from "@toolcrib/tool";
import type { IndexedTool } from "./build-index.ts";
import type { ToolIndex } from "./tool-index.ts";

type SearchRequest = NonNullable<Parameters<ToolSearch["search"]>[1]>;

/** A tool that a search found. */
export interface FoundTool {
  readonly id: ToolId;
  readonly name: string;
  readonly score: number;
  /** The words of the query that matched and the fields, as short texts such as `file in name`. */
  readonly why: readonly string[];
  /** The parts of the score, the greatest first, where they were asked for. */
  readonly parts?: ReturnType<ToolSearch["search"]>[number]["why"];
  readonly description?: string;
}

/** A search for one client. */
interface FindRequest extends Pick<SearchRequest, "limit" | "taught"> {
  /** Whether the client may find a tool. */
  readonly isFound: (entry: IndexedTool) => boolean;
  /** Whether the hits have the parts of their scores. */
  readonly explains: boolean;
}

/** Returns the tools among those that `isFound` accepts, best first. */
export function findTools(
  { index, scrubber }: { readonly index: ToolIndex; readonly scrubber: Pick<TextScrubber, "value"> },
  query: string,
  { limit, isFound, taught, explains }: FindRequest,
): readonly FoundTool[] {
  const filter = (id: string) => {
    const entry = index.find(id);
    return entry !== undefined && isFound(entry);
  };
  return index.search.search(query, { limit, filter, taught }).map(({ id, score, why }) => {
    const entry = index.find(id) as IndexedTool;
    return {
      id: entry.id,
      name: entry.wireName,
      score: Math.round(score * 1000) / 1000,
      why: why.map(({ word, field }) => `${word} in ${field}`),
      ...(explains ? { parts: why } : undefined),
      description: scrubber.value(entry.tool.definition.description),
    };
  });
}
