/**
 * Escapes characters that must not reach a terminal, an editor or a model:
 * controls (C0, DEL, C1), bidirectional marks and overrides, line and paragraph
 * separators, invisible characters that can carry hidden text (zero width,
 * tags, variation selectors, fillers) and halves of surrogate pairs. They are
 * written as `\uXXXX`, which JSON parses to the same text.
 */

const invisible =
  "\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f" +
  "\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb";
/** U+E0000 to U+E03FF: tags and supplementary variation selectors. */
const tags = "\\udb40[\\udc00-\\udfff]";
const loneSurrogate = "[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]";

/** The only unsafe ASCII character that `JSON.stringify` does not escape. */
const del = "\u007f";
const unsafeInJson = new RegExp(`[${invisible}]|${tags}`);
const everyUnsafeInJson = new RegExp(unsafeInJson, "g");
const everyUnsafe = new RegExp(`[\\u0000-\\u001f${invisible}]|${tags}|${loneSurrogate}`, "g");

/**
 * Returns `json` with every unsafe character escaped. It must come from
 * `JSON.stringify` without indentation, which escapes C0 and lone surrogates.
 */
export function escapeJson(json: string): string {
  // Most records are ASCII, which has as many bytes as characters: no pattern is needed.
  if (Buffer.byteLength(json) === json.length && !json.includes(del)) return json;
  return unsafeInJson.test(json) ? json.replace(everyUnsafeInJson, toEscapes) : json;
}

/**
 * Returns `text` with every control, bidirectional, invisible and unpaired
 * character written as `\uXXXX` (line feeds and tabs too), for displaying untrusted
 * text. Texts of parsed audit records need it: parsing removes the escapes of the file.
 */
export function escapeUnsafe(text: string): string {
  return text.replace(everyUnsafe, toEscapes);
}

function toEscapes(characters: string): string {
  let escapes = "";
  for (let at = 0; at < characters.length; at += 1) {
    escapes += `\\u${characters.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return escapes;
}
