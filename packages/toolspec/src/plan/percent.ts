/** Percent-encoding of UTF-8, with the sets of characters that stay unencoded. */

const encoder = new TextEncoder();

function encode(text: string, kept: RegExp): string {
  let result = "";
  for (const byte of encoder.encode(text)) {
    const character = String.fromCharCode(byte);
    result +=
      byte < 0x80 && kept.test(character)
        ? character
        : `%${byte < 16 ? "0" : ""}${byte.toString(16).toUpperCase()}`;
  }
  return result;
}

const plain = /^[A-Za-z0-9_.~-]*$/;

/** Encodes part of one path segment: RFC 3986 unreserved characters and `!$'()*,;:@=` stay. */
export function encodeSegment(text: string): string {
  return plain.test(text) ? text : encode(text, /[A-Za-z0-9_.~!$'()*,;:@=-]/);
}

/** Encodes a name or value of a query: RFC 3986 unreserved characters stay. */
export function encodeQuery(text: string): string {
  return plain.test(text) ? text : encode(text, /[A-Za-z0-9_.~-]/);
}

/** Encodes a name or value of a form (WHATWG `application/x-www-form-urlencoded`). */
export function encodeForm(text: string): string {
  return encode(text, /[A-Za-z0-9_.* -]/).replaceAll(" ", "+");
}
