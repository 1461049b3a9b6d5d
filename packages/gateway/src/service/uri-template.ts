/**
 * Which template a URI may have come from (RFC 6570, matched backwards). Used
 * only to choose the server that is asked; the server itself decides. Pure.
 *
 * Templates come from servers and URIs from clients, so no regular expression
 * is made of either: matching costs at most template times URI.
 */

const templateMaxLength = 2000;

/** A piece of a template: itself, or an expression that stands for characters that `admits` allows. */
type Part = string | { readonly admits: (unit: number) => boolean };

/** Create a test for URIs that `template` can produce; undefined when the template is unusable. */
export function createTemplateMatcher(template: string): ((uri: string) => boolean) | undefined {
  if (template.length > templateMaxLength) return undefined;
  const parts = template
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== "")
    .map(toPart);
  return (uri) => uri.length <= templateMaxLength && matches(parts, uri);
}

function toPart(part: string): Part {
  if (!part.startsWith("{") || !part.endsWith("}")) return part;
  // Reserved and fragment expansion may hold anything; paths and lists slashes; the rest is one segment.
  if (/^\{[+#?&]/.test(part)) return { admits: isVisible };
  if (/^\{[/.;]/.test(part) || part.endsWith("*}")) return { admits: isInPath };
  return { admits: isInSegment };
}

const slash = 0x2f;
const question = 0x3f;
const hash = 0x23;

function isVisible(unit: number): boolean {
  return unit > 0x20;
}

function isInPath(unit: number): boolean {
  return isVisible(unit) && unit !== question && unit !== hash;
}

function isInSegment(unit: number): boolean {
  return isInPath(unit) && unit !== slash;
}

/** Follow all ways to read `uri` at once: `places` are the positions that the parts so far can end at. */
function matches(parts: readonly Part[], uri: string): boolean {
  let places: readonly number[] = [0];
  for (const part of parts) {
    places =
      typeof part === "string"
        ? places.filter((at) => uri.startsWith(part, at)).map((at) => at + part.length)
        : reachable(places, uri, part.admits);
    if (places.length === 0) return false;
  }
  return places.at(-1) === uri.length;
}

/** All positions that an expression can end at; ascending, like `places`. */
function reachable(
  places: readonly number[],
  uri: string,
  admits: (unit: number) => boolean,
): readonly number[] {
  const reached: number[] = [];
  let next = 0;
  for (const start of places) {
    for (let at = Math.max(start, next); at <= uri.length; at += 1) {
      reached.push(at);
      next = at + 1;
      if (at === uri.length || !admits(uri.charCodeAt(at))) break;
    }
  }
  return reached;
}
