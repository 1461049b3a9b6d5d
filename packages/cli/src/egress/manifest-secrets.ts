/**
 * Finds the secrets of a manifest's credentials by their names. Reads each secret
 * before the program starts, to report a missing secret early, and again for each
 * request, so that a changed secret takes effect immediately.
 */

import { suggestedSecretName } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import { type NamedSecret, readNamedSecret } from "@toolcrib/secrets";
import type { Manifest, ManifestCredential } from "@toolcrib/toolspec";
import type { CliContext } from "../cli-context.ts";

/** The secret of one credential. */
export interface ManifestSecret {
  readonly credential: ManifestCredential;
  /** Its name, as with `secret_key_ref`. */
  readonly name: string;
  /** The value of the first read. */
  readonly found: NamedSecret;
  /** Reads the current value. @throws {SecretsError} */
  readonly read: () => Promise<string>;
}

/**
 * Finds the secrets of `manifest`.
 *
 * @param names names of secrets by credential id, where they differ from the suggested names
 * @throws {SecretsError} for the first secret that is missing or unusable.
 */
export async function findManifestSecrets(
  context: CliContext,
  manifest: Manifest,
  names: ReadonlyMap<string, string>,
): Promise<readonly ManifestSecret[]> {
  const { options } = context;
  const deps = { env: context.env, readFile: readRegularFile, home: options.home };
  const secrets: ManifestSecret[] = [];
  for (const credential of manifest.credentials ?? []) {
    const name = names.get(credential.id) ?? suggestedSecretName(manifest.name, credential.id);
    const found = await readNamedSecret(name, deps);
    secrets.push({
      credential,
      name,
      found,
      read: async () => (await readNamedSecret(name, deps)).value,
    });
  }
  return secrets;
}
