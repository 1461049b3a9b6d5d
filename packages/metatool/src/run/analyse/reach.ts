/**
 * Derives the facts of a composite from the tools that it can call, including those
 * that its saved tools can call. Pure.
 */

import type { ToolAnnotations, ToolId } from "@toolcrib/tool";
import type { Catalog, CatalogTool } from "../catalog.ts";
import { toolsById } from "../catalog-index.ts";

/** The tools that a composite can call. */
export interface Reach {
  /** Sorted ids of the tools that its code names. */
  readonly tools: readonly ToolId[];
  /** Whether it chooses a tool at run time, so that it can call any tool. */
  readonly dynamic: boolean;
}

/** Facts of a composite that follow from its reach. */
export interface CompositeFacts {
  /** The transitive reach, through saved tools. */
  readonly reach: Reach;
  readonly annotations: ToolAnnotations;
  /** Sorted values of each label of the tools that it can call. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

/** Returns the reach of a saved tool; `undefined` when it is unknown, which counts as any tool. */
export type SavedReach = (tool: CatalogTool) => Reach | undefined;

/**
 * Derives the facts of a composite that can call `reach`.
 *
 * It is read-only only if all its tools are, and destructive or open-world if any tool
 * is or does not declare otherwise.
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
  // Iterating over a Set includes members that are added meanwhile.
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

/** Returns whether `later` can call a tool that `earlier` cannot. */
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
    // Reading is idempotent; a sequence of changes may not be.
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
