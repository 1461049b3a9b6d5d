/**
 * Reads a bundle of an MCP server (`.mcpb`), which may be hostile: a ZIP archive, with the same strictness
 * as archives of packages, but for its size. A signature at its end (a PKCS #7 block between
 * `MCPB_SIG_V1` and `MCPB_SIG_END`) is cut off and checked: it proves that the holder of some certificate signed the
 * bytes before it, and no more.
 */

import { hash } from "node:crypto";
import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import { checkDocument, openDocument } from "@toolcrib/document";
import { type PackageFiles, readArchive } from "@toolcrib/mcpkg";
import { McpkgRegistryError } from "../mcpkg-registry-error.ts";
import { type BundleManifest, bundleManifestShape } from "./bundle-shape.ts";
import { type BundleSignature, checkBundleSignature } from "./bundle-signature.ts";
import { bundleManifestKind } from "./import-kind.ts";

/** Bytes of a bundle, and of its files together. */
export const bundleMaxBytes = 256 * 1024 * 1024;
/** Bundles contain the libraries of their server: many files in deep folders. */
const bundleLimits = { maxBytes: bundleMaxBytes, entriesMaxCount: 20_000, partsMaxCount: 24 };
/** Largest block of a signature in bytes. */
const signatureMaxBytes = 64 * 1024;

/** A bundle that was read. */
export interface OpenedBundle {
  readonly manifest: BundleManifest;
  readonly files: PackageFiles;
  /** SHA-256 of the whole file in hexadecimal. */
  readonly sha256: string;
  readonly signature: BundleSignature;
}

/**
 * Reads a bundle.
 *
 * @returns the bundle if its manifest has no error, and all findings about the manifest
 * @throws {McpkgError} as `readArchive`; {McpkgRegistryError} `SERVER_IMPORT_BUNDLE_INVALID`
 */
export async function openBundle(bytes: Uint8Array): Promise<{
  readonly value: OpenedBundle | undefined;
  readonly diagnostics: readonly Diagnostic[];
}> {
  const { content, signature } = withoutSignature(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  );
  const files = await readArchive(content, bundleLimits);
  const file = files.get("manifest.json");
  if (file === undefined) {
    throw new McpkgRegistryError(
      "SERVER_IMPORT_BUNDLE_INVALID",
      'The bundle has no "manifest.json" at its top',
    );
  }
  const open = openDocument({ name: "manifest.json", text: file.bytes }, bundleManifestKind);
  const manifest = checkDocument(open, bundleManifestShape);
  const { diagnostics } = open.reporter;
  if (manifest === undefined || hasErrors(diagnostics)) return { value: undefined, diagnostics };
  return { value: { manifest, files, sha256: hash("sha256", bytes, "hex"), signature }, diagnostics };
}

const header = Buffer.from("MCPB_SIG_V1");
const footer = Buffer.from("MCPB_SIG_END");
/** Length of the last record of a ZIP archive without a comment, and the place of the length of the comment in it. */
const endOfDirectoryLength = 22;
const commentLengthAt = 20;

/** Cuts a block at the end, and the length of the comment that some signers state for it. */
function withoutSignature(bytes: Buffer): { readonly content: Buffer; readonly signature: BundleSignature } {
  const unsigned = { content: bytes, signature: { kind: "none" } } as const;
  if (!bytes.subarray(-footer.length).equals(footer)) return unsigned;
  const from = Math.max(0, bytes.length - signatureMaxBytes);
  const at = bytes.subarray(from).lastIndexOf(header);
  if (at === -1) return unsigned;
  const content = Buffer.from(bytes.subarray(0, from + at));
  const length = content.length - endOfDirectoryLength + commentLengthAt;
  const isStated = length >= 0 && content.readUInt16LE(length) === bytes.length - content.length;
  if (isStated) content.writeUInt16LE(0, length);
  const block = bytes.subarray(from + at + header.length, -footer.length);
  const isWhole = block.length >= 4 && block.readUInt32LE(0) === block.length - 4;
  const signature: BundleSignature = isWhole
    ? checkBundleSignature(block.subarray(4), [content, bytes.subarray(0, from + at)])
    : { kind: "invalid", reason: "its block is damaged" };
  return { content, signature };
}
