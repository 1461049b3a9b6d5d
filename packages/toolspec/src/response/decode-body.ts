/** Decodes the bytes of a response to text, JSON or neither, by media type, or by content when there is none. */

import { isCodedError } from "@toolcrib/diagnostics";
import { type JsonValue, parseJson } from "@toolcrib/json";

/** A decoded body. */
export type DecodedBody =
  | { readonly kind: "empty" }
  | { readonly kind: "text"; readonly text: string; readonly json: JsonValue | undefined }
  | { readonly kind: "binary"; readonly mediaType: string };

const textTypes =
  /^(?:text\/.*|application\/(?:.*\+)?(?:json|xml|yaml|x-yaml|ndjson|x-ndjson|jsonlines|javascript|ecmascript|x-www-form-urlencoded|graphql|toml|csv|sql|x-sh|json-seq)|application\/problem\+json|image\/svg\+xml|message\/.*|multipart\/mixed)$/;
const jsonTypes = /^(?:application|text)\/(?:.*\+)?json$/;

/** Longest text that is parsed as JSON, in UTF-16 code units; a longer one stays text. */
const jsonMaxLength = 16 * 1024 * 1024;

/** Decodes `body`. */
export function decodeBody(contentType: string | undefined, body: Uint8Array): DecodedBody {
  if (body.length === 0) return { kind: "empty" };
  const { mediaType, charset } = parseContentType(contentType ?? "");
  if (mediaType !== "" && mediaType !== "application/octet-stream" && !textTypes.test(mediaType))
    return { kind: "binary", mediaType };
  const isDeclared = textTypes.test(mediaType);
  const text = decodeText(body, isDeclared ? charset : "utf-8", !isDeclared);
  if (text === undefined) return { kind: "binary", mediaType: mediaType || "application/octet-stream" };
  const isJson = jsonTypes.test(mediaType) || (mediaType === "" && /^\s*[{[]/.test(text));
  return { kind: "text", text, json: isJson ? readJson(text) : undefined };
}

/** Splits `text/html; charset=utf-8` into its parts, in lower case. */
function parseContentType(value: string): { readonly mediaType: string; readonly charset: string } {
  const mediaType = /^\s*([^;\s]*)/.exec(value)?.[1]?.toLowerCase() ?? "";
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)"?/i.exec(value)?.[1]?.toLowerCase() ?? "utf-8";
  return { mediaType, charset };
}

/** Returns `undefined` when `isGuess` and the bytes are not text. */
function decodeText(body: Uint8Array, charset: string, isGuess: boolean): string | undefined {
  if (isGuess && body.includes(0)) return undefined;
  try {
    return new TextDecoder(charset, { fatal: isGuess }).decode(body);
  } catch {
    // Not UTF-8, or an unknown charset.
    return isGuess ? undefined : new TextDecoder().decode(body);
  }
}

function readJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text, { maxLength: jsonMaxLength });
  } catch (error) {
    if (isCodedError(error)) return undefined;
    throw error;
  }
}
