/**
 * The spellings of a resource's URI that a policy compares, and the same
 * spellings of a pattern. One resource has many URIs (`FILE:///a`,
 * `file:///%61`, `file:///b/../a`), and servers differ in which of them they
 * accept. A policy therefore compares four spellings, each with the same
 * spelling of the pattern:
 *
 * 1. written: the text as it is
 * 2. normalized (RFC 3986, section 6.2): scheme and host in lower case, no
 *    needless percent-encoding, no dot segments, no default port
 * 3. lenient: normalized, and everything decoded but `?` and `#`, `\` read as
 *    `/`, without empty segments, user name or fragment
 * 4. parsed: what a URL parser of browsers and Node (WHATWG URL) makes of the
 *    URI, then lenient; a pattern has no fourth spelling and uses its third
 *
 * Characters that a URI cannot contain (spaces, letters beyond ASCII) are
 * compared unencoded, so a pattern may contain them.
 *
 * `isNormalizedUri` recognizes a URI that is written in its normal form already.
 *
 * Pure. It decides nothing, and no server receives what it returns.
 */

/** The spellings of a URI or pattern. */
export type Spellings = readonly [written: string, normalized: string, lenient: string, parsed: string];

/** Returns the spellings of `uri`. */
export function spellingsOfUri(uri: string): Spellings {
  const lenient = toLenient(uri, uriParts);
  return [
    uri,
    normalizeUri(decodeNeedless(uri), uriParts),
    lenient,
    URL.canParse(uri) ? toLenient(new URL(uri).href, uriParts) : lenient,
  ];
}

/** Returns the spellings of `pattern`, a glob over names that end in a URI. */
export function spellingsOfPattern(pattern: string): Spellings {
  const found = beforeUri.exec(pattern)?.[0] ?? "";
  const uri = pattern.slice(found.length);
  const lenient = decodeAll(found) + toLenient(uri, patternParts);
  return [pattern, decodeNeedless(found) + normalizeUri(decodeNeedless(uri), patternParts), lenient, lenient];
}

/** Text of a pattern before the scheme: `server:resources/`, or anything up to a wildcard. */
const beforeUri = /^(?:.*?resources\/?|.*?[*?](?=[A-Za-z][A-Za-z0-9+.-]*:\/\/))/s;

