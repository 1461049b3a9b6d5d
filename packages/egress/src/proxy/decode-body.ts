/**
 * Decodes the content encoding of a response as a stream, since secrets in a
 * compressed body cannot be found. Memory use does not depend on the size of the
 * decoded body.
 */

import { pipeline, type Readable } from "node:stream";
import { type CreateDecoder, codingsOf, decoderOf } from "../content-codings.ts";
import { type BodySource, fromReadable, toReadable } from "./body-source.ts";

/** The encodings that an origin can choose from. "deflate" is omitted: servers disagree about its format. */
const offered: ReadonlySet<string> = new Set(["identity", "gzip", "x-gzip", "br", "zstd"]);

/** More than one encoding is rare; more than this is an attack. */
const encodingsMaxCount = 3;

/** Parses the values of `Content-Encoding`, the outermost encoding last. Returns `undefined` if one is not supported. */
export function readEncodings(values: readonly string[]): readonly string[] | undefined {
  const names = codingsOf(values);
  const isKnown = names.every((name) => decoderOf(name) !== undefined);
  return isKnown && names.length <= encodingsMaxCount ? names : undefined;
}

/** Returns `body` decoded from `encodings`. An error of a decoder fails the returned body. */
export function decodeBody(body: BodySource, encodings: readonly string[]): BodySource {
  if (encodings.length === 0) return body;
  const decoded = encodings.reduceRight<Readable>((encoded, name) => {
    const decoder = (decoderOf(name) as CreateDecoder)();
    // The decoder reports the error too, and has a listener.
    pipeline(encoded, decoder, () => {});
    return decoder;
  }, toReadable(body));
  return fromReadable(decoded);
}

/** Returns the value of an `Accept-Encoding` without unsupported encodings. */
export function withoutUnknownEncodings(value: string): string {
  const kept = value.split(",").filter((item) => {
    return offered.has((item.split(";")[0] as string).trim().toLowerCase());
  });
  return kept.length === 0 ? "identity" : kept.map((item) => item.trim()).join(", ");
}
