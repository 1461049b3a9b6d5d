/**
 * Placeholders: what stands for a secret where no secret may be. Each is
 * `toolcrib-ph-` and 32 hexadecimal digits, new for each start, and of use to
 * nobody: only the egress exchanges it, in its one place. Anywhere else it is
 * found by its form, in every encoding, whether it is one of now or not.
 */

import { FormMatcher, tokenForms } from "@toolcrib/redaction";

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

/** Finds any placeholder in any encoding, letters in either case. */
export const placeholderMatcher = new FormMatcher<undefined>(
  tokenForms(prefix, digitCount).map((form) => ({ form, tag: undefined })),
);
