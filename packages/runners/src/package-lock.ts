/**
 * The record of a manifest about the package that it adopts: the lock of its whole
 * tree, or the checksum of its Go module. A fetch with a record installs exactly
 * that, on every machine and on every day.
 *
 * Locks have the formats of the tools: `package-lock.json` of npm, and
 * requirements with hashes, which uv and pip read. They name no registry: that is
 * the machine's own.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { PackageRun } from "./package-run.ts";
import { RunnersError } from "./runners-error.ts";

/** A record of a package. */
export interface PackageRecord {
  /** Text of the lock (npm, Python). @default none: the newest dependencies that fit are locked when it is fetched */
  readonly lock?: string | undefined;
  /** SHA-256 of the Go module (`h1:`), in hexadecimal digits. @default any that the checksum database confirms */
  readonly moduleDigest?: string | undefined;
}

/** Longest lock, in characters. */
export const lockMaxLength = 4 * 1024 * 1024;

/**
 * Returns the text of an npm lock without the addresses of tarballs, and the packages that it installs.
 *
 * @throws {RunnersError} `PACKAGE_UNLOCKED` for a text that is no lock.
 */
export function readNpmLock(text: string): {
  readonly text: string;
  readonly dependencies: { readonly [name: string]: string };
} {
  let lock: unknown;
  try {
    lock = JSON.parse(text);
  } catch {
    throw invalidLock("it is not JSON");
  }
  const packages = isJsonObject(lock) ? lock["packages"] : undefined;
  if (!isJsonObject(lock) || lock["lockfileVersion"] !== 3 || !isJsonObject(packages))
    throw invalidLock("it is not a package-lock.json of version 3");
  const clean = Object.fromEntries(
    Object.entries(packages).map(([path, entry]) => {
      const { resolved: _resolved, ...rest } = (isJsonObject(entry) ? entry : {}) as JsonObject;
      return [path, rest];
    }),
  );
  const root = clean[""]?.["dependencies"];
  const dependencies = Object.fromEntries(
    Object.entries(isJsonObject(root) ? root : {}).map(([name, version]) => [name, String(version)]),
  );
  const whole = { lockfileVersion: 3, requires: true, packages: clean };
  return { text: `${JSON.stringify(whole, null, 1)}\n`, dependencies };
}

/** @throws {RunnersError} `PACKAGE_UNLOCKED` unless a lock installs the packages of `run` in exactly these versions. */
export function checkLocked(
  { kind, packages }: PackageRun,
  locked: (name: string) => readonly (string | undefined)[],
): void {
  for (const one of packages) {
    const [, name = one, version] =
      (kind === "npm" ? /^(@?[^@]+)@(.+)$/ : /^([^[=]+)(?:\[[^\]]*\])?==(.+)$/).exec(one) ?? [];
    if (version !== undefined && locked(name).includes(version)) continue;
    throw invalidLock(`it does not lock ${one}`);
  }
}

function invalidLock(state: string): RunnersError {
  return new RunnersError("PACKAGE_UNLOCKED", `The lock of the manifest cannot be used: ${state}`, {
    hint: "write it again: toolcrib lint-manifests --live MANIFEST --write",
  });
}

/** The SHA-256 of a checksum of Go (`h1:`), in hexadecimal digits; undefined for another kind of checksum. */
export function moduleDigestOf(integrity: string): string | undefined {
  const encoded = /^h1:([A-Za-z0-9+/]{43}=)$/.exec(integrity)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString("hex");
}
