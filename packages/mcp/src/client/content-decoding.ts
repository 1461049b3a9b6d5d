/**
 * Content codings of response bodies: gzip, deflate and Brotli, decoded as the
 * bytes arrive, so that events of a stream are not delayed. The reader limits
 * the decoded size; nothing here holds more than a chunk.
 */

import { pipeline, type Readable, type Transform } from "node:stream";

/** The codings that requests offer. */
export const acceptedCodings = "gzip, br";

/** Codings of one body that are decoded; a body with more is left as it is. @limit server */
const maxCodings = 5;

/** Decodes `body`. A coding that is not known leaves the body as it is: some servers name one that they do not use. */
export function decodeBody(body: Readable, contentEncoding: string): Readable {
  const codings = contentEncoding
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  const decoders = codings.reverse().map(createDecoder);
  const known = decoders.filter((decoder) => decoder !== undefined);
  if (known.length === 0 || known.length !== decoders.length || known.length > maxCodings) return body;
  // The reader gets the error of the stream that it reads, so the callback has nothing to do.
  return pipeline([body, ...known], () => {}) as Transform;
}

function createDecoder(coding: string): Transform | undefined {
  // Loaded with the first body that is encoded.
  const { constants, createBrotliDecompress, createGunzip, createInflate } =
    process.getBuiltinModule("node:zlib");
  // A body that ends early still yields the data that arrived.
  const deflate = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
  const brotli = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip(deflate);
    case "deflate":
      return createInflate(deflate);
    case "br":
      return createBrotliDecompress(brotli);
    default:
      return undefined;
  }
}
