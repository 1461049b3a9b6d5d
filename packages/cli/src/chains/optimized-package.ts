/** The package of an optimized chain: its manifest, its provenance, and how it is written. */

import type { KeyObject } from "node:crypto";
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { ChainChange, OptimizedStep, PairComparison } from "@toolcrib/dise";
import { replaceFile } from "@toolcrib/files";
import { isJsonObject, type JsonObject, parseJson, SchemaValidator } from "@toolcrib/json";
import {
  digestArchive,
  keyIdOf,
  type PackageFiles,
  parsePackage,
  signaturePath,
  signPackage,
  type ToolPackage,
  writeArchive,
} from "@toolcrib/mcpkg";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { writePackage } from "../package/test-target.ts";
import { version as toolcribVersion } from "../version.ts";

const manifestPath = "manifest.json";
const provenancePath = "meta/provenance.json";

/** The parts of an optimized chain. */
export interface Optimization {
  readonly steps: readonly OptimizedStep[];
  readonly version: string;
  readonly changes: readonly ChainChange[];
  /** Undefined where the chain failed its tests before. */
  readonly measured: PairComparison | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Digest of the archive that it was made from. */
  readonly digest: string;
}

/** Returns the version after `version` with the same major number. */
export function nextVersion(version: string): string {
  const [major = "0", minor = "0"] = version.split(".");
  return `${major}.${Number(minor) + 1}.0`;
}

/** Returns the files of a chain with other steps, without its signature. */
export function withSteps(
  files: PackageFiles,
  steps: readonly OptimizedStep[],
  more: JsonObject = {},
): PackageFiles {
  const manifest = readJson(files, manifestPath);
  // Members of a step that this version does not know stay with the step.
  const written = new Map(
    (Array.isArray(manifest["chain"]) ? manifest["chain"] : []).flatMap((one) =>
      isJsonObject(one) ? [[one["step"], one] as const] : [],
    ),
  );
  const chain = steps.map((step) => ({ ...written.get(step.step), ...step }));
  const changed = new Map(files);
  changed.delete(signaturePath);
  changed.set(manifestPath, textFile({ ...manifest, ...more, chain }));
  return changed;
}

/** Returns the files of the new version, with a provenance that says what was changed, why, and what was measured. */
export function optimizedPackage(
  { files, manifest }: ToolPackage,
  { steps, version, changes, measured, now, digest }: Optimization,
): PackageFiles {
  const changed = new Map(withSteps(files, steps, { version }));
  const earlier = files.has(provenancePath) ? { provenance: readJson(files, provenancePath) } : {};
  const provenance = {
    builtAt: new Date(now).toISOString(),
    builtBy: `toolcrib ${toolcribVersion} chains optimize`,
    optimizedFrom: { toolId: manifest.toolId, version: manifest.version, digest, ...earlier },
    changes: changes.map((change) => ({ ...change })),
    ...(measured === undefined ? {} : { measured: { ...measured } }),
  };
  changed.set(provenancePath, textFile(provenance));
  return changed;
}

/** Writes the package: an archive where `out` ends in `.mcpkg`, a folder elsewhere. @param key signs it */
export async function writeOptimized(
  { directory }: CliContext,
  files: PackageFiles,
  { out, key }: { readonly out: string; readonly key: KeyObject | undefined },
): Promise<{ readonly path: string; readonly digest: string; readonly keyId: string | undefined }> {
  const { value, diagnostics } = parsePackage(files, new SchemaValidator());
  if (value === undefined) {
    throw new CliError(
      "CLI_PACKAGE_INVALID",
      `The optimized chain is not valid: ${diagnostics[0]?.message ?? ""}`,
    );
  }
  const signed = key === undefined ? files : signPackage(value, key);
  const path = resolve(directory, out);
  const archive = writeArchive(signed);
  if (out.endsWith(".mcpkg")) await replaceFile({ randomBytes }, path, archive, { mode: 0o644 });
  else await writePackage(path, signed);
  return { path: out, digest: digestArchive(archive), keyId: key && keyIdOf(key) };
}

function readJson(files: PackageFiles, path: string): JsonObject {
  const bytes = files.get(path)?.bytes;
  const value = parseJson(Buffer.from(bytes ?? "{}").toString("utf8"), {
    maxLength: Number.POSITIVE_INFINITY,
    maxDepth: 64,
  });
  return isJsonObject(value) ? value : {};
}

function textFile(value: object): { readonly bytes: Uint8Array; readonly isExecutable: boolean } {
  return { bytes: Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`), isExecutable: false };
}
