/**
 * The forms in which a secret value may come back from a server that was given
 * it: as it is, escaped, percent-encoded, in hexadecimal, in base64 alone or
 * inside a longer text, reversed, and line by line. Pure.
 */

/** Shorter values occur in ordinary text and would damage it. */
export const secretMinLength = 6;

/** Lines of this length that are one word are secret by themselves, such as those of a PEM block. */
const lineMinLength = 32;

/** Every form of `value` that is looked for. */
export function secretFormsOf(value: string): ReadonlySet<string> {
  const forms = new Set<string>();
  const bare = value.replace(/^\s*(?:Bearer|Basic|Token)\s+/i, "").trim();
  for (const one of new Set([value, value.trim(), bare, ...secretLines(value)])) {
    for (const form of encodingsOf(one.toWellFormed())) if (form.length >= secretMinLength) forms.add(form);
  }
  return forms;
}

/** Standard error and logs come by lines, so a value of several is looked for by lines too. */
function secretLines(value: string): readonly string[] {
  if (!value.includes("\n")) return [];
  return value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= lineMinLength && !/\s/.test(line));
}

function encodingsOf(value: string): readonly string[] {
  if (value.length < secretMinLength) return [];
  const json = JSON.stringify(value).slice(1, -1);
  const percent = encodeURIComponent(value);
  // encodeURIComponent leaves !'()* alone; most other encoders do not.
  const strict = percent.replace(/[!'()*]/g, toPercent);
  const hex = Buffer.from(value, "utf8").toString("hex");
  return [
    value,
    json,
    json.replace(/[\u007f-\uffff]/g, toUnicodeEscape),
    // JSON text within a JSON string.
    JSON.stringify(json).slice(1, -1),
    encodeURI(value),
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    strict,
    strict.replaceAll("%20", "+"),
    value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
    value.replace(/[&<>"']/g, (character) => entities[character] as string),
    hex,
    hex.toUpperCase(),
    ...base64Of(value),
    [...value].reverse().join(""),
  ];
}

const entities: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function toPercent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function toUnicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * The value in base64 at each of the three places where it can begin in a longer
 * text (`user:SECRET`), as far as it alone decides the characters, and whole.
 */
function base64Of(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  const forms = [bytes.toString("base64").replace(/=+$/, "")];
  for (const before of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const first = Math.ceil((before * 8) / 6);
    forms.push(shifted.slice(first, Math.floor(((before + bytes.length) * 8) / 6)));
  }
  return [...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}
