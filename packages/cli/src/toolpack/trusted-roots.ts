/**
 * Reads the trusted certificates of the environment: `SSL_CERT_FILE` replaces the
 * built-in roots, `NODE_EXTRA_CA_CERTS` adds to them.
 */

import { resolve } from "node:path";
import { readRegularFile, reasonOf } from "@toolcrib/files";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";

/** Trusted certificates, PEM. */
export interface TrustedRoots {
  /** All trusted certificates. */
  readonly all: readonly string[];
  /** The certificates from the environment. */
  readonly named: readonly string[];
}

const fileMaxBytes = 4 * 1024 * 1024;

/** Reads the trusted certificates. @throws {CliError} `CLI_FILE_UNUSABLE` */
export async function readTrustedRoots(context: ProcessContext): Promise<TrustedRoots> {
  const replaced = await readCertificates("SSL_CERT_FILE", context);
  const added = await readCertificates("NODE_EXTRA_CA_CERTS", context);
  const named = [...(replaced ?? []), ...(added ?? [])];
  return {
    all: [
      ...(replaced ?? process.getBuiltinModule("node:tls").getCACertificates("default")),
      ...(added ?? []),
    ],
    named,
  };
}

async function readCertificates(
  variable: string,
  context: ProcessContext,
): Promise<readonly string[] | undefined> {
  const path = context.env[variable]?.trim() ?? "";
  if (path === "") return undefined;
  let text: string;
  try {
    const { bytes } = await readRegularFile(resolve(context.directory, path), fileMaxBytes);
    text = new TextDecoder().decode(bytes);
  } catch (error) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read ${variable}: ${reasonOf(error)}`);
  }
  const found = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g);
  if (found !== null) return found;
  throw new CliError("CLI_FILE_UNUSABLE", `Cannot read ${variable}: the file contains no certificate`, {
    hint: "the file must contain certificates in PEM format",
  });
}
