/**
 * Encodes ASN.1 in DER (X.690), as far as certificates need it. Never decodes:
 * OpenSSL reads the result. Pure.
 */

/** A value with its tag and length. */
export type Der = Buffer;

/** Base of a context-specific tag, for a constructed or a primitive value. */
export const contextTag = { constructed: 0xa0, primitive: 0x80 } as const;

/** Encodes a value of `tag` with `content`. */
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

/** Encodes a bit string; the last `unusedCount` bits are unused. */
export function bitString(bits: Uint8Array, unusedCount = 0): Der {
  return tagged(0x03, Buffer.from([unusedCount]), bits);
}

/** Encodes a non-negative integer of any size, given as bytes. */
export function integer(bytes: Uint8Array): Der {
  const isNegative = ((bytes[0] ?? 0) & 0x80) !== 0;
  return tagged(0x02, ...(isNegative ? [Buffer.from([0])] : []), bytes);
}

/** Encodes an object identifier, such as `2.5.29.15`. */
export function oid(text: string): Der {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(number: number): readonly number[] {
  const bytes = [number & 0x7f];
  for (let left = number >>> 7; left > 0; left >>>= 7) bytes.unshift(0x80 | (left & 0x7f));
  return bytes;
}

/** Encodes a time in UTC with a precision of one second: two-digit years until 2049, four-digit years after that (RFC 5280 §4.1.2.5). */
export function time(milliseconds: number): Der {
  const digits = new Date(milliseconds).toISOString().replace(/\.\d+|[-:T]/g, "");
  return Number(digits.slice(0, 4)) < 2050
    ? tagged(0x17, Buffer.from(digits.slice(2), "latin1"))
    : tagged(0x18, Buffer.from(digits, "latin1"));
}

/** Converts to PEM with lines of 64 characters. */
export function toPem(label: string, der: Der): string {
  const lines = der.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