/** Scheme, authority, path, and the rest. */
const uriParts =
  /^(?<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?:\/\/(?<authority>[^/?#]*))?(?<path>[^?#]*)(?<rest>.*)$/s;

/** The same of a pattern, whose scheme and host may contain wildcards. */
const patternParts =
  /^(?<scheme>[A-Za-z*?][A-Za-z0-9+.*?-]*):(?:\/\/(?<authority>[^/#]*(?=\/)|[^/?#]*))?(?<path>[^?#]*)(?<rest>.*)$/s;

const defaultPorts: Readonly<Record<string, string>> = {
  ftp: "21",
  http: "80",
  https: "443",
  ws: "80",
  wss: "443",
};

/** Encoded characters that need no encoding (RFC 3986, section 2.3), encodings in lower case, and `%` alone. */
const needlessEncoding = /%(?![0-9A-F]{2})|%(?:2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)/;

/** Schemes whose authority names a host. The authority of other schemes can be a name in which case matters. */
const hostSchemes: ReadonlySet<string> = new Set(["file", ...Object.keys(defaultPorts)]);

/**
 * Whether `uri` is in its normal form (RFC 3986, section 6.2): scheme and host in lower case, no needless
 * percent-encoding, no dot segments, no default port. Spaces and letters beyond ASCII can be written unencoded,
 * backslashes and control characters cannot. A dot segment counts also where its slashes are encoded.
 *
 * @param uri also a template (RFC 6570), whose expressions are not checked
 */
export function isNormalizedUri(uri: string): boolean {
  const text = uri.replace(/\{[+#./;?&]?[\w.,*:]+\}/g, "{}");
  if (/^\s|\s$|[\p{Cc}\\]/u.test(text) || needlessEncoding.test(text)) return false;
  const parts = uriParts.exec(text)?.groups;
  const path = parts?.["path"] ?? text.replace(/[?#].*$/s, "");
  const segments = decodeAll(path).split(/[/\\]/);
  if (segments.includes(".") || segments.includes("..")) return false;
  if (parts === undefined) return true;
  const scheme = parts["scheme"] ?? "";
  if (scheme !== scheme.toLowerCase()) return false;
  const isOpenEnded = path === "" && parts["authority"]?.endsWith("{}") === true;
  return isOpenEnded || !hostSchemes.has(scheme) || normalizeUri(text, uriParts) === text;
}

/** Returns `uri` with a normalized scheme, authority and path; unchanged when it has no scheme. */
function normalizeUri(uri: string, form: RegExp): string {
  const parts = form.exec(uri)?.groups;
  if (parts === undefined) return uri;
  const scheme = (parts["scheme"] ?? "").toLowerCase();
  const path = withoutDotSegments(parts["path"] ?? "");
  const rest = parts["rest"] ?? "";
  // `file:/a`, `file://localhost/a` and `file:///a` are one file (RFC 8089).
  const authority = parts["authority"] ?? (scheme === "file" && path.startsWith("/") ? "" : undefined);
  if (authority === undefined) return `${scheme}:${path}${rest}`;
  const host = normalizeAuthority(authority, scheme);
  const isWildcardNext = form === patternParts && (rest !== "" || authority.endsWith("*"));
  const isRoot = path === "" && Object.hasOwn(defaultPorts, scheme) && !isWildcardNext;
  return `${scheme}://${host}${isRoot ? "/" : path}${rest}`;
}

function normalizeAuthority(authority: string, scheme: string): string {
  const hostAt = authority.lastIndexOf("@") + 1;
  const port = `:${defaultPorts[scheme] ?? ""}`;
  let host = authority.slice(hostAt).toLowerCase();
  if (host.endsWith(port)) host = host.slice(0, -port.length);
  else if (host.endsWith(":")) host = host.slice(0, -1);
  // An absolute domain name ends in a dot.
  host = host.replace(/(?<=[^.])\.(?=$|:)/, "");
  if (scheme === "file" && host === "localhost") host = "";
  return authority.slice(0, hostAt) + host;
}

/** Returns `path` without its segments `.` and `..` (RFC 3986, section 5.2.4). */
function withoutDotSegments(path: string): string {
  if (!path.startsWith("/") || !/\/\.\.?(?:\/|$)/.test(path)) return path;
  const kept: string[] = [];
  const segments = path.split("/").slice(1);
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== ".") kept.push(segment);
  }
  const last = segments.at(-1);
  return `/${kept.join("/")}${(last === "." || last === "..") && kept.length > 0 ? "/" : ""}`;
}

function toLenient(uri: string, form: RegExp): string {
  const decoded = decodeAll(uri.replace(/#.*$/s, "")).replaceAll("\\", "/").normalize("NFC");
  // The slashes before a host stay; what names a user before it goes.
  const single = decoded
    .replace(/(?<![:/])\/{2,}|(?<=:\/\/)\/{2,}/g, "/")
    .replace(/(?<=^[^:/?#]*:\/\/)[^/?#]*@/, "");
  return normalizeUri(single, form);
}

const encodedRun = /(?:%[0-9A-Fa-f]{2})+/g;

/** Returns `text` with only those characters percent-encoded whose decoding would change the URI. */
function decodeNeedless(text: string): string {
  return text.replace(encodedRun, (run) => {
    try {
      return decodeURIComponent(run).replace(reserved, encode);
    } catch {
      // Not UTF-8: its bytes stay encoded.
      return run.replace(/%[0-7][0-9A-Fa-f]/g, decodeByte).replace(/%../g, (byte) => byte.toUpperCase());
    }
  });
}

/** Characters that delimit the parts of a URI (RFC 3986, section 2.2), `%`, and control characters. */
const reserved = /[:/?#[\]@!$&'()*+,;=%\p{Cc}]/gu;

function decodeByte(byte: string): string {
  return decodeURIComponent(byte).replace(reserved, encode);
}

function encode(char: string): string {
  return encodeURIComponent(char).replace(
    /[!'()*]/,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns `text` with every character decoded but `?` and `#`, which would end the path. */
function decodeAll(text: string): string {
  return text.replace(encodedRun, (run) => {
    try {
      return decodeURIComponent(run).replace(/[?#]/g, encode);
    } catch {
      return run.replace(/%(?!23|3f)[0-7][0-9a-f]/gi, (byte) => decodeURIComponent(byte));
    }
  });
}
