/**
 * Characters that must not reach a terminal, an editor or a model as they are:
 * controls (C0, DEL, C1), bidirectional marks and overrides, line and paragraph
 * separators, invisible characters that can carry hidden text (zero width,
 * tags, variation selectors, fillers) and halves of surrogate pairs. They are
 * written as `\uXXXX`, which JSON reads back as the same text.
 */

const invisible =
  "\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f" +
  "\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb";
/** U+E0000 to U+E03FF: tags and the further variation selectors. */
const tags = "\\udb40[\\udc00-\\udfff]";
const loneSurrogate = "[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]";

/** The only unsafe character of JSON that is ASCII. */
const del = "\u007f";
const unsafeInJson = new RegExp(`[${invisible}]|${tags}`);
const everyUnsafeInJson = new RegExp(unsafeInJson, "g");
const everyUnsafe = new RegExp(`[\\u0000-\\u001f${invisible}]|${tags}|${loneSurrogate}`, "g");

/**
 * `json` with every unsafe character escaped. It must come from
 * `JSON.stringify` without indentation, which has escaped C0 and lone surrogates.
 */
export function escapeJson(json: string): string {
  // Most records are plain ASCII, which has as many bytes as characters and takes no pattern to tell.
  if (Buffer.byteLength(json) === json.length && !json.includes(del)) return json;
  return unsafeInJson.test(json) ? json.replace(everyUnsafeInJson, toEscapes) : json;
}

/**
 * `text` with every control, bidirectional, invisible and unpaired character
 * written as `\uXXXX` (line feeds and tabs too), for showing what others wrote.
 * Texts of audit records need it: the escapes of the file are gone once a line is parsed.
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
