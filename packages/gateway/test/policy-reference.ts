/**
 * A small reference for decisions about resources and prompts, written from the
 * rules in `docs/reference/configuration.md` and RFC 3986 alone. It imports
 * nothing of the product. It is slow, and patterns may contain `*` only.
 */

/** Lists of patterns over `resources/URI` and `prompts/NAME` of one server. */
export interface ReferenceRules {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Whether `rules` allow `name`: `resources/URI` or `prompts/NAME`. */
export function referenceAllows({ allow, deny = [] }: ReferenceRules, name: string): boolean {
  const isResource = name.startsWith(resources);
  const readings = readingsOf(name);
  const matchAt = (pattern: string, at: number) =>
    toRegExp(readingsOf(pattern)[at] ?? "").test(readings[at] ?? "");
  const places = [...readings.keys()];
  if (deny.some((pattern) => places.some((at) => matchAt(pattern, at)))) return false;
  const isStrict = isResource && deny.some((pattern) => pattern.startsWith(resources) || pattern === "*");
  if (isStrict && !isNormal(name.slice(resources.length))) return false;
  return allow === undefined || allow.some((pattern) => places.every((at) => matchAt(pattern, at)));
}

const resources = "resources/";

function toRegExp(pattern: string): RegExp {
  const literal = (text: string) => text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
  return new RegExp(`^${pattern.split("*").map(literal).join(".*")}$`, "s");
}

/** A prompt has one reading; a resource is read as written, normalized, and as the most tolerant server reads it. */
function readingsOf(name: string): readonly string[] {
  if (!name.startsWith(resources)) return [name];
  const uri = name.slice(resources.length);
  return [uri, decodeSome(normalForm(uri), "/?#[]@!$&'()+,;=%:*"), tolerantForm(uri)];
}

/** The parts of a URI, by the expression of RFC 3986, appendix B. */
function partsOf(uri: string) {
  const [, scheme, , authority, path = "", rest = ""] =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)(\/\/([^/?#]*))?([^?#]*)(.*)$/s.exec(uri) ?? [];
  return scheme === undefined ? undefined : { scheme: scheme.toLowerCase(), authority, path, rest };
}

const ports = new Map([
  ["http", 80],
  ["https", 443],
  ["ws", 80],
  ["wss", 443],
  ["ftp", 21],
]);

function normalForm(uri: string): string {
  return composed(rewrittenBytes(uri));
}

function composed(uri: string): string {
  const parts = partsOf(uri);
  if (parts === undefined) return uri;
  const { scheme, path, rest } = parts;
  let { authority } = parts;
  if (authority === undefined && scheme === "file" && path.startsWith("/")) authority = "";
  if (authority === undefined) return `${scheme}:${withoutDots(path)}${rest}`;
  const user = authority.includes("@") ? authority.slice(0, authority.lastIndexOf("@") + 1) : "";
  let host = authority.slice(user.length).toLowerCase();
  if (host.endsWith(`:${ports.get(scheme)}`)) host = host.slice(0, host.lastIndexOf(":"));
  if (host.endsWith(":")) host = host.slice(0, -1);
  if (scheme === "file" && host === "localhost") host = "";
  const root = path === "" && ports.has(scheme) ? "/" : withoutDots(path);
  return `${scheme}://${user}${host}${root}${rest}`;
}

function withoutDots(path: string): string {
  if (!path.startsWith("/")) return path;
  const result: string[] = [];
  const segments = path.slice(1).split("/");
  segments.forEach((segment, index) => {
    const isLast = index === segments.length - 1;
    if (segment === "..") result.pop();
    if (segment !== "." && segment !== "..") result.push(segment);
    else if (isLast && result.length > 0) result.push("");
  });
  return `/${result.join("/")}`;
}

/** Each percent-encoded byte in upper case, or decoded where it needs no encoding. */
function rewrittenBytes(uri: string): string {
  return uri.replace(/%([0-9a-f]{2})/gi, (whole, hex: string) => {
    const char = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(char) ? char : whole.toUpperCase();
  });
}

/** `uri` as characters: decoded but for `kept`. Spaces and letters beyond ASCII compare equal in both forms. */
function decodeSome(uri: string, kept: string): string {
  return uri.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) =>
    [...Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8")]
      .map((char) => (kept.includes(char) ? `%${char.charCodeAt(0).toString(16).toUpperCase()}` : char))
      .join(""),
  );
}

/** Decodes everything, reads `\` as `/`, and drops fragment, user and empty segments. */
function tolerantForm(uri: string): string {
  const text = decodeSome(uri.split("#", 1)[0] ?? "", "?#").replaceAll("\\", "/");
  const parts = partsOf(text);
  if (parts === undefined) return text;
  const host = parts.authority?.slice(parts.authority.lastIndexOf("@") + 1);
  const slashes = host === undefined ? "" : `//${host}`;
  return composed(`${parts.scheme}:${slashes}${parts.path.replace(/\/+/g, "/")}${parts.rest}`);
}

/** Schemes whose authority is a host by their definition. */
const hostSchemes: readonly string[] = ["file", ...ports.keys()];

function isNormal(uri: string): boolean {
  const codes = [...uri].map((char) => char.codePointAt(0) ?? 0);
  if (codes.some((code) => code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0x5c)) return false;
  if (uri.trim() !== uri || rewrittenBytes(uri) !== uri || /%(?![0-9A-F]{2})/.test(uri)) return false;
  const parts = partsOf(uri);
  if (parts === undefined) return true;
  const segments = decodeSome(parts.path, "").replaceAll("\\", "/").split("/");
  if (segments.some((segment) => segment === "." || segment === "..")) return false;
  return hostSchemes.includes(parts.scheme) ? composed(uri) === uri : uri.startsWith(`${parts.scheme}:`);
}
