/** Formats of credentials, such as `Bearer {token}`. */

/** How to write the format of a credential. */
export const formatHint = 'write the text around the token: format: "Bearer {token}"';

/** What is wrong with the format of a credential; never quotes it, because it may be the secret. */
export function formatFault(format: string): string | undefined {
  if (!format.includes("{token}")) return "must contain {token}";
  return /^[\t\x20-\x7e]*$/.test(format) ? undefined : "holds characters that a header cannot carry";
}

/** What is wrong with the format of a credential that the egress proxy must find again in a request of schemaVersion 2. */
export function singleFormatFault(format: string): string | undefined {
  return (
    formatFault(format) ?? (format.split("{token}").length > 2 ? "must contain {token} once" : undefined)
  );
}

/** What is wrong with the path prefix of a credential; never quotes it. */
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
