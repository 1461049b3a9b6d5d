/**
 * Conversion of text to UTF-8 and back, charged and counted as steps. A lone
 * surrogate, which UTF-8 cannot represent, becomes U+FFFD. So does each octet that is
 * not part of valid UTF-8, as in go.starlark.net.
 */

import type { Thread } from "../run/thread.ts";
import { bytesWeight } from "../value/heap-weight.ts";
import { StringBuilder } from "./string-build.ts";
import { isHighSurrogate, isLowSurrogate, windowsOf } from "./string-characters.ts";

/** Number of octets that are decoded at a time. */
const portion = 1 << 15;

/** Encodes `text` in UTF-8. */
export function encodeText(text: string, t: Thread): Uint8Array {
  let length = 0;
  for (const window of windowsOf(text, t)) length += encodedLength(window);
  t.charge(bytesWeight(length));
  const octets = new Uint8Array(length);
  const encoder = new TextEncoder();
  let at = 0;
  for (const window of windowsOf(text, t)) at += encoder.encodeInto(window, octets.subarray(at)).written;
  return octets;
}

function encodedLength(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) length += 1;
    else if (unit < 0x800) length += 2;
    else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) {
      length += 4;
      at += 1;
    } else length += 3;
  }
  return length;
}

/** Decodes `octets` from UTF-8. */
export function decodeText(octets: Uint8Array, t: Thread): string {
  const text = new StringBuilder(t);
  for (let start = 0; start < octets.length; ) {
    const end = sequenceStart(octets, Math.min(octets.length, start + portion));
    t.step((end - start) >> 3);
    text.add(decodeOctets(octets.subarray(start, end)));
    start = end;
  }
  return text.finish();
}

/** The last position up to `end` that splits no sequence; at most three octets earlier. */
function sequenceStart(octets: Uint8Array, end: number): number {
  let at = end;
  while (at < octets.length && at > end - 3 && (octets[at]! & 0xc0) === 0x80) at -= 1;
  return at;
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decodes a few octets from UTF-8, without charging or counting them. */
export function decodeOctets(octets: Uint8Array): string {
  let text = "";
  let runStart = 0;
  let at = 0;
  while (at < octets.length) {
    const length = sequenceLength(octets, at);
    if (length > 0) {
      at += length;
    } else {
      if (at > runStart) text += utf8.decode(octets.subarray(runStart, at));
      text += "\ufffd";
      at += 1;
      runStart = at;
    }
  }
  return text + utf8.decode(octets.subarray(runStart));
}

/** Length of the UTF-8 sequence at `at`; 0 if there is none (table 3-7 of the Unicode standard). */
export function sequenceLength(octets: Uint8Array, at: number): number {
  const first = octets[at]!;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + length > octets.length) return 0;
  const second = octets[at + 1]!;
  // The second octet reveals overlong sequences, surrogates and values beyond Unicode.
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let index = 2; index < length; index += 1) {
    if ((octets[at + index]! & 0xc0) !== 0x80) return 0;
  }
  return length;
}
