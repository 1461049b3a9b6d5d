/** References to secrets: data that names a place, and never a value. */

import { hash } from "node:crypto";

/** Location of a secret. `named` is the scalar form of `secret_key_ref`: an environment variable, the store, or a file of the home. */
export type SecretRef =
  | { readonly kind: "named"; readonly name: string }
  | { readonly kind: "env"; readonly name: string }
  | { readonly kind: "file"; readonly path: string }
  /** `per`: each client has one of its own. `of`: the secret of one client, for messages. */
  | {
      readonly kind: "store";
      readonly name: string;
      readonly per?: "identity";
      readonly of?: { readonly name: string; readonly client: string };
    }
  | { readonly kind: "keychain"; readonly name: string };

/** The client that a secret belongs to. */
interface SecretOwner {
  /** Its `identityKey`. */
  readonly key: string;
  /** Its name in commands. */
  readonly name: string;
}

/**
 * Returns the reference to the secret of one client where `ref` is a secret per identity; other references, and that of
 * the gateway itself (without an owner), stay as they are. No two clients have the same one.
 */
export function refFor(ref: SecretRef, owner: SecretOwner | undefined): SecretRef {
  if (ref.kind !== "store" || ref.per !== "identity" || owner === undefined) return ref;
  const { name } = ref;
  return {
    kind: "store",
    name: `${name}.id.${hash("sha256", owner.key, "hex").slice(0, 32)}`,
    of: { name, client: owner.name },
  };
}

/** Returns the name of the place of a secret, for status and audit. */
export function secretNameOf(ref: SecretRef): string {
  if (ref.kind === "file") return `file:${ref.path}`;
  if (ref.kind === "store" && ref.of !== undefined) return ref.of.name;
  return ref.kind === "named" || ref.kind === "store" ? ref.name : `${ref.kind}:${ref.name}`;
}
