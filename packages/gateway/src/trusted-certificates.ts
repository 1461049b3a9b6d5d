/** The certificates that `SSL_CERT_FILE` adds to those of the system, for connections to servers. */

import type { Logger } from "@toolcrib/diagnostics";
import { readCertificateFile } from "@toolcrib/files";

/** Reads the file at `path`. One that cannot be used is logged, and adds no certificate. */
export async function trustedCertificates(
  path: string | undefined,
  logger: Logger,
): Promise<{ readonly ca?: string }> {
  if (path === undefined || path === "") return {};
  const file = await readCertificateFile(path);
  if (file.kind === "read") return { ca: file.pem };
  logger.warn({ path, reason: file.reason }, "SSL_CERT_FILE cannot be used");
  return {};
}
