/**
 * Recorded places of values as JSONPaths (RFC 9535) of a chain: which member of the output of a step a place
 * in its result stands for. Pure.
 */

/** The form of a result, as its recorded places show it. */
export interface ResultForm {
  readonly hasStructuredContent: boolean;
  /** Whether texts are in other blocks than the first. */
  readonly hasSeveralTexts: boolean;
}

/** Returns the form of the result with these places. */
export function formOf(places: readonly string[]): ResultForm {
  return {
    hasStructuredContent: places.some((place) => /^\/structuredContent(?:\/|$)/.test(place)),
    hasSeveralTexts: places.some((place) => /^\/content\/[1-9]\d*\/text(?:#|$)/.test(place)),
  };
}

/**
 * Returns the place within the output of a step, as a JSON Pointer; the empty text is the whole output. Undefined for
 * what a chain cannot refer to: the output is the structured content of a result or else its text, as JSON where it
 * is JSON.
 */
export function outputPointerOf(place: string, form: ResultForm): string | undefined {
  if (place.endsWith("…")) return undefined;
  const structured = /^\/structuredContent((?:\/.*)?)$/s.exec(place);
  if (structured !== null) return structured[1];
  if (form.hasStructuredContent || form.hasSeveralTexts) return undefined;
  const text = /^\/content\/0\/text(?:#((?:\/.*)?))?$/s.exec(place);
  return text === null ? undefined : (text[1] ?? "");
}

/** Returns the JSONPath of the place `pointer` in the member `name` of the root. */
export function toJsonPath(name: string, pointer: string): string {
  const parts = pointer === "" ? [] : pointer.slice(1).split("/");
  return `$${[name, ...parts].map((part) => segmentOf(part.replaceAll("~1", "/").replaceAll("~0", "~"))).join("")}`;
}

function segmentOf(name: string): string {
  // A pointer does not say whether a number is an index or a name; lists are what results have.
  if (/^(?:0|[1-9]\d{0,8})$/.test(name)) return `[${name}]`;
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `.${name}`;
  const escaped = name
    .replace(/[\\']/g, "\\$&")
    .replace(/\p{Cc}/gu, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `['${escaped}']`;
}

/** Splits the place of an argument: its name, and the place of the value within it. Undefined for one that was shortened. */
export function splitArgument(place: string): { readonly name: string; readonly inside: string } | undefined {
  const found = /^\/([^/]+)((?:\/.*)?)$/s.exec(place);
  if (found === null || place.endsWith("…")) return undefined;
  const [, name = "", inside = ""] = found;
  return { name: name.replaceAll("~1", "/").replaceAll("~0", "~"), inside };
}
