/**
 * Parses `WWW-Authenticate` (RFC 9110, section 11.6.1): the first challenge of the scheme Bearer,
 * with the parameters of RFC 6750 and RFC 9728. Invalid text is no challenge.
 */

/** The parameters of a Bearer challenge that a client uses. */
export interface BearerChallenge {
  /** `invalid_token`, `insufficient_scope`, …; absent without a credential. */
  readonly error: string | undefined;
  /** The scopes that the request needs. */
  readonly scopes: readonly string[] | undefined;
  /** URL of the protected resource metadata. */
  readonly resourceMetadata: string | undefined;
}

/** Longest header that is read, in characters. */
const headerMaxLength = 8192;
/** Maximum number of scopes of a challenge, a configuration or a login. */
export const scopesMaxCount = 100;

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = new RegExp(`(${token})[ \\t]*=[ \\t]*(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`, "y");

/** Returns the first Bearer challenge of a header. */
export function parseChallenge(header: string | readonly string[] | undefined): BearerChallenge | undefined {
  const text = typeof header === "string" ? header : header?.join(", ");
  if (text === undefined || text.length > headerMaxLength) return undefined;
  const start = bearerStart(text);
  if (start === undefined) return undefined;
  const parameters = readParameters(text, start);
  const scope = parameters.get("scope");
  return {
    error: parameters.get("error"),
    scopes: scope === undefined ? undefined : parseScopes(scope),
    resourceMetadata: parameters.get("resource_metadata"),
  };
}

/** Splits a list of scopes (RFC 6749, section 3.3); leaves out what is none. */
export function parseScopes(text: string): readonly string[] {
  const found = text.split(" ").filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(scope));
  return [...new Set(found)].slice(0, scopesMaxCount);
}

/** Returns the position after the scheme Bearer, outside of quoted texts. */
function bearerStart(text: string): number | undefined {
  const scheme = /"(?:[^"\\]|\\.)*"|(?:^|,)[ \t]*bearer(?=[ \t]|$)/giy;
  for (let at = 0; at < text.length; ) {
    scheme.lastIndex = at;
    const found = scheme.exec(text);
    if (found === null) at += 1;
    else if (found[0].startsWith('"')) at = scheme.lastIndex;
    else return scheme.lastIndex;
  }
  return undefined;
}

/** Reads parameters until something else follows, such as the next challenge. The first value of a name counts. */
function readParameters(text: string, start: number): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  let at = start;
  for (;;) {
    at += /^[ \t,]*/.exec(text.slice(at))?.[0].length ?? 0;
    parameter.lastIndex = at;
    const found = parameter.exec(text);
    if (found === null) return parameters;
    at = parameter.lastIndex;
    const name = (found[1] as string).toLowerCase();
    if (!parameters.has(name)) parameters.set(name, found[2]?.replace(/\\(.)/g, "$1") ?? found[3] ?? "");
  }
}
