/** The names of secrets in status and audit. */

import type { SecretRef } from "@toolcrib/config";

/** Name of the place where a secret is kept, for people. */
export function secretNameOf(ref: SecretRef): string {
  if (ref.kind === "file") return `file:${ref.path}`;
  return ref.kind === "named" || ref.kind === "store" ? ref.name : `${ref.kind}:${ref.name}`;
}
