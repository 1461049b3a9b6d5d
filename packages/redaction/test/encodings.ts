/** The encodings that the tests of this package write secrets in. */

/** One encoding, and how it writes a secret. */
export interface Encoding {
  readonly title: string;
  readonly encode: (secret: string) => string;
  /** `whole`: the encoded secret is replaced and nothing else. `within`: characters at the edges can remain. */
  readonly extent: "whole" | "within";
}

const hex = (secret: string): string => Buffer.from(secret).toString("hex");
const bytes = (secret: string): string[] => hex(secret).match(/../g) ?? [];
const every = (of: number, secret: string, one: (character: string) => string): string =>
  Array.from(secret, (character, at) => (at % of === 0 ? one(character) : character)).join("");
const percent = (character: string): string =>
  bytes(character)
    .map((byte) => `%${byte}`)
    .join("");
const unicode = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
const wrap = (text: string, width: number, end: string): string =>
  text.match(new RegExp(`.{1,${width}}`, "g"))?.join(end) ?? "";
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const names: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  "/": "&sol;",
  "+": "&plus;",
  "=": "&equals;",
  "%": "&percnt;",
  "\\": "&bsol;",
  _: "&lowbar;",
  ":": "&colon;",
  "!": "&excl;",
  "@": "&commat;",
};

const whole = (title: string, encode: (secret: string) => string): Encoding => ({
  title,
  encode,
  extent: "whole",
});
const within = (title: string, encode: (secret: string) => string): Encoding => ({
  title,
  encode,
  extent: "within",
});

/** Every encoding that is recognized in texts and in byte streams. */
export const encodings: readonly Encoding[] = [
  whole("plain", (secret) => secret),
  whole("in upper case", (secret) => secret.toUpperCase()),
  whole("in lower case", (secret) => secret.toLowerCase()),
  whole("with every second letter in the other case", (secret) =>
    every(2, secret, (one) => (one === one.toUpperCase() ? one.toLowerCase() : one.toUpperCase())),
  ),
  whole("reversed", (secret) => Array.from(secret).reverse().join("")),
  whole("reversed, in upper case", (secret) => Array.from(secret).reverse().join("").toUpperCase()),
  whole("percent-encoded", encodeURIComponent),
  whole("percent-encoded in lower case", (secret) =>
    encodeURIComponent(secret).replace(/%../g, (at) => at.toLowerCase()),
  ),
  whole("percent-encoded in full", (secret) => Array.from(secret, percent).join("")),
  whole("percent-encoded in every third character", (secret) => every(3, secret, percent)),
  whole("percent-encoded twice", (secret) => encodeURIComponent(encodeURIComponent(secret))),
  whole("percent-encoded twice in full", (secret) =>
    Array.from(secret, percent).join("").replaceAll("%", "%25"),
  ),
  whole("as a form field", (secret) => new URLSearchParams({ v: secret }).toString().slice(2)),
  whole("in a JSON string", (secret) => JSON.stringify(secret).slice(1, -1)),
  whole("in a JSON string with escaped slashes", (secret) =>
    JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/"),
  ),
  whole("in JSON inside JSON", (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3)),
  whole("in Unicode escapes", (secret) => Array.from(secret, unicode).join("")),
  whole("in Unicode escapes of every second character", (secret) => every(2, secret, unicode)),
  whole("in Unicode escapes in upper case", (secret) =>
    Array.from(secret, (one) => unicode(one).toUpperCase().replaceAll("U", "u")).join(""),
  ),
  whole("as HTML with names", (secret) => secret.replace(/./gsu, (one) => names[one] ?? one)),
  whole("as decimal HTML entities", (secret) =>
    Array.from(secret, (one) => `&#${one.codePointAt(0)};`).join(""),
  ),
  whole("as hexadecimal HTML entities", (secret) =>
    Array.from(secret, (one) => `&#x00${one.codePointAt(0)?.toString(16)};`).join(""),
  ),
  whole("as HTML entities of every second character", (secret) =>
    every(2, secret, (one) => `&#X${one.codePointAt(0)?.toString(16)};`),
  ),
  whole("as HTML that is escaped twice", (secret) =>
    Array.from(secret, (one) => `&amp;#${one.codePointAt(0)};`).join(""),
  ),
  whole("in base64", base64),
  whole("in base64 without padding", (secret) => base64(secret).replace(/=+$/, "")),
  whole("in base64 for URLs", (secret) => Buffer.from(secret).toString("base64url")),
  whole("in base64, wrapped with CRLF", (secret) => wrap(base64(secret), 16, "\r\n")),
  whole("in base64, wrapped with LF", (secret) => wrap(base64(secret), 10, "\n")),
  whole("in base64, wrapped and indented", (secret) => wrap(base64(secret), 16, "\n    ")),
  whole("in base64, wrapped and indented with tabs", (secret) => wrap(base64(secret), 9, "\r\n\t\t")),
  whole("in base64, wrapped after each character and indented", (secret) => wrap(base64(secret), 1, "\n  ")),
  whole("in base64, wrapped and indented inside a JSON string", (secret) =>
    wrap(base64(secret), 12, "\\n\\t  "),
  ),
  whole("in base64, wrapped after each character", (secret) => wrap(base64(secret), 1, "\n")),
  whole("in base64, wrapped inside a JSON string", (secret) => wrap(base64(secret), 12, "\\r\\n")),
  whole("in base64, percent-encoded", (secret) => encodeURIComponent(base64(secret))),
  whole("in base64 of JSON", (secret) => base64(JSON.stringify(secret).slice(1, -1))),
  within("in base64, one byte into a longer text", (secret) => base64(`u${secret}:more`)),
  within("in base64, two bytes into a longer text", (secret) => base64(`us${secret}:more`)),
  within("in base64, three bytes into a longer text", (secret) => base64(`use${secret}:more`)),
  within("in base64 for URLs inside a longer text, wrapped", (secret) =>
    wrap(Buffer.from(`user:${secret} and more`).toString("base64url"), 20, "\n"),
  ),
  whole("in hexadecimal", hex),
  whole("in hexadecimal in upper case", (secret) => hex(secret).toUpperCase()),
  ...[":", " ", "-", ",", ", ", "\t", "  ", "\n", "\r\n", ",0x", ", 0x", " 0x", "0X", ", 0X"].map(
    (separator) =>
      whole(`in hexadecimal with ${JSON.stringify(separator)}`, (secret) => bytes(secret).join(separator)),
  ),
  whole("in upper-case hexadecimal with colons", (secret) => bytes(secret).join(":").toUpperCase()),
  whole("in hexadecimal with percent-encoded colons", (secret) => bytes(secret).join("%3A")),
  whole("in hexadecimal escapes", (secret) => bytes(secret).join("\\x")),
  whole("in hexadecimal of a URL", (secret) => hex(encodeURIComponent(secret))),
];
