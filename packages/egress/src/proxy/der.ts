/**
 * The distinguished encoding of ASN.1, as far as certificates need it (X.690).
 * Writes only; what was written is read by OpenSSL. Pure.
 */

/** A value with its tag and length. */
export type Der = Buffer;

/** `[number]` of a constructed value, or of a primitive one. */
export const contextTag = { constructed: 0xa0, primitive: 0x80 } as const;

/** A value of `tag` with what it contains. */
export function tagged(tag: number, ...content: readonly Uint8Array[]): Der {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(body.length)]), body]);
}

function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes = [...Buffer.from(length.toString(16).padStart(8, "0"), "hex")];
  const used = bytes.slice(bytes.findIndex((byte) => byte !== 0));
  return [0x80 | used.length, ...used];
}

export const sequence = (...content: readonly Uint8Array[]): Der => tagged(0x30, ...content);
export const setOf = (...content: readonly Uint8Array[]): Der => tagged(0x31, ...content);
export const octetString = (content: Uint8Array): Der => tagged(0x04, content);
export const utf8String = (text: string): Der => tagged(0x0c, Buffer.from(text, "utf8"));
export const trueValue: Der = tagged(0x01, Buffer.from([0xff]));

/** Bits, `unusedCount` of which at the end do not count. */
export function bitString(bits: Uint8Array, unusedCount = 0): Der {
  return tagged(0x03, Buffer.from([unusedCount]), bits);
}

/** A number of any size, not negative, as its bytes. */
export function integer(bytes: Uint8Array): Der {
  const isNegative = ((bytes[0] ?? 0) & 0x80) !== 0;
  return tagged(0x02, ...(isNegative ? [Buffer.from([0])] : []), bytes);
}

/** An object identifier, such as `2.5.29.15`. */
export function oid(text: string): Der {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(number: number): readonly number[] {
  const bytes = [number & 0x7f];
  for (let left = number >>> 7; left > 0; left >>>= 7) bytes.unshift(0x80 | (left & 0x7f));
  return bytes;
}

/** A time in UTC, to the second: two digits of the year until 2049, four from then on (RFC 5280 §4.1.2.5). */
export function time(milliseconds: number): Der {
  const digits = new Date(milliseconds).toISOString().replace(/\.\d+|[-:T]/g, "");
  return Number(digits.slice(0, 4)) < 2050
    ? tagged(0x17, Buffer.from(digits.slice(2), "latin1"))
    : tagged(0x18, Buffer.from(digits, "latin1"));
}

/** As PEM, lines of 64 characters. */
export function toPem(label: string, der: Der): string {
  const lines = der.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
