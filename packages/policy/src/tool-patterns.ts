/**
 * Patterns of tools, resources and prompts: globs over `namespace:name` and
 * `namespace__name`. `*` matches any text, `?` one character, every other
 * character itself; case matters. Pure.
 *
 * Matching costs at most pattern times text: the text may come from a client (a
 * resource's URI), so a pattern does not become a regular expression.
 */

import type { ToolId } from "@toolcrib/tool";
import { type Spellings, spellingsOfPattern, spellingsOfUri } from "./resource-spellings.ts";

/** Position and text of a pattern that matches. */
export interface FoundPattern {
  readonly at: number;
  readonly text: string;
}

/** The two names of a resource, in the spellings of its URI. */
export interface ResourceNames {
  readonly ids: Spellings;
  readonly wireNames: Spellings;
}

/** A name that only `*` matches: longer than any pattern, of characters for private use. */
const anyName = "\uE000".repeat(2000);

const resourcesPrefix = "resources/";

/** Returns the names of a resource; `undefined` for a tool or prompt, whose names have one spelling. */
export function toResourceNames(id: ToolId, wireName: string): ResourceNames | undefined {
  const kindAt = id.indexOf(":") + 1;
  if (!id.startsWith(resourcesPrefix, kindAt)) return undefined;
  const uriAt = kindAt + resourcesPrefix.length;
  const spellings = spellingsOfUri(id.slice(uriAt));
  const after = (prefix: string): Spellings => [
    prefix + spellings[0],
    prefix + spellings[1],
    prefix + spellings[2],
    prefix + spellings[3],
  ];
  return {
    ids: after(id.slice(0, uriAt)),
    wireNames: after(wireName.slice(0, wireName.length - (id.length - uriAt))),
  };
}

/** The names of a namespace that patterns match. */
type Coverage = "all" | "some" | "none";

function coverageOf(patterns: readonly string[], namespace: string): Coverage {
  const starts = [`${namespace}:`, `${namespace}__`];
  if (patterns.some((pattern) => starts.some((start) => matchesGlob(pattern, start + anyName)))) return "all";
  return patterns.some((pattern) => starts.some((start) => matchesStart(pattern, start))) ? "some" : "none";
}

/** A list of patterns. */
export class ToolPatterns {
  readonly #patterns: readonly string[];
  #spellings: readonly Spellings[] | undefined;
  /** Whether a pattern names resources of a source, by the id of the source. */
  readonly #namesResources = new Map<string, boolean>();
  readonly #coverage = new Map<string, Coverage>();

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
  }

  /** Returns the first pattern that matches either name of a tool or prompt. */
  find(id: ToolId, wireName: string): FoundPattern | undefined {
    return this.#at(this.#patterns.findIndex((text) => matchesGlob(text, id) || matchesGlob(text, wireName)));
  }

  /** Returns the first pattern that matches a resource in any spelling, as a deny list needs it. */
  findInAnySpelling(names: ResourceNames): FoundPattern | undefined {
    return this.#at(
      this.#spelled().findIndex((pattern) => pattern.some((text, at) => matchesSpelling(text, names, at))),
    );
  }

  /** Returns the first pattern that matches a resource in every spelling, as an allow list needs it. */
  findInAllSpellings(names: ResourceNames): FoundPattern | undefined {
    return this.#at(
      this.#spelled().findIndex((pattern) => pattern.every((text, at) => matchesSpelling(text, names, at))),
    );
  }

  /** Returns the first pattern that matches a tool or prompt, or a resource in any spelling. */
  findInAny(id: ToolId, wireName: string): FoundPattern | undefined {
    const resource = toResourceNames(id, wireName);
    return resource === undefined ? this.find(id, wireName) : this.findInAnySpelling(resource);
  }

  /** Whether a pattern names resources of the source `sourceId`, and not only tools or prompts. */
  namesResourcesOf(sourceId: string): boolean {
    let known = this.#namesResources.get(sourceId);
    if (known === undefined) {
      known = this.#patterns.some((pattern) => namesResourcesOf(pattern, sourceId));
      this.#namesResources.set(sourceId, known);
    }
    return known;
  }

  /** Whether the patterns match every name in `namespace`, some of them, or none, as far as a pattern alone shows. */
  coverageOf(namespace: string): Coverage {
    let known = this.#coverage.get(namespace);
    if (known === undefined) {
      known = coverageOf(this.#patterns, namespace);
      this.#coverage.set(namespace, known);
    }
    return known;
  }

  #spelled(): readonly Spellings[] {
    this.#spellings ??= this.#patterns.map(spellingsOfPattern);
    return this.#spellings;
  }

  #at(at: number): FoundPattern | undefined {
    return at === -1 ? undefined : { at, text: this.#patterns[at] as string };
  }
}

/**
 * Whether `pattern` names resources of a source. `*:delete_*` does not, although it matches the URI of a resource
 * that contains `:delete_`: its name after the namespace is that of a tool.
 */
function namesResourcesOf(pattern: string, sourceId: string): boolean {
  const isWhole = (separator: string) => matchesStart(pattern, `${sourceId}${separator}${resourcesPrefix}`);
  const parts = splitPattern(pattern);
  if (parts === undefined || pattern.includes(resourcesPrefix)) return isWhole(":") || isWhole("__");
  return matchesGlob(parts.namespace, sourceId) && matchesStart(parts.name, resourcesPrefix);
}

/** Splits a pattern into the patterns of a namespace and of a name in it; `undefined` for one without a separator. */
export function splitPattern(
  pattern: string,
): { readonly namespace: string; readonly separator: string; readonly name: string } | undefined {
  const found = /^([^:]*?)(:|__)(.*)$/s.exec(pattern);
  if (found === null) return undefined;
  const [, namespace = "", separator = "", name = ""] = found;
  return { namespace, separator, name };
}

/** Whether `pattern` matches a text that starts with `start`. */
function matchesStart(pattern: string, start: string): boolean {
  const starAt = pattern.indexOf("*");
  const fixed = starAt === -1 ? pattern : pattern.slice(0, starAt);
  if (fixed.length >= start.length) return matchesGlob(fixed.slice(0, start.length), start);
  return starAt !== -1 && matchesGlob(fixed, start.slice(0, fixed.length));
}

function matchesSpelling(pattern: string, { ids, wireNames }: ResourceNames, at: number): boolean {
  return matchesGlob(pattern, ids[at] as string) || matchesGlob(pattern, wireNames[at] as string);
}

const star = 0x2a;
const question = 0x3f;

/** Whether `pattern` matches all of `text`. */
export function matchesGlob(pattern: string, text: string): boolean {
  let inPattern = 0;
  let inText = 0;
  // Position of the last `*`, and the end of the text that it matches.
  let starAt = -1;
  let takenTo = 0;
  while (inText < text.length) {
    const wanted = inPattern < pattern.length ? pattern.charCodeAt(inPattern) : -1;
    if (wanted === star) {
      starAt = inPattern;
      takenTo = inText;
      inPattern += 1;
    } else if (wanted === question || wanted === text.charCodeAt(inText)) {
      inPattern += 1;
      inText += 1;
    } else if (starAt === -1) {
      return false;
    } else {
      takenTo += 1;
      inText = takenTo;
      inPattern = starAt + 1;
    }
  }
  while (pattern.charCodeAt(inPattern) === star) inPattern += 1;
  return inPattern === pattern.length;
}
