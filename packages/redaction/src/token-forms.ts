/** The encodings of any token that is a fixed prefix and random hexadecimal digits. Pure. */

import type { Form } from "./form.ts";
import { base64Form, base64Within, hexForm } from "./secret-forms.ts";
import { anyOf, caseless } from "./text-symbol.ts";

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";

/** Returns the forms, in bytes, of any token of ASCII `prefix` and `digitCount` hexadecimal digits. */
export function tokenForms(prefix: string, digitCount: number): readonly Form[] {
  const digit = anyOf("0123456789abcdefABCDEF", "bytes");
  const anyBase64 = anyOf(base64Alphabet, "bytes");
  const bytes = new TextEncoder().encode(prefix);
  const whole = new Uint8Array(bytes.length + digitCount);
  whole.set(bytes);
  const { symbols: hexPrefix, gap: hexGap } = hexForm(bytes, "bytes");
  return [
    { symbols: [...caseless(prefix, "bytes"), ...Array(digitCount).fill(digit)] },
    { symbols: [...hexPrefix, ...Array(digitCount * 2).fill(digit)], gap: hexGap },
    ...[0, 1, 2].map((before): Form => {
      const known = base64Within(bytes, before);
      const { symbols, gap } = base64Form(known, "bytes");
      const rest = base64Within(whole, before).length - known.length;
      return { symbols: [...symbols, ...Array(rest).fill(anyBase64)], gap };
    }),
  ];
}
