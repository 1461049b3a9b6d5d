/** The parts of a configured value that are secret by themselves. Pure. */

import { secretMinLength } from "./secret-forms.ts";

/** A line of this length without white space is secret by itself, such as a line of a PEM block. */
const lineMinLength = 32;

/**
 * Returns the texts to redact for `value`: the value, the value without white
 * space at its ends and without an HTTP authentication scheme, and its long
 * lines, since standard error and logs arrive line by line.
 */
export function secretTextsOf(value: string): readonly string[] {
  const bare = value.replace(/^\s*(?:Bearer|Basic|Token)\s+/i, "").trim();
  const texts = new Set([value, value.trim(), bare, ...longLinesOf(value)]);
  return [...texts].filter((text) => text.length >= secretMinLength);
}

function longLinesOf(value: string): readonly string[] {
  if (!value.includes("\n")) return [];
  return value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= lineMinLength && !/\s/.test(line));
}
