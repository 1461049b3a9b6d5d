/**
 * Placeholders: what stands for a secret where no secret may be. Each is
 * `toolcrib-ph-` and 32 hexadecimal digits, new for each start, and of use to
 * nobody: only the egress exchanges it, in its one place. Anywhere else it is
 * found by its form, in every encoding, whether it is one of now or not.
 */

import { createMatcher, type Matcher, type Wanted } from "./matcher.ts";
import { base64Within } from "./secret-forms.ts";
import { anyOf, escapable, type Form, hexForm } from "./symbols.ts";

const prefix = "toolcrib-ph-";
const digitCount = 32;
const pattern = new RegExp(`^${prefix}[0-9a-f]{${digitCount}}$`);

/** A new placeholder for a credential. */
export function createPlaceholder(randomBytes: (length: number) => Buffer): string {
  return `${prefix}${randomBytes(digitCount / 2).toString("hex")}`;
}

/** Whether `text` is a placeholder and nothing else. */
export function isPlaceholder(text: string): boolean {
  return pattern.test(text);
}

/** `text` for messages and events: placeholders in plain, of any length and case, are named and not shown. */
export function withoutPlaceholders(text: string): string {
  return text.replace(/toolcrib-ph-[0-9a-f]*/gi, "[placeholder]");
}

const hexDigit = anyOf("0123456789abcdefABCDEF");
const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";

/** Finds any placeholder in any encoding; letters of either case. */
export const placeholderMatcher: Matcher<undefined> = createMatcher(placeholderForms());

function placeholderForms(): readonly Wanted<undefined>[] {
  const bytes = Buffer.from(prefix, "latin1");
  const plain: Form = [
    ...[...prefix].map((character) => anyOf([...new Set([character, character.toUpperCase()])].join(""))),
    ...Array(digitCount).fill(hexDigit),
  ];
  const inHex: Form = [...hexForm(bytes), ...Array(digitCount * 2).fill(hexDigit)];
  const inBase64 = [0, 1, 2].map((before): Form => {
    const known = base64Within(bytes, before);
    const whole = base64Within(Buffer.concat([bytes, Buffer.alloc(digitCount)]), before);
    return [...escapable(known), ...Array(whole.length - known.length).fill(anyOf(base64Alphabet))];
  });
  return [plain, inHex, ...inBase64].map((form) => ({ form, tag: undefined }));
}
