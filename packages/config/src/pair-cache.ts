/**
 * Manifests and toolspecs that were found sound, by the digest of their texts,
 * so that a gateway with hundreds of them need not read YAML with positions and
 * judge every field at each start. Only pairs without any finding are kept:
 * whatever there is to say about a file is found anew each time.
 *
 * It is a file of the home that may be removed at any time. What cannot be read
 * is no cache, and what cannot be written is not told.
 */

import { hash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ReadFile } from "@toolcrib/files";
import { replaceFile } from "@toolcrib/files";
import { isJsonObject } from "@toolcrib/json";
import type { Manifest, Toolspec } from "@toolcrib/toolspec";
import type { PairFiles } from "./toolspec-files.ts";

/** To be raised with every change of what a sound pair is, or of the value that it is read as. */
const judgement = 1;

/** Longest file, in bytes, and most pairs in it. */
const cacheMaxBytes = 32 * 1024 * 1024;
const maxPairs = 1000;

/** The value of a pair that was found sound. */
export interface SoundPair {
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
}

/** Sound pairs by their keys (`pairKeyOf`). */
export interface PairCache {
  get(key: string): SoundPair | undefined;
  put(key: string, pair: SoundPair): void;
  /** Write what was put, if anything was. Never rejects. */
  save(): Promise<void>;
}

/** The key of a pair: its texts, and where they stand as far as that is judged too. */
export function pairKeyOf({ manifest, toolspec }: PairFiles, digest: string): string {
  return hash("sha256", JSON.stringify([digest, manifest.path, toolspec.path]), "base64url");
}

/** Dependencies of the cache. */
export interface PairCacheDeps {
  readonly readFile: ReadFile;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Open the cache in `folder`. @param version of this program; another one judges anew */
export async function openPairCache(
  folder: string,
  version: string,
  { readFile, randomBytes }: PairCacheDeps,
): Promise<PairCache> {
  const path = join(folder, "toolspecs.json");
  const made = `${version}#${judgement}`;
  const known = await readPairs(path, made, readFile);
  const used = new Map<string, SoundPair>();
  let isChanged = false;
  return {
    get(key) {
      const pair = known.get(key);
      if (pair !== undefined) used.set(key, pair);
      return pair;
    },
    put(key, pair) {
      used.set(key, pair);
      isChanged = true;
    },
    async save() {
      if (!isChanged) return;
      isChanged = false;
      // What this configuration uses comes first, so that it is what stays.
      const pairs = [...new Map([...used, ...known])].slice(0, maxPairs);
      const text = JSON.stringify({ made, pairs: Object.fromEntries(pairs) });
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await replaceFile({ randomBytes }, path, text);
      } catch {
        // The next start reads the files as this one did.
      }
    },
  };
}

async function readPairs(
  path: string,
  made: string,
  readFile: ReadFile,
): Promise<ReadonlyMap<string, SoundPair>> {
  try {
    const { bytes, mode } = await readFile(path, cacheMaxBytes);
    // What others could have written is not taken for what was judged here.
    if (bytes.length > cacheMaxBytes || ((mode ?? 0) & 0o022) !== 0) return new Map();
    const document: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (!isJsonObject(document) || document["made"] !== made || !isJsonObject(document["pairs"]))
      return new Map();
    return new Map(Object.entries(document["pairs"] as unknown as { [key: string]: SoundPair }));
  } catch {
    return new Map();
  }
}
