/**
 * Decides whether an opened package may take its place: who signed it, and what it replaces. Each
 * refusal names the one flag that allows exactly this. Pure.
 */

import { InstallError } from "../install-error.ts";
import type { OpenedSource } from "../source/open-source.ts";
import { isOlder } from "../version-order.ts";

/** Additional permissions of the operator. */
export interface Allowances {
  /** `--allow-unsigned`: an unsigned package from a URL or a registry. @default false */
  readonly unsigned?: boolean;
  /** `--allow-stripped-signature`: an unsigned package in place of a signed one. @default false */
  readonly strippedSignature?: boolean;
  /** `--allow-key ID`: these keys in place of the pinned one. @default none */
  readonly keys?: readonly string[];
  /** `--allow-downgrade`: a version that is older than the installed or the locked one. @default false */
  readonly downgrade?: boolean;
  /** `--allow-changed-release`: other content under the same version. @default false */
  readonly changedRelease?: boolean;
  /** `--allow-replacing-folder`: a folder that Toolcrib did not install is removed. @default false */
  readonly replacingFolder?: boolean;
}

/** A version that the package would replace. */
export interface Predecessor {
  /** In words: `installed` or `locked`. */
  readonly state: "installed" | "locked";
  readonly version: string;
  readonly digest: string;
  readonly publisherKey: string | undefined;
}

/** The facts about a tool. */
export interface KnownTool {
  /** The key that is pinned in the home. */
  readonly pinnedKey: string | undefined;
  readonly predecessors: readonly Predecessor[];
  /** The key that must have signed it, from `--key-id`. */
  readonly requiredKey: string | undefined;
}

/**
 * Checks that the package may be installed.
 *
 * @throws {InstallError} `INSTALL_KEY_MISMATCH`, `INSTALL_UNSIGNED`, `INSTALL_SIGNATURE_STRIPPED`,
 *   `INSTALL_KEY_CHANGED`, `INSTALL_DOWNGRADE`, `INSTALL_RELEASE_CHANGED`
 */
export function checkTrust(candidate: OpenedSource, known: KnownTool, allowed: Allowances): void {
  checkKeys(candidate, known, allowed);
  for (const predecessor of known.predecessors) checkOrder(candidate, predecessor, allowed);
}

function checkKeys(candidate: OpenedSource, known: KnownTool, allowed: Allowances): void {
  const { opened, from, registry, statedKey } = candidate;
  const { signature } = opened;
  const key = signature.kind === "signed" ? signature.keyId : undefined;
  const signer = key === undefined ? unsignedText(candidate) : `it is signed by ${key}`;
  for (const [wanted, by] of [
    [known.requiredKey, "--key-id names"],
    [statedKey, `${registry} states`],
  ] as const) {
    if (wanted === undefined || wanted === key) continue;
    throw refusal("INSTALL_KEY_MISMATCH", candidate, `${signer}, and ${by} ${wanted}`, {
      hint: "get the package from its publisher, and compare the key with the one that the publisher states",
    });
  }
  const pinned = known.pinnedKey ?? known.predecessors.find(({ publisherKey }) => publisherKey)?.publisherKey;
  if (pinned === undefined) {
    if (key !== undefined || from === "file" || from === "folder" || allowed.unsigned === true) return;
    throw refusal(
      "INSTALL_UNSIGNED",
      candidate,
      `${signer}, and comes from a ${from === "url" ? "URL" : from}`,
      {
        hint: "ask its publisher for a signed one; to install it nevertheless, add --allow-unsigned",
      },
    );
  }
  if (key === pinned) return;
  if (key === undefined) {
    if (allowed.strippedSignature === true) return;
    throw refusal(
      "INSTALL_SIGNATURE_STRIPPED",
      candidate,
      `${signer}, and the one before it was signed by ${pinned}`,
      {
        hint: "somebody may have removed the signature; if its publisher confirms it, add --allow-stripped-signature",
      },
    );
  }
  if (allowed.keys?.includes(key) === true) return;
  throw refusal("INSTALL_KEY_CHANGED", candidate, `${signer}, and the key of this tool is ${pinned}`, {
    hint: `if its publisher confirms the new key, add --allow-key ${key}`,
  });
}

function checkOrder(
  candidate: OpenedSource,
  { state, version, digest }: Predecessor,
  allowed: Allowances,
): void {
  const { opened, from } = candidate;
  const { manifest } = opened;
  if (isOlder(manifest.version, version)) {
    if (allowed.downgrade === true) return;
    throw refusal("INSTALL_DOWNGRADE", candidate, `version ${version} is ${state}, which is newer`, {
      hint: "old versions can have known faults; to go back nevertheless, add --allow-downgrade",
    });
  }
  // A folder is what its author works on: its content changes before its version does.
  if (manifest.version !== version || opened.digest === digest || from === "folder") return;
  if (allowed.changedRelease === true) return;
  const message = `the same version is ${state} with other content: ${digest}, and this is ${opened.digest}`;
  throw refusal("INSTALL_RELEASE_CHANGED", candidate, message, {
    hint: "a release never changes; if its publisher replaced it, add --allow-changed-release",
  });
}

function unsignedText({ opened: { signature } }: OpenedSource): string {
  return signature.kind === "unknown-scheme"
    ? "its signature is of a scheme that is not known, and counts as none"
    : "it is not signed";
}

function refusal(
  code:
    | "INSTALL_KEY_MISMATCH"
    | "INSTALL_UNSIGNED"
    | "INSTALL_SIGNATURE_STRIPPED"
    | "INSTALL_KEY_CHANGED"
    | "INSTALL_DOWNGRADE"
    | "INSTALL_RELEASE_CHANGED",
  { opened: { manifest }, source }: OpenedSource,
  reason: string,
  options: { readonly hint: string },
): InstallError {
  const { toolId, version } = manifest;
  return new InstallError(code, `Cannot install ${toolId} ${version} from "${source}": ${reason}`, options);
}
