/** Checks names and values of secrets. Pure. Errors never quote the input, which may be a misplaced secret. */

import { SecretsError } from "./secrets-error.ts";

/** Longest secret, in bytes. */
export const secretMaxBytes = 64 * 1024;

const namePattern = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,126}[A-Za-z0-9_-])?$/;

/** Returns whether `name` is valid: at most 128 letters, digits, `_`, `-` and inner `.`. */
export function isSecretName(name: string): boolean {
  return namePattern.test(name);
}

/** @throws {SecretsError} `SECRETS_NAME_INVALID`. */
export function checkSecretName(name: string): void {
  if (isSecretName(name)) return;
  throw new SecretsError("SECRETS_NAME_INVALID", "Cannot use this name for a secret", {
    hint: "use at most 128 letters, digits, _ - and . characters, with no . at either end",
  });
}

/** @throws {SecretsError} `SECRETS_VALUE_INVALID`. */
export function checkSecretValue(value: string): void {
  const problem = problemOf(value);
  if (problem === undefined) return;
  throw new SecretsError("SECRETS_VALUE_INVALID", `Cannot store this secret: ${problem}`, {
    hint: `a secret is text of 1 to ${secretMaxBytes.toLocaleString("en")} bytes`,
  });
}

function problemOf(value: string): string | undefined {
  if (value.trim() === "") return "it is empty";
  if (!value.isWellFormed()) return "it is not UTF-8 text";
  if (value.includes("\0")) return "it contains a NUL character";
  return Buffer.byteLength(value) > secretMaxBytes
    ? `it is longer than ${secretMaxBytes.toLocaleString("en")} bytes`
    : undefined;
}

/**
 * Decodes a secret and removes one trailing line break.
 *
 * @param what the place for the error message, such as `the secret file "/a"`.
 * @throws {SecretsError} `SECRETS_UNUSABLE`.
 */
export function toSecretValue(bytes: Uint8Array, what: string): string {
  const unusable = (problem: string, hint: string) =>
    new SecretsError("SECRETS_UNUSABLE", `Cannot use ${what}: ${problem}`, { hint });
  if (bytes.length > secretMaxBytes) {
    throw unusable(
      `it is longer than ${secretMaxBytes.toLocaleString("en")} bytes`,
      "name a file that contains only the secret",
    );
  }
  let value: string;
  try {
    value = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch {
    throw unusable("it is not UTF-8 text", "store the secret as text");
  }
  if (value.trim() === "") throw unusable("it is empty", "write the secret into it");
  return value;
}
