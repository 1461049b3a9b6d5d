/**
 * Caches valid manifests and toolspecs by the digest of their texts, so that a
 * gateway with hundreds of them does not parse YAML with positions and lint every
 * field at each start. Only pairs without findings are cached: findings about a
 * file are reported at every start.
 *
 * The cache is a file of the home folder that may be removed at any time. A cache
 * that cannot be read counts as empty, and a failed write is ignored.
 */

import { hash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ReadFile } from "@toolcrib/files";
import { replaceFile } from "@toolcrib/files";
import { isJsonObject } from "@toolcrib/json";
import type { Manifest, Toolspec } from "@toolcrib/toolspec";
import type { PairFiles } from "./toolspec-files.ts";

/** Raise it with every change of the lint rules or of the parsed value. */
const cacheFormatVersion = 1;

/** Longest file, in bytes, and most pairs in it. */
const cacheMaxBytes = 32 * 1024 * 1024;
const maxPairs = 1000;

/** The parsed value of a valid pair. */
export interface ValidPair {
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
}

/** Returns the key of a pair: its texts, and its paths, because lint checks them too. */
export function pairKeyOf({ manifest, toolspec }: PairFiles, digest: string): string {
  return hash("sha256", JSON.stringify([digest, manifest.path, toolspec.path]), "base64url");
}

/** Dependencies of the cache. */
export interface PairCacheDeps {
  readonly readFile: ReadFile;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Opens the cache in `folder`. @param version of this program; pairs of another version are not used */
export async function openPairCache(
  folder: string,
  version: string,
  { readFile, randomBytes }: PairCacheDeps,
): Promise<PairCache> {
  const path = join(folder, "toolspecs.json");
  const made = `${version}#${cacheFormatVersion}`;
  const known = await readPairs(path, made, readFile);
  return new PairCache(known, async (pairs) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await replaceFile({ randomBytes }, path, JSON.stringify({ made, pairs: Object.fromEntries(pairs) }));
  });
}

/** Valid pairs by their keys (`pairKeyOf`). */
export class PairCache {
  readonly #known: ReadonlyMap<string, ValidPair>;
  readonly #write: (pairs: readonly (readonly [key: string, pair: ValidPair])[]) => Promise<void>;
  readonly #used = new Map<string, ValidPair>();
  #isChanged = false;

  constructor(
    known: ReadonlyMap<string, ValidPair>,
    write: (pairs: readonly (readonly [key: string, pair: ValidPair])[]) => Promise<void>,
  ) {
    this.#known = known;
    this.#write = write;
  }

  get(key: string): ValidPair | undefined {
    const pair = this.#known.get(key);
    if (pair !== undefined) this.#used.set(key, pair);
    return pair;
  }

  put(key: string, pair: ValidPair): void {
    this.#used.set(key, pair);
    this.#isChanged = true;
  }

  /** Writes the cache if it changed. Never rejects. */
  async save(): Promise<void> {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    // The pairs of this configuration come first, so that the limit removes others.
    const pairs = [...new Map([...this.#used, ...this.#known])].slice(0, maxPairs);
    try {
      await this.#write(pairs);
    } catch {
      // The next start reads the files again.
    }
  }
}

async function readPairs(
  path: string,
  made: string,
  readFile: ReadFile,
): Promise<ReadonlyMap<string, ValidPair>> {
  try {
    const { bytes, mode } = await readFile(path, cacheMaxBytes);
    // A file that other users can write to is not trusted.
    if (bytes.length > cacheMaxBytes || ((mode ?? 0) & 0o022) !== 0) return new Map();
    const document: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (!isJsonObject(document) || document["made"] !== made || !isJsonObject(document["pairs"]))
      return new Map();
    return new Map(Object.entries(document["pairs"] as unknown as { [key: string]: ValidPair }));
  } catch {
    return new Map();
  }
}
