/** The forms of SHA-256 digests in files of packages. */

/** Whether `value` is a digest as `digestArchive` gives it: `sha256:` and 64 hexadecimal digits. */
export function isDigest(value: unknown): value is string {
  return typeof value === "string" && value.startsWith("sha256:") && isSha256(value.slice("sha256:".length));
}

/** Whether `value` is a SHA-256 of 64 hexadecimal digits in lower case. */
export function isSha256(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}
