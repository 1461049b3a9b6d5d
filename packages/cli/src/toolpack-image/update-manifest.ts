/** Writes the digest of an image into the manifest that it was built from, and leaves everything else as it is. */

import { randomBytes } from "node:crypto";
import { replaceFile } from "@toolcrib/files";
import type { Toolpack } from "@toolcrib/toolpack-image";
import { parseManifest } from "@toolcrib/toolspec";
import { CliError } from "../cli-error.ts";

/** A manifest with its new text. */
export interface ManifestUpdate {
  readonly path: string;
  readonly text: string;
}

/**
 * Returns the service with the repository of `reference` as `image.ref`, so that the image contains the manifest that
 * the file becomes.
 *
 * @throws {CliError} `CLI_CONFIG_NOT_EDITABLE`
 */
export function withReference(toolpack: Toolpack, reference: string): Toolpack {
  const { manifest } = toolpack;
  const ref = reference.slice(0, reference.lastIndexOf(":"));
  return editImage(toolpack, { ...manifest.image, ref });
}

/**
 * Returns the manifest at `path` with the digest of an image.
 *
 * @throws {CliError} `CLI_CONFIG_NOT_EDITABLE` where the text to replace is not there exactly once
 */
export function withDigest(path: string, toolpack: Toolpack, digest: string): ManifestUpdate {
  return { path, text: editImage(toolpack, { ...toolpack.manifest.image, digest }).manifestText };
}

function editImage(toolpack: Toolpack, image: Toolpack["manifest"]["image"]): Toolpack {
  const { image: before } = toolpack.manifest;
  const withRef = replaceOnce(toolpack.manifestText, before.ref, image.ref);
  const text = replaceOnce(withRef, before.digest, image.digest);
  const manifest = text === undefined ? undefined : parseManifest({ name: "manifest", text }).value;
  if (text !== undefined && manifest?.image.digest === image.digest && manifest.image.ref === image.ref) {
    return { ...toolpack, manifest, manifestText: text };
  }
  throw new CliError(
    "CLI_CONFIG_NOT_EDITABLE",
    `Cannot change the image in the manifest of "${toolpack.manifest.name}"`,
    {
      hint: `write it yourself, and omit --update-manifest: image: { ref: ${image.ref}, digest: "${image.digest}" }`,
    },
  );
}

function replaceOnce(text: string | undefined, from: string, to: string): string | undefined {
  if (text === undefined || from === to) return text;
  const at = text.indexOf(from);
  if (at === -1 || text.indexOf(from, at + 1) !== -1) return undefined;
  return `${text.slice(0, at)}${to}${text.slice(at + from.length)}`;
}

/** Writes the manifest. */
export async function updateManifest({ path, text }: ManifestUpdate): Promise<void> {
  await replaceFile({ randomBytes }, path, text, { mode: 0o644, keepPermissions: true, followSymlink: true });
}
