/** Reads files of certificates (PEM): whole, limited, and with the reason why one cannot be used. */

import { X509Certificate } from "node:crypto";
import { reasonOf } from "./files-error.ts";
import { type ReadFile, readRegularFile } from "./read-regular-file.ts";

const maxBytes = 1024 * 1024;

/** The text of a file of certificates, or why it cannot be used, as a clause for people. */
export type CertificateFile =
  | { readonly kind: "read"; readonly pem: string }
  | { readonly kind: "unusable"; readonly reason: string };

/** Reads the certificates of the file at `path`, at most 1 MiB. @param readFile @default from the file system */
export async function readCertificateFile(
  path: string,
  readFile: ReadFile = readRegularFile,
): Promise<CertificateFile> {
  try {
    const { bytes } = await readFile(path, maxBytes);
    const pem = new TextDecoder().decode(bytes);
    const reason = bytes.length > maxBytes ? "it is longer than 1 MiB" : problemOf(pem);
    return reason === undefined ? { kind: "read", pem } : { kind: "unusable", reason };
  } catch (error) {
    return { kind: "unusable", reason: reasonOf(error) };
  }
}

function problemOf(text: string): string | undefined {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) return "it has no certificate";
  const bad = blocks.findIndex((block) => !isCertificate(block));
  return bad === -1 ? undefined : `its certificate ${bad + 1} cannot be read`;
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).subject !== undefined;
  } catch {
    return false;
  }
}
