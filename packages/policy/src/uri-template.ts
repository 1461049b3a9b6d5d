/**
 * Matches URIs against templates (RFC 6570, in reverse): the result only selects
 * the server that receives a request, and the server itself decides. Expands templates, so
 * that a policy can decide about the URIs. Pure.
 *
 * Templates come from servers and URIs from clients, so neither becomes a
 * regular expression: matching costs at most template times URI.
 */

const templateMaxLength = 2000;

/** A part of a template: literal text, or an expression for characters that `admits` accepts. */
type Part = string | { readonly admits: (unit: number) => boolean };

/** Creates a test for URIs that `template` can produce; undefined for an unusable template. */
export function createTemplateMatcher(template: string): ((uri: string) => boolean) | undefined {
  if (template.length > templateMaxLength) return undefined;
  const parts = template
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== "")
    .map(toPart);
  return (uri) => uri.length <= templateMaxLength && matches(parts, uri);
}

/**
 * Returns the URIs that `template` makes of `values`: with the values as they are, and encoded, because servers do
 * either. Expressions whose values are not known stay.
 *
 * @returns `template` alone when it has none of the variables
 */
export function expandTemplate(
  template: string,
  values: { readonly [name: string]: string },
): readonly string[] {
  const encodings = [(value: string) => value, encodeURIComponent];
  return [
    ...new Set(
      encodings.map((encodeValue) =>
        template.replace(expression, (whole, operator: string, variables: string) =>
          expand(whole, { operator, variables: variables.split(","), values, encodeValue }),
        ),
      ),
    ),
  ];
}

const expression = /\{([+#./;?&]?)([^{}]*)\}/g;

/** Expands one expression (RFC 6570, section 3.2). */
function expand(
  whole: string,
  {
    operator,
    variables,
    values,
    encodeValue,
  }: {
    readonly operator: string;
    readonly variables: readonly string[];
    readonly values: { readonly [name: string]: string };
    readonly encodeValue: (value: string) => string;
  },
): string {
  let isExpanded = false;
  const parts = variables.map((variable) => {
    const name = variable.replace(/\*$|:\d+$/, "");
    const isKnown = Object.hasOwn(values, name);
    isExpanded ||= isKnown;
    const value = isKnown ? encodeValue(values[name] ?? "") : `{${variable}}`;
    return /[;?&]/.test(operator) ? `${name}=${value}` : value;
  });
  if (!isExpanded) return whole;
  const separator = operator === "?" ? "&" : /[./;&]/.test(operator) ? operator : ",";
  return `${operator === "+" ? "" : operator}${parts.join(separator)}`;
}

function toPart(part: string): Part {
  if (!part.startsWith("{") || !part.endsWith("}")) return part;
  // Reserved and fragment expansion match any text, paths and lists match slashes, the others one segment.
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

/** Follows all ways to read `uri` at once: `places` are the positions at which the parts so far can end. */
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

/** All positions at which an expression can end; ascending, like `places`. */
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
