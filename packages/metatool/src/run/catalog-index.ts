/** The tools of a catalogue by id, indexed once for each catalogue. */

import type { ToolId } from "@toolcrib/tool";
import type { Catalog, CatalogTool } from "./catalog.ts";

const indexes = new WeakMap<Catalog, ReadonlyMap<ToolId, CatalogTool>>();

/** Returns the tools of `catalog` by id. Catalogues are immutable, so the index is cached. */
export function toolsById(catalog: Catalog): ReadonlyMap<ToolId, CatalogTool> {
  const known = indexes.get(catalog);
  if (known !== undefined) return known;
  const index = new Map(catalog.tools.map((tool) => [tool.id, tool]));
  indexes.set(catalog, index);
  return index;
}
