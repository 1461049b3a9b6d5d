/**
 * Resources and prompts of all sources behind one endpoint: which source a URI
 * or a prompt name belongs to, and what is listed. Prompt names get their
 * server's prefix; URIs stay as they are, and the first server in configured
 * order that offers one answers for it.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { SourceFeatures, ToolSource } from "@toolcrib/tool";
import { toWireName } from "../index/wire-name.ts";
import { createTemplateMatcher } from "./uri-template.ts";

/** A source that has resources or prompts. */
export interface FeatureSource extends ToolSource {
  readonly features: SourceFeatures;
}

/** Whether `source` may have resources or prompts. */
export function hasFeatures(source: ToolSource): source is FeatureSource {
  return source.features !== undefined;
}

/** All prompts of `sources`, under wire names unless there is a single source. */
export function listPrompts(sources: readonly FeatureSource[], isPrefixed: boolean): readonly JsonObject[] {
  return sources.flatMap((source) =>
    source.features
      .prompts()
      .map((prompt) =>
        isPrefixed ? { ...prompt, name: toWireName(source.id, String(prompt["name"])) } : prompt,
      ),
  );
}

/** The source and own name of the prompt that is listed as `name`. */
export function findPrompt(
  sources: readonly FeatureSource[],
  name: string,
  isPrefixed: boolean,
): { readonly source: FeatureSource; readonly name: string } | undefined {
  for (const source of sources) {
    for (const prompt of source.features.prompts()) {
      const own = String(prompt["name"]);
      const listed = isPrefixed ? toWireName(source.id, own) : own;
      if (listed === name || (isPrefixed && `${source.id}:${own}` === name)) return { source, name: own };
    }
  }
  return undefined;
}

/** All resources of `sources`; of those with one URI only the first is listed. */
export function listResources(sources: readonly FeatureSource[]): readonly JsonObject[] {
  return uniqueBy(
    sources.flatMap(({ features }) => features.resources()),
    "uri",
  );
}

/** All resource templates of `sources`, each once. */
export function listResourceTemplates(sources: readonly FeatureSource[]): readonly JsonObject[] {
  return uniqueBy(
    sources.flatMap(({ features }) => features.resourceTemplates()),
    "uriTemplate",
  );
}

/** The source that answers for `uri`: one that lists it, else one with a template for it, else a single source. */
export function findResource(sources: readonly FeatureSource[], uri: string): FeatureSource | undefined {
  const listing = sources.find(({ features }) =>
    features.resources().some((resource) => resource["uri"] === uri),
  );
  if (listing !== undefined) return listing;
  const offering = sources.find(({ features }) =>
    features.resourceTemplates().some(({ uriTemplate }) => {
      const matches = typeof uriTemplate === "string" ? createTemplateMatcher(uriTemplate) : undefined;
      return matches?.(uri) === true;
    }),
  );
  return offering ?? (sources.length === 1 ? sources[0] : undefined);
}

/** The source that answers a completion request's `ref`, and the reference in its own words. */
export function findReference(
  sources: readonly FeatureSource[],
  reference: unknown,
  isPrefixed: boolean,
): { readonly source: FeatureSource; readonly ref: JsonObject } | undefined {
  if (!isJsonObject(reference)) return undefined;
  if (reference["type"] === "ref/prompt") {
    const found = findPrompt(sources, String(reference["name"]), isPrefixed);
    return found === undefined
      ? undefined
      : { source: found.source, ref: { ...reference, name: found.name } };
  }
  const uri = String(reference["uri"]);
  const source =
    sources.find(({ features }) => features.resourceTemplates().some((one) => one["uriTemplate"] === uri)) ??
    findResource(sources, uri);
  return source === undefined ? undefined : { source, ref: reference };
}

function uniqueBy(items: readonly JsonObject[], key: string): readonly JsonObject[] {
  const seen = new Set<unknown>();
  return items.filter((item) => {
    if (seen.has(item[key])) return false;
    seen.add(item[key]);
    return true;
  });
}
