/**
 * The forms in which a text may come out of a program that was given it: as it
 * is, in hexadecimal, in base64 alone or inside a longer text (such as one of
 * JSON), each of them escaped for JSON, URLs or HTML, and in UTF-16. Pure.
 *
 * The gateway has a list of its own, as regular expressions over whole texts,
 * and does without this package where there are no toolspecs. What is added
 * here is wanted there too, UTF-16 apart: its texts have been decoded.
 */

import { bytesForm, escapable, type Form, hexForm } from "./symbols.ts";

/** Shorter texts occur by chance, and taking them out would damage what they occur in. */
const secretMinLength = 6;

/** The forms of `secret`; none when it is shorter than `secretMinLength`. */
export function secretForms(secret: string): readonly Form[] {
  if (secret.length < secretMinLength) return [];
  return [
    escapable(secret),
    ...spellings(secret).flatMap((text) => [...encodedForms(text), ...wideForms(text)]),
  ];
}

/** In UTF-16, either byte first: who reads a text in the charset that it declares has the secret again. */
function wideForms(text: string): readonly Form[] {
  const bytes = Buffer.from(text, "utf16le");
  return [bytesForm(bytes), bytesForm(Buffer.from(bytes).swap16())];
}

/** `secret`, and how it stands in a JSON text, a URL or a form, which may be encoded as a whole. Most secrets have one spelling. */
function spellings(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inUrl = encodeURIComponent(secret.toWellFormed());
  return [...new Set([secret, inJson, inJson.replaceAll("/", "\\/"), inUrl, inUrl.replaceAll("%20", "+")])];
}

function encodedForms(text: string): readonly Form[] {
  const bytes = Buffer.from(text, "utf8");
  const encoded = base64Texts(bytes).filter((one) => one.length >= secretMinLength);
  return [hexForm(bytes), ...encoded.map(escapable)];
}

/**
 * `bytes` in base64 whole, with and without padding, and at each of the three
 * places where they can begin in a longer text (`user:SECRET`), as far as they
 * alone decide the characters; in both alphabets.
 */
export function base64Texts(bytes: Buffer): readonly string[] {
  const padded = bytes.toString("base64");
  const texts = [padded, padded.replace(/=+$/, "")];
  for (const before of [0, 1, 2]) texts.push(base64Within(bytes, before));
  return [...new Set(texts.flatMap((text) => [text, toUrlSafe(text)]))];
}

/** The characters that `bytes` alone decide when `before` bytes come before them. */
export function base64Within(bytes: Buffer, before: number): string {
  const shifted = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
  return shifted.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
}

function toUrlSafe(text: string): string {
  return text.replaceAll("+", "-").replaceAll("/", "_");
}
