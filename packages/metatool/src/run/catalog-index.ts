/** The tools of a catalogue by id, put in order once for each catalogue. */

import type { ToolId } from "@toolcrib/tool";
import type { Catalog, CatalogTool } from "./catalog.ts";

const indexes = new WeakMap<Catalog, ReadonlyMap<ToolId, CatalogTool>>();

/** The tools of `catalog` by id. A catalogue is never changed, so neither is this. */
export function toolsById(catalog: Catalog): ReadonlyMap<ToolId, CatalogTool> {
  const known = indexes.get(catalog);
  if (known !== undefined) return known;
  const index = new Map(catalog.tools.map((tool) => [tool.id, tool]));
  indexes.set(catalog, index);
  return index;
}
