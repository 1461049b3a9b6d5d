/** The supported content codings of responses, and their decoders. */

import type { Transform } from "node:stream";
import { EgressError } from "../egress-error.ts";

/** The value of `Accept-Encoding` for bodies that are decompressed here. */
export const acceptedEncodings = "gzip, deflate, br, zstd";

/** Content codings of one response. @limit server */
const maxCodings = 2;

/** Creates the decoder of one coding; `first` is the beginning of its input. */
export type CreateDecoder = (first: Uint8Array) => Transform;

/** Returns Node's module of codings, loaded with the first body that is encoded. */
const zlib = (): typeof import("node:zlib") => process.getBuiltinModule("node:zlib");

const decoders: { readonly [coding: string]: CreateDecoder } = {
  gzip: () => zlib().createGunzip(),
  "x-gzip": () => zlib().createGunzip(),
  // The standard requires the zlib format; some servers send raw deflate.
  deflate: (first) => (((first[0] ?? 8) & 15) === 8 ? zlib().createInflate() : zlib().createInflateRaw()),
  br: () => zlib().createBrotliDecompress(),
  zstd: () => zlib().createZstdDecompress(),
};

/**
 * Returns the decoders of `contentEncoding`, in the order of decoding.
 *
 * @throws {EgressError} `EGRESS_RESPONSE_INVALID` for unknown codings.
 */
export function parseContentEncoding(contentEncoding: string | undefined): readonly CreateDecoder[] {
  const names = (contentEncoding ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  if (names.length > maxCodings) {
    throw new EgressError(
      "EGRESS_RESPONSE_INVALID",
      `Cannot read a response of more than ${maxCodings} codings`,
    );
  }
  return names.reverse().map((name) => {
    if (Object.hasOwn(decoders, name)) return decoders[name] as CreateDecoder;
    // The message omits the coding: a host could write the secret there.
    const message = `Cannot read a response: its content coding is none of ${acceptedEncodings}`;
    throw new EgressError("EGRESS_RESPONSE_INVALID", message);
  });
}
