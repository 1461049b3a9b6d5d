/**
 * What a composite can do, told from the tools that it can call: a union of what
 * they can do, its own saved tools looked through. Pure.
 */

import type { ToolAnnotations, ToolId } from "@toolcrib/tool";
import type { Catalog, CatalogTool } from "../catalog.ts";
import { toolsById } from "../catalog-index.ts";

/** The tools that a composite can call. */
export interface Reach {
  /** Ids of those that its code names, sorted. */
  readonly tools: readonly ToolId[];
  /** Whether it may call others too: it chooses a tool while it runs. */
  readonly dynamic: boolean;
}

/** What is known of a composite because of what it can call. */
export interface CompositeFacts {
  /** With the tools that the saved tools in its reach can call, and so on. */
  readonly reach: Reach;
  readonly annotations: ToolAnnotations;
  /** All values of each label of the tools that it can call, sorted. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

/** Tells what a saved tool can call; `undefined` when nobody knows, which counts as anything. */
export type SavedReach = (tool: CatalogTool) => Reach | undefined;

/**
 * Derive the facts of a composite that can call `reach`.
 *
 * It is read-only only if all are; destructive, and open to the world, if any is
 * or does not say.
 */
export function deriveFacts(
  reach: Reach,
  catalog: Catalog,
  savedReach: SavedReach = () => undefined,
): CompositeFacts {
  const byId = toolsById(catalog);
  const reached = new Set<ToolId>(reach.tools);
  const ends: CatalogTool[] = [];
  let { dynamic } = reach;
  // A set that grows while it is gone through is gone through to its new end.
  for (const id of reached) {
    const tool = byId.get(id);
    if (tool?.isComposite !== true) {
      if (tool !== undefined) ends.push(tool);
      continue;
    }
    const further = savedReach(tool);
    dynamic ||= further === undefined || further.dynamic;
    for (const next of further?.tools ?? []) reached.add(next);
  }
  const isUnknown = dynamic || [...reached].some((id) => !byId.has(id));
  const labelled = dynamic ? catalog.tools : ends;
  return {
    reach: { tools: [...reached].sort(), dynamic },
    annotations: toAnnotations(ends, isUnknown),
    labels: unionOfLabels(labelled),
  };
}

/** Whether `later` can call anything that `earlier` could not. */
export function reachesFurther(later: Reach, earlier: Reach): boolean {
  if (earlier.dynamic) return false;
  if (later.dynamic) return true;
  const known = new Set(earlier.tools);
  return later.tools.some((id) => !known.has(id));
}

function toAnnotations(tools: readonly CatalogTool[], isUnknown: boolean): ToolAnnotations {
  const isReadOnly = (tool: CatalogTool): boolean => tool.annotations?.readOnlyHint === true;
  const mayDestroy = (tool: CatalogTool): boolean =>
    !isReadOnly(tool) && tool.annotations?.destructiveHint !== false;
  const readOnlyHint = !isUnknown && tools.every(isReadOnly);
  return {
    readOnlyHint,
    destructiveHint: isUnknown || tools.some(mayDestroy),
    // Reading twice is reading; of several changes in a row nobody can tell.
    idempotentHint: readOnlyHint,
    openWorldHint: isUnknown || tools.some((tool) => tool.annotations?.openWorldHint !== false),
  };
}

function unionOfLabels(tools: readonly CatalogTool[]): Record<string, readonly string[]> {
  const values = new Map<string, Set<string>>();
  for (const { labels } of tools) {
    for (const [key, value] of Object.entries(labels)) {
      const known = values.get(key);
      if (known === undefined) values.set(key, new Set([value]));
      else known.add(value);
    }
  }
  const sorted = [...values].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, known]) => [key, [...known].sort()]));
}
