/**
 * Recognizes one plain POST in one piece of input, which is how clients send nearly every call. Whatever is not of
 * the strict form below is left to the parser of `node:http`; this file refuses nothing and interprets nothing that
 * two readers of HTTP could understand in two ways.
 *
 * The form (a subset of RFC 9112): the input is exactly one request; its request line is `POST`, a path of unreserved
 * characters, `HTTP/1.1`; each header is a name of letters, digits and hyphens that occurs once, a colon, at most one
 * space, and printable ASCII without a space at either end; the length of the body is a decimal `Content-Length`; and
 * no header changes the framing or the connection.
 */

/** A request that was recognized. */
export interface WholeHead {
  /** Path and query as sent. */
  readonly url: string;
  /** By name in lower case. */
  readonly headers: { readonly [name: string]: string };
  /** Bytes of the body. */
  readonly bodyLength: number;
  /** Position in the head of the decimal that says so. */
  readonly lengthAt: number;
}

const requestLine = /^POST (\/[A-Za-z0-9._~/?=&%-]*) HTTP\/1\.1\r\n/;
const headerLine = /([A-Za-z0-9-]+): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?\r\n/y;
const lengthHeader = "content-length";
const digitsMax = 9;
const decimal = /^[0-9]{1,9}$/;
const lineEnd = "\r\n";
const endOfHead = "\r\n\r\n";
const maxHeaders = 64;

/** Headers that change where a message ends, or what becomes of its connection. */
const leftToNode: ReadonlySet<string> = new Set([
  "expect",
  "http2-settings",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Returns the length of the head of `input` with its empty line, if it starts with a POST and the head is at most
 * `maxBytes` long; otherwise undefined.
 */
export function headLengthOf(input: Buffer, maxBytes: number): number | undefined {
  // "POST": most other input differs in its first byte.
  if (input[0] !== 0x50 || input[1] !== 0x4f) return undefined;
  const end = input.indexOf(endOfHead, 0, "latin1");
  return end === -1 || end > maxBytes ? undefined : end + endOfHead.length;
}

/** Parses a head with its empty line; undefined when it is not of the strict form. */
export function parseHead(head: string): WholeHead | undefined {
  const line = requestLine.exec(head);
  if (line === null) return undefined;
  const headers: { [name: string]: string } = {};
  let at = line[0].length;
  let lengthAt = 0;
  const end = head.length - 2;
  for (let count = 0; at < end; count += 1) {
    headerLine.lastIndex = at;
    const header = headerLine.exec(head);
    if (header === null || count === maxHeaders) return undefined;
    const name = (header[1] as string).toLowerCase();
    const value = header[2] ?? "";
    if (Object.hasOwn(headers, name) || leftToNode.has(name)) return undefined;
    if (name === "connection" && value.toLowerCase() !== "keep-alive") return undefined;
    headers[name] = value;
    at += header[0].length;
    if (name === lengthHeader) lengthAt = at - lineEnd.length - value.length;
  }
  const length = headers[lengthHeader];
  if (length === undefined || !decimal.test(length)) return undefined;
  return { url: line[1] as string, headers, bodyLength: Number(length), lengthAt };
}

/**
 * Recognizes the head that a client sends again, byte for byte except for the length of its body. Comparing takes a
 * fraction of the time of parsing, with the same result.
 */
export class RepeatedHead {
  readonly #head: WholeHead;
  readonly #beforeLength: Buffer;
  readonly #afterLength: Buffer;

  /** @param bytes the head with its empty line, which was parsed as `head` */
  constructor(bytes: Buffer, head: WholeHead) {
    const { headers, lengthAt } = head;
    this.#head = head;
    this.#beforeLength = Buffer.from(bytes.subarray(0, lengthAt));
    this.#afterLength = Buffer.from(bytes.subarray(lengthAt + (headers[lengthHeader] as string).length));
  }

  /** Returns the head at the beginning of `input` and its length; undefined for another one, or more than `maxBytes`. */
  find(
    input: Buffer,
    maxBytes: number,
  ): { readonly head: WholeHead; readonly headLength: number } | undefined {
    const before = this.#beforeLength;
    const after = this.#afterLength;
    let at = before.length;
    let bodyLength = 0;
    for (let digit = digitAt(input, at); digit !== undefined; digit = digitAt(input, at)) {
      bodyLength = 10 * bodyLength + digit;
      at += 1;
    }
    const count = at - before.length;
    const headLength = at + after.length;
    if (count === 0 || count > digitsMax || headLength > Math.min(input.length, maxBytes)) return undefined;
    if (before.compare(input, 0, before.length) !== 0) return undefined;
    if (after.compare(input, at, headLength) !== 0) return undefined;
    return { head: this.#withLength(input, bodyLength, count), headLength };
  }

  #withLength(input: Buffer, bodyLength: number, count: number): WholeHead {
    const head = this.#head;
    const given = head.headers[lengthHeader] as string;
    if (bodyLength === head.bodyLength && count === given.length) return head;
    const digits = input.toString("latin1", head.lengthAt, head.lengthAt + count);
    return { ...head, bodyLength, headers: { ...head.headers, [lengthHeader]: digits } };
  }
}

/** Returns the decimal digit at `at`; undefined for anything else. */
function digitAt(input: Buffer, at: number): number | undefined {
  const digit = (input[at] ?? 0) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : undefined;
}
