/**
 * Parses the text of a message or a batch. The id and the progress token of a request come back as they were sent, or
 * the request is refused. JavaScript writes some numbers in another way than the text (1.0, 1e2, 1.00000000000000001):
 * such an id is replaced by NaN, which no JSON contains and `classify` refuses, and so is a progress token that is
 * another number than its text. 1.0 and 1e2 are integers to the schema of MCP, so a progress token may be written so
 * and comes back as the same number. Integers that are too large are refused by their values.
 */

import { isJsonObject, type JsonLimits, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";

/** The member `id`, also written with escapes, before a number that is not written as a plain integer. */
const unusualId = /"(?:i|\\u0069)(?:d|\\u0064)"\s*:\s*(?:-?\d+[.eE]|-0)/;
/** The same for names that can be `progressToken`. */
const unusualToken = /"(?:p|\\u0070)[^"]{12,72}"\s*:\s*-?\d+[.eE]/;

/** @throws {JsonError} as `parseJson` */
export function parseMessage(text: string, limits: JsonLimits): JsonValue {
  const value = parseJson(text, limits);
  const messages = Array.isArray(value) ? value : [value];
  // A few members decide for most texts.
  const isIdUnusual = messages.some(hasNumber) && unusualId.test(text);
  const isTokenUnusual = messages.some((one) => metaWithNumber(one) !== undefined) && unusualToken.test(text);
  if (!isIdUnusual && !isTokenUnusual) return value;
  const { ids, tokens } = changedNumbers(text, Array.isArray(value));
  for (const index of ids) {
    const message = messages[index];
    // An answer means the request of this side whose id has the value.
    if (isJsonObject(message) && message["method"] !== undefined)
      (message as { id: JsonValue }).id = Number.NaN;
  }
  for (const index of tokens) {
    const meta = metaWithNumber(messages[index]);
    if (meta !== undefined) (meta as { progressToken: JsonValue }).progressToken = Number.NaN;
  }
  return value;
}

function hasNumber(message: JsonValue): boolean {
  return isJsonObject(message) && typeof message["id"] === "number";
}

/** Returns the `_meta` of a request whose progress token is a number. */
function metaWithNumber(message: JsonValue | undefined): JsonObject | undefined {
  const params = isJsonObject(message) ? message["params"] : undefined;
  const meta = isJsonObject(params) ? params["_meta"] : undefined;
  return isJsonObject(meta) && typeof meta["progressToken"] === "number" ? meta : undefined;
}

/** Indexes of messages. */
interface ChangedNumbers {
  /** Those whose ids are numbers in another form than their shortest. */
  readonly ids: ReadonlySet<number>;
  /** Those whose progress tokens become other numbers. */
  readonly tokens: ReadonlySet<number>;
}

/** Finds the numbers of messages in valid JSON that do not come back as they were sent. */
function changedNumbers(text: string, isBatch: boolean): ChangedNumbers {
  const ids = new Set<number>();
  const tokens = new Set<number>();
  const messageDepth = isBatch ? 2 : 1;
  let depth = 0;
  let index = 0;
  /** The last names in a message, in its `params` and in their `_meta`, as they are written. */
  const names = ["", "", ""];
  const isNamed = (level: number, name: string) => JSON.parse(names[level] || '""') === name;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at];
    const level = depth - messageDepth;
    if (unit === '"') {
      const end = endOfString(text, at);
      // A value is a name only where a colon follows.
      if (level >= 0 && level < names.length) names[level] = text.slice(at, end + 1);
      at = end;
    } else if (unit === "{" || unit === "[") {
      depth += 1;
      if (level + 1 < names.length) names[level + 1] = "";
    } else if (unit === "}" || unit === "]") depth -= 1;
    else if (unit === "," && depth === messageDepth - 1) index += 1;
    else if (unit === ":" && level === 0) {
      // Of equal names, the last one counts.
      if (isNamed(0, "id")) mark(ids, index, isShortest(numberAfter(text, at)));
      else if (isNamed(0, "params")) tokens.delete(index);
    } else if (unit === ":" && level === 1 && isNamed(0, "params") && isNamed(1, "_meta")) {
      tokens.delete(index);
    } else if (unit === ":" && level === 2 && isNamed(0, "params") && isNamed(1, "_meta")) {
      if (isNamed(2, "progressToken")) mark(tokens, index, isSameNumber(numberAfter(text, at)));
    }
  }
  return { ids, tokens };
}

function mark(changed: Set<number>, index: number, isKept: boolean): void {
  if (isKept) changed.delete(index);
  else changed.add(index);
}

/** More than the longest number in its shortest form, so that the part of a longer one is never equal to that. */
const tokenMaxLength = 1000;

/** Returns the number that follows the colon at `at`; undefined for another value. */
function numberAfter(text: string, at: number): string | undefined {
  const start = endOfSpace(text, at + 1);
  return /^-?\d[\d.eE+-]*/.exec(text.slice(start, start + tokenMaxLength))?.[0];
}

function isShortest(token: string | undefined): boolean {
  return token === undefined || token === String(Number(token));
}

/** Whether a number stays the same when it is read, however it is written. A longer one than those is taken for another. */
function isSameNumber(token: string | undefined): boolean {
  if (token === undefined || isShortest(token)) return true;
  return token.length < tokenMaxLength && decimalOf(token) === decimalOf(String(Number(token)));
}

/** Returns a number as its sign, its digits without zeros at both ends, and the power of ten of the last one. */
function decimalOf(token: string): string {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  if (kept === "") return "0";
  return `${sign}${kept}e${Number(power) - fraction.length + digits.length - kept.length}`;
}

/** Returns the index of the first character at or after `start` that is no white space of JSON. */
function endOfSpace(text: string, start: number): number {
  let at = start;
  while (" \t\n\r".includes(text[at] ?? ".")) at += 1;
  return at;
}

/** Returns the index of the quote that ends the string at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
