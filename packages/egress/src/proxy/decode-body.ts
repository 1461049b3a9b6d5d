/**
 * Undoes the encoding of a response, as a stream: a secret in a compressed body
 * could not be found. Memory stays flat whatever the body expands to.
 */

import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { type BodySource, fromReadable, toReadable } from "./body-source.ts";

/** The encodings that can be undone. */
const decoders: { readonly [encoding: string]: () => Transform } = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress(),
};

/** The encodings that an origin is let choose from. "deflate" is left out: servers differ about what it is. */
const offered: ReadonlySet<string> = new Set(["identity", "gzip", "x-gzip", "br", "zstd"]);

/** More than one is rare, more than this an attack. */
const encodingsMaxCount = 3;

/** The encodings that the values of `Content-Encoding` list, the outermost last; `undefined` for one that cannot be undone. */
export function readEncodings(values: readonly string[]): readonly string[] | undefined {
  const names = values
    .flatMap((value) => value.split(","))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  const isKnown = names.every((name) => Object.hasOwn(decoders, name));
  return isKnown && names.length <= encodingsMaxCount ? names : undefined;
}

/** `body` without its `encodings`. What breaks on the way breaks what is returned. */
export function decodeBody(body: BodySource, encodings: readonly string[]): BodySource {
  if (encodings.length === 0) return body;
  const decoded = encodings.reduceRight<Readable>((encoded, name) => {
    const decoder = (decoders[name] as () => Transform)();
    // An error is that of the decoder too, which is listened to.
    pipeline(encoded, decoder, () => {});
    return decoder;
  }, toReadable(body));
  return fromReadable(decoded);
}

/** The value of an `Accept-Encoding` without what could not be undone. */
export function withoutUnknownEncodings(value: string): string {
  const kept = value.split(",").filter((item) => {
    return offered.has((item.split(";")[0] as string).trim().toLowerCase());
  });
  return kept.length === 0 ? "identity" : kept.map((item) => item.trim()).join(", ");
}
