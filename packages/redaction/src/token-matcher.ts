/** Finds, in every encoding, any token that is a fixed prefix and random hexadecimal digits. Pure. */

import type { Form, LazyForm } from "./form.ts";
import { FormMatcher } from "./form-matcher.ts";
import { base64Form, base64Within, hexForm } from "./secret-forms.ts";
import { anyOf, caseless } from "./text-symbol.ts";

const digits = "0123456789abcdefABCDEF";
const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";

/**
 * Creates a matcher, for bytes, of any token of ASCII `prefix` and `digitCount` hexadecimal digits, letters in either
 * case. Its `shortest` is the number of bytes of the shortest encoding; `find` returns the first token at or after
 * `from`, and `pending` where the bytes from `start` on can be the beginning of one and `isEnd` is false.
 */
export function createTokenMatcher(
  prefix: string,
  digitCount: number,
): {
  readonly shortest: number;
  find(
    bytes: Uint8Array,
    from: number,
    isEnd: boolean,
  ):
    | { readonly kind: "found"; readonly start: number; readonly end: number }
    | { readonly kind: "pending"; readonly start: number }
    | { readonly kind: "none" };
} {
  return new FormMatcher(tokenForms(prefix, digitCount).map((form) => ({ ...form, tag: undefined })));
}

function tokenForms(prefix: string, digitCount: number): readonly LazyForm[] {
  const bytes = new TextEncoder().encode(prefix);
  const whole = new Uint8Array(bytes.length + digitCount);
  whole.set(bytes);
  const plain: LazyForm = {
    row: prefix,
    gap: "none",
    shortest: prefix.length,
    toForm: () => ({ symbols: caseless(prefix, "bytes") }),
  };
  return [
    followedBy(plain, digits, digitCount),
    followedBy(hexForm(bytes, "bytes"), digits, digitCount * 2),
    ...[0, 1, 2].map((before) => {
      const known = base64Within(bytes, before);
      const rest = base64Within(whole, before).length - known.length;
      return followedBy(base64Form(known, "bytes"), base64Alphabet, rest);
    }),
  ];
}

/** Returns `form` with `count` of any of `characters` after it. */
function followedBy({ row, gap, shortest, toForm }: LazyForm, characters: string, count: number): LazyForm {
  return {
    row,
    gap,
    shortest: shortest + count,
    toForm(): Form {
      const form = toForm();
      return { ...form, symbols: [...form.symbols, ...Array(count).fill(anyOf(characters, "bytes"))] };
    },
  };
}
