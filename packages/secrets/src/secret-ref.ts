/** References to secrets: data that names a place, and never a value. */

/** Location of a secret. `named` is the scalar form of `secret_key_ref`: an environment variable, the store, or a file of the home. */
export type SecretRef =
  | { readonly kind: "named"; readonly name: string }
  | { readonly kind: "env"; readonly name: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "store"; readonly name: string }
  | { readonly kind: "keychain"; readonly name: string };

/** Returns the name of the place of a secret, for status and audit. */
export function secretNameOf(ref: SecretRef): string {
  if (ref.kind === "file") return `file:${ref.path}`;
  return ref.kind === "named" || ref.kind === "store" ? ref.name : `${ref.kind}:${ref.name}`;
}
