/**
 * Placeholders represent secrets outside the egress. A placeholder is
 * `toolcrib-ph-` and 32 random hexadecimal digits, and changes with each start.
 * It has no value for an attacker: only the egress replaces it, and only in its
 * place. Anywhere else, every placeholder is found by its form, in every
 * encoding, also one of an earlier start.
 */

import { createTokenMatcher } from "@toolcrib/redaction";

const prefix = "toolcrib-ph-";
const digitCount = 32;
const pattern = new RegExp(`^${prefix}[0-9a-f]{${digitCount}}$`);

/** Creates a placeholder for a credential. */
export function createPlaceholder(randomBytes: (length: number) => Buffer): string {
  return `${prefix}${randomBytes(digitCount / 2).toString("hex")}`;
}

/** Whether `text` is a placeholder and nothing else. */
export function isPlaceholder(text: string): boolean {
  return pattern.test(text);
}

/** Returns `text` for messages and events: replaces plain placeholders of any length and case by a label. */
export function withoutPlaceholders(text: string): string {
  return text.replace(/toolcrib-ph-[0-9a-f]*/gi, "[placeholder]");
}

let matcher: ReturnType<typeof createTokenMatcher> | undefined;

/** Returns the matcher of any placeholder in any encoding, letters in either case. The first call creates it. */
export function placeholderMatcher(): ReturnType<typeof createTokenMatcher> {
  matcher ??= createTokenMatcher(prefix, digitCount);
  return matcher;
}
