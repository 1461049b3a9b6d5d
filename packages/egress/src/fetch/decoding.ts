/** Content codings of responses: which there are, and the stream that undoes one. */

import type { Transform } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import { EgressError } from "../egress-error.ts";

/** What is asked for where the body is decompressed here. */
export const acceptedEncodings = "gzip, deflate, br, zstd";

const maxCodings = 2;

/** Makes what undoes one coding; `first` is the beginning of what it is given. */
export type CreateDecoder = (first: Uint8Array) => Transform;

const decoders: { readonly [coding: string]: CreateDecoder } = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  // The standard has it in the format of zlib; some servers send it without.
  deflate: (first) => (((first[0] ?? 8) & 15) === 8 ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress(),
};

/**
 * What undoes the codings of `contentEncoding`, in the order in which it has to be done.
 *
 * @throws {EgressError} `EGRESS_RESPONSE_INVALID` for codings that are not known.
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
    // It is not named: a host may write the secret there, and in lower case nobody would know it.
    const message = `Cannot read a response: its content coding is none of ${acceptedEncodings}`;
    throw new EgressError("EGRESS_RESPONSE_INVALID", message);
  });
}
