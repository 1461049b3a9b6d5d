/**
 * The tokens of a policy with their places, so that a finding can mark the one token that it is
 * about: the JSON form of the engine has no places. Reads valid policies; in other texts a token may be
 * missing, and never is a place outside of the text.
 */

import type { Span } from "@toolcrib/diagnostics";
import type { Policy } from "./parse-policies.ts";

/** A name, a text, a number or a mark. */
interface Token {
  readonly kind: "name" | "text" | "mark";
  /** The content of a text without its escapes; otherwise as written. */
  readonly value: string;
  readonly span: Span;
}

/** A policy as far as its tokens need it. */
type Written = Pick<Policy, "source" | "span" | "text">;

const tokenPattern = /\/\/[^\n]*|"((?:[^"\\]|\\.)*)"|[A-Za-z_]\w*|\d+|::|[=!<>]=|&&|\|\||[^\s]/gsu;

/** Returns the tokens of `text`. @param offset added to their places */
function tokensOf(text: string, offset = 0): readonly Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(tokenPattern)) {
    const [whole, content] = match;
    if (whole.startsWith("//")) continue;
    const start = offset + match.index;
    const span = { start, end: start + whole.length };
    if (content !== undefined) tokens.push({ kind: "text", value: unescaped(content), span });
    else tokens.push({ kind: /^[A-Za-z_]/.test(whole) ? "name" : "mark", value: whole, span });
  }
  return tokens;
}

/** The place of the annotation `@name` of a policy, or, with `part: "value"`, of its value. */
export function annotationPlace(policy: Written, name: string, part: "name" | "value"): Span {
  const tokens = policyTokens(policy);
  const at = tokens.findIndex((token, index) => token.value === name && isMark(tokens[index - 1], "@"));
  const token = part === "name" ? tokens[at] : tokens[at + 2];
  return at === -1 || token === undefined ? policy.span : token.span;
}

/** The place of the entity `TYPE::"ID"` in a policy. */
export function entityPlace(policy: Written, type: string, id: string): Span {
  const tokens = policyTokens(policy);
  const at = tokens.findIndex(
    ({ kind, value }, index) =>
      kind === "text" && value === id && isMark(tokens[index - 1], "::") && tokens[index - 2]?.value === type,
  );
  const [start, end] = [tokens[at - 2], tokens[at]];
  return start === undefined || end === undefined
    ? policy.span
    : { start: start.span.start, end: end.span.end };
}

/** The place of the text `value` that a policy compares with `attribute`. */
export function valuePlace(policy: Written, attribute: string, value: string): Span {
  const tokens = policyTokens(policy);
  const places = tokens.flatMap((token, at) =>
    token.kind === "text" && token.value === value && !isMark(tokens[at - 1], "::") ? [at] : [],
  );
  const near = places.find((at) => {
    const isBefore = isComparison(tokens[at - 1]) && tokens[at - 2]?.value === attribute;
    return isBefore || isComparison(tokens[at + 1]);
  });
  return tokens[near ?? places[0] ?? -1]?.span ?? policy.span;
}

/** Narrows the place of an error of the engine to the token that its message is about: the operator `=`, or the last attribute of a path. */
export function mistakePlace(message: string, text: string, span: Span): Span {
  const attribute = /^attribute `(\w+)`.* not found/i.exec(message)?.[1];
  const wanted = message.startsWith("'=' is not a valid operator") ? "=" : attribute;
  if (wanted === undefined) return span;
  const tokens = tokensOf(text.slice(span.start, span.end), span.start);
  return tokens.findLast(({ kind, value }) => kind !== "text" && value === wanted)?.span ?? span;
}

function policyTokens({ source, span, text }: Written): readonly Token[] {
  return source.text.startsWith(text, span.start) ? tokensOf(text, span.start) : [];
}

function isMark(token: Token | undefined, value: string): boolean {
  return token?.kind === "mark" && token.value === value;
}

function isComparison(token: Token | undefined): boolean {
  return isMark(token, "==") || isMark(token, "!=");
}

/** The characters of the escapes that names and values of policies use; other escapes stay as written. */
function unescaped(content: string): string {
  return content.replace(/\\(["'\\])/g, "$1");
}
