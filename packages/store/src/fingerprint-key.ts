/** The key of the fingerprints of a home: 32 random bytes in `audit-fingerprints.key`, which only its owner can read. */

import { reasonOf, replaceFile, waitForLock } from "@toolcrib/files";
import { readHomeFile } from "./home-file.ts";
import { createHome, type HomeLayout, toHomeLayout } from "./home-layout.ts";
import { StoreError } from "./store-error.ts";
import { ValueFingerprints } from "./value-fingerprints.ts";

const keyBytes = 32;
const lockTimeoutMs = 10_000;

/**
 * Returns the fingerprints of the home directory `home`, which has a key; `undefined` for one without.
 *
 * @throws {StoreError} `STORE_UNREADABLE` for a damaged key
 */
export async function openFingerprints(home: string): Promise<ValueFingerprints | undefined>;
/**
 * Returns the fingerprints of the home directory `home`. Creates its key if there is none.
 *
 * @throws {StoreError} `STORE_UNREADABLE` for a damaged key, `STORE_BUSY`, `STORE_HOME_UNUSABLE`; {FilesError}
 */
export async function openFingerprints(
  home: string,
  deps: { readonly randomBytes: (count: number) => Uint8Array },
): Promise<ValueFingerprints>;
export async function openFingerprints(
  home: string,
  deps?: { readonly randomBytes: (count: number) => Uint8Array },
): Promise<ValueFingerprints | undefined> {
  const layout = toHomeLayout(home);
  const known = readKey(layout);
  if (known !== undefined) return new ValueFingerprints(known);
  if (deps === undefined) return undefined;
  const { randomBytes } = deps;
  await createHome(layout);
  using lock = await waitForLock(layout.lockDirectory, "audit-fingerprints", lockTimeoutMs);
  if (lock === undefined) throw new StoreError("STORE_BUSY", "Cannot create the key of the fingerprints");
  const created = readKey(layout);
  if (created !== undefined) return new ValueFingerprints(created);
  const key = randomBytes(keyBytes);
  await replaceFile({ randomBytes }, layout.fingerprintKeyPath, `${Buffer.from(key).toString("hex")}\n`);
  return new ValueFingerprints(key);
}

/** A key that cannot be read is never replaced: all earlier fingerprints would be lost. */
function readKey({ fingerprintKeyPath }: HomeLayout): Uint8Array | undefined {
  let text: string | undefined;
  try {
    text = readHomeFile(fingerprintKeyPath);
  } catch (cause) {
    throw unreadable(fingerprintKeyPath, reasonOf(cause), cause);
  }
  if (text === undefined) return undefined;
  if (/^[0-9a-f]{64}\s*$/.test(text)) return Buffer.from(text.slice(0, 2 * keyBytes), "hex");
  throw unreadable(fingerprintKeyPath, "its content is no key", undefined);
}

function unreadable(path: string, reason: string, cause: unknown): StoreError {
  return new StoreError(
    "STORE_UNREADABLE",
    `Cannot read the key of the fingerprints in "${path}": ${reason}`,
    {
      cause,
      hint: "restore the file, or remove it: a new key is created, and values in earlier records are not found any more",
    },
  );
}
