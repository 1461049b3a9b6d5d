/**
 * The secrets of a manifest's credentials, by the names under which they are
 * kept. Each is read once before the program is started, so that one that is
 * missing is told of then, and again for each request, so that one that was
 * changed counts at once.
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
  /** As it was when it was read first. */
  readonly found: NamedSecret;
  /** As it is now. @throws {SecretsError} */
  readonly read: () => Promise<string>;
}

/**
 * Find the secrets of `manifest`.
 *
 * @param names by the id of the credential, where they are not the suggested ones
 * @throws {SecretsError} for the first that is not there or cannot be used.
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
