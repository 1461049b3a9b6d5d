/**
 * The tools that a package declares, as its program finds them. The names in a program are bound to the
 * declared ids alone: the same program calls the same tools on every machine, whatever else is there, and
 * cannot name one that is not declared. Pure.
 */

import { savedNamespace, type ToolId } from "@toolcrib/tool";
import type { Catalog, CatalogTool } from "../run/catalog.ts";
import { toolsById } from "../run/catalog-index.ts";

/** Returns the name on the wire of the tool with this id. */
export type WireNameOf = (id: ToolId) => string;

/**
 * Returns the catalogue of `ids`, in their order.
 *
 * @param known the tools here; a declared tool that is not among them is there with any arguments. @default none
 */
export function declaredCatalog(ids: readonly ToolId[], wireNameOf: WireNameOf, known?: Catalog): Catalog {
  const byId = known === undefined ? undefined : toolsById(known);
  const tools = ids.map((id): CatalogTool => {
    const wireName = wireNameOf(id);
    const found = byId?.get(id);
    return found === undefined ? unknownTool(id, wireName) : { ...found, wireName };
  });
  return { generation: known?.generation ?? 0, tools };
}

function unknownTool(id: ToolId, wireName: string): CatalogTool {
  const at = id.indexOf(":");
  const namespace = id.slice(0, Math.max(at, 0));
  const isComposite = namespace === savedNamespace;
  return { id, namespace, name: id.slice(at + 1), wireName, isComposite, inputSchema: {}, labels: {} };
}
