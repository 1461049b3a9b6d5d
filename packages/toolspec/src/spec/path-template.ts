/**
 * Path templates: `/leads({leadid})/items/{id}.json`. A placeholder is part of
 * one segment; `{+name}` (schemaVersion 2) keeps the slashes of its value. A
 * placeholder refers to a parameter, or else to a variable (schemaVersion 2),
 * which is always within one segment.
 */

/** A piece of a segment: literal text in its encoded form, or a placeholder. */
export type PathPart =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "placeholder"; readonly name: string; readonly keepsSlashes: boolean };

/** A path as segments: the texts after each `/`. */
export interface PathTemplate {
  readonly segments: readonly (readonly PathPart[])[];
}

/** A fault of a path. */
export interface PathFault {
  /** The end of a sentence. */
  readonly reason: string;
  /** The faulty part of the text; empty for the whole text. */
  readonly part: string;
  readonly hint?: string;
}

/** Parses a path template, or returns all its faults. */
export function parsePathTemplate(
  text: string,
  { hasReserved }: { readonly hasReserved: boolean },
): { readonly template: PathTemplate; readonly faults: readonly PathFault[] } {
  const faults: PathFault[] = [];
  if (!text.startsWith("/")) {
    const hint = /^https?:/i.test(text) ? "the host belongs to baseUrl" : `write /${text.slice(0, 80)}`;
    return { template: { segments: [] }, faults: [{ reason: "it must begin with /", part: "", hint }] };
  }
  const segments = text
    .slice(1)
    .split("/")
    .map((segment) => parseSegment(segment, hasReserved, faults));
  return { template: { segments }, faults };
}

/** Returns all placeholders of a template, in the order of the path. */
export function placeholdersOf(
  template: PathTemplate,
): readonly Extract<PathPart, { kind: "placeholder" }>[] {
  return template.segments.flat().filter((part) => part.kind === "placeholder");
}

function parseSegment(segment: string, hasReserved: boolean, faults: PathFault[]): readonly PathPart[] {
  const parts: PathPart[] = [];
  if (isDotSegment(segment)) {
    const reason = `the segment ${JSON.stringify(segment)} would change the path`;
    faults.push({ reason, part: segment, hint: "write the path that is meant" });
  }
  let at = 0;
  for (const found of segment.matchAll(/\{([^{}]+)\}/g)) {
    addLiteral(segment.slice(at, found.index), parts, faults);
    const written = found[1] ?? "";
    const keepsSlashes = hasReserved && written.startsWith("+") && written.length > 1;
    parts.push({ kind: "placeholder", name: keepsSlashes ? written.slice(1) : written, keepsSlashes });
    at = found.index + found[0].length;
  }
  addLiteral(segment.slice(at), parts, faults);
  return parts;
}

const notAllowed = /[\x00-\x20\x7f\\?#{}]|[^\x00-\x7f]|%(?![0-9A-Fa-f]{2})/gu;

function addLiteral(text: string, parts: PathPart[], faults: PathFault[]): void {
  if (text === "") return;
  for (const [part] of new Set(text.match(notAllowed) ?? []).entries()) faults.push(literalFault(part));
  parts.push({ kind: "literal", text: text.replace(/["<>[\]^`|]/g, percentByte) });
}

function percentByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function literalFault(part: string): PathFault {
  if (part === "?") {
    const hint = "write the query as parameters with in: query";
    return { reason: "a path cannot contain a query", part, hint };
  }
  if (part === "#") return { reason: "a fragment is never sent", part };
  if (part === "{" || part === "}") {
    const hint = "a placeholder is {name}, within one segment";
    return { reason: `the brace ${part} has no partner, or nothing in between`, part, hint };
  }
  if (part === "%") return { reason: "a % needs two hexadecimal digits", part, hint: "write %25" };
  const hint = part === "\\" ? "write /" : `write ${encodeURIComponent(part)}`;
  return { reason: `it contains ${JSON.stringify(part)}`, part, hint };
}

/** A text without these characters is not a dot segment and equals its decoded form. */
const mayDecodePattern = /[%.]/;
/** A text of only these characters has no special meaning in a path. */
const plainPattern = /^[A-Za-z0-9_-]+$/;

/** Maximum number of rounds of decoding that intermediaries are assumed to do. */
const maxDecodings = 8;

/** Returns `text` and its results after repeated percent-decoding. */
function decodings(text: string): readonly string[] {
  const all = [text];
  for (let round = 0; round < maxDecodings; round += 1) {
    const last = all.at(-1) ?? "";
    const next = last.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (next === last) break;
    all.push(next);
  }
  return all;
}

/** Whether a decoder can read a segment as `.` or `..`: as written, after decoding, or before a `;` (servlet parameters). */
export function isDotSegment(segment: string): boolean {
  return (
    mayDecodePattern.test(segment) &&
    decodings(segment).some((form) =>
      form.split(/[/\\]/).some((part) => {
        const name = part.replace(/;.*$/s, "");
        return name === "." || name === "..";
      }),
    )
  );
}

/** Whether a percent-encoded segment contains ASCII control characters after decoding. */
export function hidesControls(segment: string): boolean {
  return mayDecodePattern.test(segment) && decodings(segment).some((form) => /[\x00-\x1f\x7f]/.test(form));
}

/** Returns why `value` is not legal as a segment or part of one, as the end of a sentence. */
export function segmentFault(value: string): string | undefined {
  if (plainPattern.test(value)) return undefined;
  if (value === "") return "is empty, and would change the path";
  if (decodings(value).some((form) => /[\x00-\x1f\x7f-\x9f]/.test(form)))
    return "contains control characters";
  if (isDotSegment(value)) return 'is or contains "." or ".." as a segment, and would change the path';
  return value.isWellFormed() ? undefined : "contains half a character, which cannot be sent";
}
