/**
 * Resources and prompts of all sources behind one endpoint: which source a URI
 * or a prompt name belongs to, and what is listed. Prompt names get their
 * server's prefix; URIs stay as they are, except for pages of apps, and the first
 * server in configured order that offers one answers for it.
 *
 * `IsAllowed` decides who may use what; this file never does.
 */

import type { JsonObject } from "@toolcrib/json";
import { createTemplateMatcher } from "@toolcrib/policy";
import { toWireUri } from "./app-resources.ts";
import type { FeatureSource } from "./source-roster.ts";
import { toWireName } from "./wire-name.ts";

/** A reference to a prompt or a resource template, in a completion request. */
export type CompletionReference =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string };

/** Whether a client may use the resource (by URI or template) or prompt (by its own name) of `source`. */
export type IsAllowed = (source: FeatureSource, kind: "resources" | "prompts", name: string) => boolean;

/** The allowed prompts of `sources`, under wire names where `isPrefixed`; of equal names the first. */
export function listPrompts(
  sources: readonly FeatureSource[],
  isAllowed: IsAllowed,
  isPrefixed: boolean,
): readonly JsonObject[] {
  return listUnique(sources, ({ features }) => features.prompts(), {
    key: "name",
    isAllowed: (source, name) => isAllowed(source, "prompts", name),
    toListed: (source, prompt) => (isPrefixed ? prefixed(source, prompt) : prompt),
  });
}

/** The same object for the same prompt, so that an unchanged list has the same entries. */
const prefixedPrompts = new WeakMap<JsonObject, JsonObject>();

function prefixed(source: FeatureSource, prompt: JsonObject): JsonObject {
  const name = toWireName(source.id, String(prompt["name"]));
  const known = prefixedPrompts.get(prompt);
  if (known?.["name"] === name) return known;
  const listed = { ...prompt, name };
  prefixedPrompts.set(prompt, listed);
  return listed;
}

/** The allowed resources of `sources`, pages of apps under wire URIs where `isPrefixed`; of those with one URI the first. */
export function listResources(
  sources: readonly FeatureSource[],
  isAllowed: IsAllowed,
  isPrefixed: boolean,
): readonly JsonObject[] {
  return listUnique(sources, ({ features }) => features.resources(), {
    key: "uri",
    isAllowed: (source, uri) => isAllowed(source, "resources", uri),
    toListed: (source, resource) => (isPrefixed ? withWireUri(source, resource, "uri") : resource),
  });
}

/** The allowed resource templates of `sources`, named as `listResources` does; of equal ones the first. */
export function listResourceTemplates(
  sources: readonly FeatureSource[],
  isAllowed: IsAllowed,
  isPrefixed: boolean,
): readonly JsonObject[] {
  return listUnique(sources, ({ features }) => features.resourceTemplates(), {
    key: "uriTemplate",
    isAllowed: (source, template) => isAllowed(source, "resources", template),
    toListed: (source, item) => (isPrefixed ? withWireUri(source, item, "uriTemplate") : item),
  });
}

/** The same object for the same entry, as with prompts. */
const prefixedResources = new WeakMap<JsonObject, JsonObject>();

function withWireUri(source: FeatureSource, item: JsonObject, key: "uri" | "uriTemplate"): JsonObject {
  const uri = String(item[key]);
  const wireUri = toWireUri(source.id, uri);
  if (wireUri === uri) return item;
  const known = prefixedResources.get(item);
  if (known?.[key] === wireUri) return known;
  const listed = { ...item, [key]: wireUri };
  prefixedResources.set(item, listed);
  return listed;
}

function listUnique(
  sources: readonly FeatureSource[],
  itemsOf: (source: FeatureSource) => readonly JsonObject[],
  how: {
    readonly key: string;
    readonly isAllowed: (source: FeatureSource, name: string) => boolean;
    readonly toListed?: (source: FeatureSource, item: JsonObject) => JsonObject;
  },
): readonly JsonObject[] {
  const seen = new Set<unknown>();
  const listed: JsonObject[] = [];
  for (const source of sources) {
    for (const item of itemsOf(source)) {
      const name = String(item[how.key]);
      // An item that is denied does not hide one of its name that is not.
      if (!how.isAllowed(source, name)) continue;
      const shown = how.toListed?.(source, item) ?? item;
      if (seen.has(shown[how.key])) continue;
      seen.add(shown[how.key]);
      listed.push(shown);
    }
  }
  return listed;
}

/** Returns the source of the prompt that is listed as `name`, and its name there. */
export function findPrompt(
  sources: readonly FeatureSource[],
  name: string,
  isPrefixed: boolean,
): { readonly source: FeatureSource; readonly name: string } | undefined {
  for (const source of sources) {
    if (isPrefixed && !name.startsWith(`${source.id}__`) && !name.startsWith(`${source.id}:`)) continue;
    for (const prompt of source.features.prompts()) {
      const own = String(prompt["name"]);
      const listed = isPrefixed ? toWireName(source.id, own) : own;
      if (listed === name || (isPrefixed && `${source.id}:${own}` === name)) return { source, name: own };
    }
  }
  return undefined;
}

