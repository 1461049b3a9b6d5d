/** What a secret's name and value may be. Pure; never quotes what it refuses, which may be a secret at the wrong place. */

import { SecretsError } from "./secrets-error.ts";

/** Longest secret, in bytes. */
export const secretMaxBytes = 64 * 1024;

const namePattern = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,126}[A-Za-z0-9_-])?$/;

/** Whether `name` can be a secret's: letters, digits, `_`, `-` and inner `.`, at most 128. */
export function isSecretName(name: string): boolean {
  return namePattern.test(name);
}

/** @throws {SecretsError} `SECRETS_NAME_INVALID`. */
export function checkSecretName(name: string): void {
  if (isSecretName(name)) return;
  throw new SecretsError("SECRETS_NAME_INVALID", "Cannot use this as the name of a secret", {
    hint: "a name has letters, digits, _ - and . (at most 128), and no . at either end",
  });
}

/** @throws {SecretsError} `SECRETS_VALUE_INVALID`. */
export function checkSecretValue(value: string): void {
  const problem = problemOf(value);
  if (problem === undefined) return;
  throw new SecretsError("SECRETS_VALUE_INVALID", `Cannot keep this secret: ${problem}`, {
    hint: `a secret is text of 1 to ${secretMaxBytes.toLocaleString("en")} bytes`,
  });
}

function problemOf(value: string): string | undefined {
  if (value.trim() === "") return "it is empty";
  if (!value.isWellFormed()) return "it is not text in UTF-8";
  if (value.includes("\0")) return "it holds a NUL character";
  return Buffer.byteLength(value) > secretMaxBytes
    ? `it is longer than ${secretMaxBytes.toLocaleString("en")} bytes`
    : undefined;
}

/**
 * The secret that `bytes` are, without one trailing line break.
 *
 * @param what where they are from, such as `the secret file "/a"`.
 * @throws {SecretsError} `SECRETS_UNUSABLE`.
 */
export function toSecretValue(bytes: Uint8Array, what: string): string {
  const unusable = (problem: string, hint: string) =>
    new SecretsError("SECRETS_UNUSABLE", `Cannot use ${what}: ${problem}`, { hint });
  if (bytes.length > secretMaxBytes) {
    throw unusable(
      `it is longer than ${secretMaxBytes.toLocaleString("en")} bytes`,
      "name a file that holds nothing but the secret",
    );
  }
  let value: string;
  try {
    value = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch {
    throw unusable("it is not text in UTF-8", "store the secret as text");
  }
  if (value.trim() === "") throw unusable("it is empty", "put the secret into it");
  return value;
}
