/** Formats of credentials, such as `Bearer {token}`. */

/** Hint for writing the format of a credential. */
export const formatHint = 'write the text around the token: format: "Bearer {token}"';

/** Returns the fault of a credential format; never quotes it, because it can be the secret. */
export function formatFault(format: string): string | undefined {
  if (!format.includes("{token}")) return "must contain {token}";
  return /^[\t\x20-\x7e]*$/.test(format) ? undefined : "contains characters that a header cannot carry";
}

/** Returns the fault of a credential format in schemaVersion 2, where the egress proxy must find the token in the request. */
export function singleFormatFault(format: string): string | undefined {
  return (
    formatFault(format) ?? (format.split("{token}").length > 2 ? "must contain {token} once" : undefined)
  );
}

/** Returns the fault of a credential's path prefix; never quotes it. */
export function pathPrefixFault(prefix: string): string | undefined {
  const count = prefix.split("{token}").length - 1;
  if (count !== 1) return "must contain {token} once";
  if (!prefix.startsWith("/")) return 'must begin with "/"';
  if (prefix.endsWith("/")) return 'must not end with "/": the paths of the tools begin with one';
  const segments = prefix.slice(1).split("/");
  const isPath = segments.every((segment) =>
    /^[A-Za-z0-9_~!$'()*,;:@=.-]+$/.test(segment.replace("{token}", "x")),
  );
  if (!isPath) return "must be segments of letters, digits and _ - . ~ ! $ ' ( ) * , ; : @ =";
  return segments.some((segment) => /^\.\.?$/.test(segment))
    ? 'must not have "." or ".." as a segment'
    : undefined;
}
