/**
 * Converts descriptions for models to one line of plain text of limited length,
 * without HTML and Markdown markup and without invisible characters. Pure; does not
 * change the author's words.
 */

const entities: { readonly [name: string]: string } = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  mdash: "—",
  ndash: "–",
  hellip: "…",
  bull: "•",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
};

/** Longest text that is read, in UTF-16 code units; hardly anything after it would be kept. */
const lookedAtLength = 8000;

/** Returns `text` as one line of at most `maxLength` characters, cut after a sentence or a word. */
export function toPlainLine(text: string, maxLength: number): string {
  return cutLine(plain(text.slice(0, lookedAtLength)), maxLength);
}

/** Linear in the text: no pattern starts where a failed match of the same pattern ended. */
function plain(text: string): string {
  return text
    .replace(/[^\S\n]+/g, " ")
    .replace(/```[^\n]*\n[\s\S]*?(?:```|$)/g, " ")
    .replace(/<!--[\s\S]*?(?:-->|$)/g, " ")
    .replace(/<(?:script|style)\b[\s\S]*?(?:<\/(?:script|style)\s*>|$)/gi, " ")
    .replace(/<\/?(?:p|br|div|li|ul|ol|h[1-6]|tr|table)\b[^<>]*>/gi, " ")
    .replace(/<\/?[a-z][a-z0-9-]*(?:\s[^<>]*)?\/?>/gi, "")
    .replace(/!\[[^[\]]*\]\([^()\n]*\)/g, " ")
    .replace(/\[([^[\]]+)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)/g, "$1")
    .replace(/\[([^\]\n]+)\]\[[^\]\n]*\]/g, "$1")
    .replace(/^ ?\|?[-|: ]{3,}$/gm, " ")
    .replace(/^ ?#{1,6} /gm, "")
    .replace(/^ ?> ?/gm, "")
    .replace(/^ ?[*+-] /gm, "")
    .replace(/\*\*([^*]+)\*\*/g, "$1")
    .replace(/(^|[\s(])__([^_\n]+)__(?=[\s).,:;]|$)/g, "$1$2")
    .replace(/(^|[\s(])[*]([^*\n]+)[*](?=[\s).,:;]|$)/g, "$1$2")
    .replace(/(^|[\s(])_([^_\n]+)_(?=[\s).,:;]|$)/g, "$1$2")
    .replace(/`+([^`\n]*)`+/g, "$1")
    .replace(/\\([\\`*_{}[\]()#+.!|-])/g, "$1")
    .replace(/&(?:#([0-9]{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, readEntity)
    .replace(/[\p{Cc}\u2028\u2029]/gu, " ")
    .replace(/[\p{Cf}\p{Co}\p{Cs}]/gu, "")
    .replace(/\s+/g, " ")
    .trim();
}

function readEntity(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) {
    const known = entities[name.toLowerCase()];
    return Object.hasOwn(entities, name.toLowerCase()) && known !== undefined ? known : whole;
  }
  const code = decimal === undefined ? Number.parseInt(hex ?? "0", 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : " ";
}

/** Returns one line, cut after the last sentence that fits, or else after a word. */
export function cutLine(line: string, maxLength: number): string {
  if (line.length <= maxLength) return line;
  const head = line.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "");
  const sentence = head.search(/[.!?](?= [^.!?]*$)/);
  if (sentence >= maxLength / 2) return head.slice(0, sentence + 1);
  const word = head.lastIndexOf(" ");
  return `${(word >= maxLength / 2 ? head.slice(0, word) : head).replace(/[\s,;:.-]+$/, "")}…`;
}

/** Joins texts, each ending like a sentence; empty ones are left out. */
export function sentences(parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part): part is string => part !== undefined && part !== "")
    .map((part, index, all) => (index < all.length - 1 && !/[.!?…:]$/.test(part) ? `${part}.` : part))
    .join(" ");
}
