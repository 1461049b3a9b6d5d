/**
 * Names that were computed from the configuration and the definitions of the home, kept in the home: the load of a
 * configuration takes longer than a shell should wait for a completion. An entry counts while the files that it was
 * computed from are the same, and ten minutes at most: manifests that they name are not compared.
 */

import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { makePrivateDirectory, readRegularFile, replaceFile } from "@toolcrib/files";
import { isJsonObject, parseJson } from "@toolcrib/json";
import type { NameKind } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { findConfigFiles } from "../config/find-config-files.ts";
import { version } from "../version.ts";

const fileMaxBytes = 2 * 1024 * 1024;
const lifeMs = 10 * 60_000;

/** Returns the names from the cache, or computes and keeps them. Rejects as `compute` does. */
export async function cachedNames(
  context: CliContext,
  kind: NameKind,
  compute: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const { home } = context.options;
  const path = join(home, "cache", "names.json");
  const key = keyOf(context);
  const cached = await read(path, key, context.now());
  const known = cached.get(kind);
  if (known !== undefined) return known;
  const names = await compute();
  // A completion creates no home.
  if (!existsSync(home)) return names;
  const text = JSON.stringify({
    key,
    at: context.now(),
    names: { ...Object.fromEntries(cached), [kind]: names },
  });
  if (text.length > fileMaxBytes) return names;
  try {
    await makePrivateDirectory(join(home, "cache"));
    await replaceFile({ randomBytes }, path, text);
  } catch {
    // Then the next completion computes them again.
  }
  return names;
}

async function read(path: string, key: string, now: number): Promise<ReadonlyMap<string, readonly string[]>> {
  try {
    const { bytes } = await readRegularFile(path, fileMaxBytes);
    const value = parseJson(new TextDecoder().decode(bytes), { maxLength: fileMaxBytes });
    if (!isJsonObject(value) || value["key"] !== key) return new Map();
    const { at, names } = value;
    if (typeof at !== "number" || Math.abs(now - at) > lifeMs || !isJsonObject(names)) return new Map();
    return new Map(
      Object.entries(names).flatMap(([kind, list]) =>
        Array.isArray(list) ? [[kind, list.filter((one) => typeof one === "string")] as const] : [],
      ),
    );
  } catch {
    return new Map();
  }
}

/** Identifies the files that names are computed from. */
function keyOf(context: CliContext): string {
  const { home } = context.options;
  const files = findConfigFiles(context).map((file) => resolve(context.directory, file));
  const others = ["switches.json", "definitions", "tokens"].map((name) => join(home, name));
  const states = [...files, ...others].map((path) => {
    const status = statSync(path, { bigint: true, throwIfNoEntry: false });
    return [path, ...(status === undefined ? [] : [status.ino, status.size, status.mtimeNs].map(String))];
  });
  return JSON.stringify([version, ...states]);
}
