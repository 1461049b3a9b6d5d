/** The entries that a view lists for a client, in order, before they are cut into pages. */

import {
  type FeatureSource,
  featureSubject,
  type IsAllowed,
  listPrompts,
  listResources,
  listResourceTemplates,
} from "@toolcrib/inventory";
import type { JsonObject } from "@toolcrib/json";
import type { View } from "@toolcrib/mcp";
import type { Identity } from "@toolcrib/tool";
import { serverOfView } from "./request-params.ts";
import type { GatewayServiceDeps } from "./service-deps.ts";

/** A list of the protocol. */
export type ListKey = "tools" | "resources" | "resourceTemplates" | "prompts";

type ListedDeps = Pick<GatewayServiceDeps, "tools" | "roster" | "policy">;

/** Returns the items of a list that `identity` may use. An unchanged definition keeps its identity. */
export function listedItems(
  deps: ListedDeps,
  key: ListKey,
  view: View,
  identity: Identity,
): readonly JsonObject[] {
  if (key === "tools") return listedTools(deps, view, identity);
  const isPrefixed = serverOfView(view) === undefined;
  const list = { resources: listResources, resourceTemplates: listResourceTemplates, prompts: listPrompts };
  return list[key](sourcesOf(deps, view), allowedTo(deps, identity), isPrefixed);
}

function listedTools({ tools }: ListedDeps, view: View, identity: Identity): readonly JsonObject[] {
  const id = serverOfView(view);
  const listed = tools
    .listed(identity, id)
    .map(({ shownDefinition, wireDefinition }) => (id === undefined ? wireDefinition : shownDefinition));
  return listed as unknown as readonly JsonObject[];
}

/** Returns the sources of resources and prompts of a view. */
export function sourcesOf({ roster }: Pick<ListedDeps, "roster">, view: View): readonly FeatureSource[] {
  const id = serverOfView(view);
  const { featureSources } = roster;
  return id === undefined ? featureSources : featureSources.filter((source) => source.id === id);
}

/** Returns whether `identity` may use a resource or prompt of a source. */
export function allowedTo({ policy }: Pick<ListedDeps, "policy">, identity: Identity): IsAllowed {
  return (source, kind, name) => policy.allowsListing(identity, featureSubject(source, kind, name));
}
