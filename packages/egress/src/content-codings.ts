/** The content codings of responses (RFC 9110 section 8.4.1), and their decoders. */

import type { Transform } from "node:stream";

/** Creates the decoder of one coding. @param first the beginning of its input, where it is known */
export type CreateDecoder = (first?: Uint8Array) => Transform;

/** Returns Node's module of codings, loaded with the first body that is encoded. */
const zlib = (): typeof import("node:zlib") => process.getBuiltinModule("node:zlib");

const decoders: { readonly [coding: string]: CreateDecoder } = {
  gzip: () => zlib().createGunzip(),
  "x-gzip": () => zlib().createGunzip(),
  // The standard requires the zlib format; some servers send raw deflate.
  deflate: (first) => (((first?.[0] ?? 8) & 15) === 8 ? zlib().createInflate() : zlib().createInflateRaw()),
  br: () => zlib().createBrotliDecompress(),
  zstd: () => zlib().createZstdDecompress(),
};

/** Returns the codings that `values` of `Content-Encoding` name, the outermost last. */
export function codingsOf(values: readonly string[]): readonly string[] {
  return values
    .flatMap((value) => value.split(","))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
}

/** Returns the decoder of `coding`, which is in lower case; undefined for one that is not supported. */
export function decoderOf(coding: string): CreateDecoder | undefined {
  return Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
}
