/** Reads one secret of a store. Takes no lock: files are replaced whole. */

import { readKey, type SecretKeySettings } from "./key.ts";
import { checkFolders, readPrivateFile, type StoreLayout, toStoreLayout } from "./layout.ts";
import { openSecret, sealedMaxBytes } from "./sealed-secret.ts";
import { checkSecretName } from "./secret-text.ts";
import { SecretsError } from "./secrets-error.ts";

/**
 * Returns the value of `name`, or `undefined` when it is not stored.
 *
 * @throws {SecretsError}
 */
export async function readStoredSecret(
  name: string,
  settings: SecretKeySettings,
): Promise<string | undefined> {
  checkSecretName(name);
  const layout = toStoreLayout(settings.home);
  if (!(await checkFolders(layout))) return undefined;
  const line = await readPrivateFile(layout.sealedPath(name), sealedMaxBytes);
  if (line === undefined) return undefined;
  return openSecret(line, name, await needKey(layout, settings)).value;
}

/**
 * Returns the key of a store that has secrets.
 *
 * @throws {SecretsError} `SECRETS_KEY_MISSING`, and the errors of `readKey`.
 */
export async function needKey(layout: StoreLayout, settings: SecretKeySettings): Promise<Buffer> {
  const key = await readKey(layout, settings);
  if (key !== undefined) return key;
  throw new SecretsError(
    "SECRETS_KEY_MISSING",
    `Cannot decrypt the secret store: its key ${JSON.stringify(layout.keyPath)} is missing`,
    {
      hint: "restore that file, or set TOOLCRIB_SECRETS_KEY; without the key, remove the secrets and set them again",
    },
  );
}