/**
 * The source that answers for `uri`: one that lists it, else one with a template
 * for it, else a single source. One that the client may use goes before one
 * that it may not.
 */
export function findResource(
  sources: readonly FeatureSource[],
  uri: string,
  isAllowed: IsAllowed,
): FeatureSource | undefined {
  const found = findOffered(sources, uri, isAllowed);
  if (found !== undefined || sources.length !== 1) return found;
  return sources[0]?.features.reasonAgainst("resources", uri) === undefined ? sources[0] : undefined;
}

function findOffered(
  sources: readonly FeatureSource[],
  uri: string,
  isAllowed: IsAllowed,
): FeatureSource | undefined {
  const listing = sources.filter(({ features }) => urisOf(features.resources()).has(uri));
  const offering = sources.filter(({ features }) => features.resourceTemplates().some(isTemplateOf(uri)));
  const all = [...listing, ...offering];
  return all.find((source) => isAllowed(source, "resources", uri)) ?? all[0];
}

/** The entries of the lists of one source that offer `uri`, which can also be a template: the resource, or else templates. */
export function offersOf(
  features: Pick<FeatureSource["features"], "resources" | "resourceTemplates">,
  uri: string,
): readonly JsonObject[] {
  if (urisOf(features.resources()).has(uri)) return [{ uri }];
  const isOffering = isTemplateOf(uri);
  return features.resourceTemplates().filter((one) => one["uriTemplate"] === uri || isOffering(one));
}

/** Returns why a resource of `sources` is not offered to a client that may use it; undefined for an unknown one. */
export function reasonAgainstResource(
  sources: readonly FeatureSource[],
  uri: string,
  isAllowed: IsAllowed,
): string | undefined {
  for (const source of sources) {
    const isItsOwn =
      sources.length === 1 ||
      source.features.held().some(({ kind, name }) => kind === "resource" && name === uri);
    const reason = isItsOwn ? source.features.reasonAgainst("resources", uri) : undefined;
    if (reason !== undefined && isAllowed(source, "resources", uri)) return reason;
  }
  return undefined;
}

/** Returns why a prompt of `sources` is not offered to a client that may use it; undefined for an unknown one. */
export function reasonAgainstPrompt(
  sources: readonly FeatureSource[],
  name: string,
  isAllowed: IsAllowed,
  isPrefixed: boolean,
): string | undefined {
  for (const source of sources) {
    const held = source.features
      .held()
      .find(
        (one) => one.kind === "prompt" && (isPrefixed ? toWireName(source.id, one.name) : one.name) === name,
      );
    if (held !== undefined && isAllowed(source, "prompts", held.name)) return held.reason;
  }
  return undefined;
}

/** The source that answers a completion request's `ref`, and the reference with its own names. */
export function findReference(
  sources: readonly FeatureSource[],
  ref: CompletionReference,
  isAllowed: IsAllowed,
  isPrefixed: boolean,
): { readonly source: FeatureSource; readonly ref: CompletionReference } | undefined {
  if (ref.type === "ref/prompt") {
    const found = findPrompt(sources, ref.name, isPrefixed);
    return found === undefined ? undefined : { source: found.source, ref: { ...ref, name: found.name } };
  }
  const { uri } = ref;
  const having = sources.filter(({ features }) =>
    features.resourceTemplates().some((one) => one["uriTemplate"] === uri),
  );
  // A single server gets no reference that it does not list either: its answer would differ from that for a denied one.
  const source =
    having.find((one) => isAllowed(one, "resources", uri)) ??
    having[0] ??
    findOffered(sources, uri, isAllowed);
  return source === undefined ? undefined : { source, ref };
}

/** Sets and matchers are kept for as long as the lists and templates that they are made of. */
const uriSets = new WeakMap<readonly JsonObject[], ReadonlySet<unknown>>();
const matchers = new WeakMap<JsonObject, (uri: string) => boolean>();

function urisOf(resources: readonly JsonObject[]): ReadonlySet<unknown> {
  const known = uriSets.get(resources);
  if (known !== undefined) return known;
  const uris = new Set(resources.map(({ uri }) => uri));
  uriSets.set(resources, uris);
  return uris;
}

function isTemplateOf(uri: string): (item: JsonObject) => boolean {
  return (item) => {
    const known = matchers.get(item);
    if (known !== undefined) return known(uri);
    const template = item["uriTemplate"];
    const matcher = typeof template === "string" ? createTemplateMatcher(template) : undefined;
    matchers.set(item, matcher ?? (() => false));
    return matcher?.(uri) === true;
  };
}
