/** Formats of credentials, such as `Bearer {token}`. */

/** How to write the format of a credential. */
export const formatHint = 'write the text around the token: format: "Bearer {token}"';

/** What is wrong with the format of a credential; never quotes it, because it may be the secret. */
export function formatFault(format: string): string | undefined {
  if (!format.includes("{token}")) return "must contain {token}";
  return /^[\t\x20-\x7e]*$/.test(format) ? undefined : "holds characters that a header cannot carry";
}
