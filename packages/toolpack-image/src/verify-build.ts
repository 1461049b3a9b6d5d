/**
 * Compares what a build wrote with its provenance: each file with its digest, and an image blob by blob, so that
 * whatever a runtime loads from it is covered. A file that the provenance does not name is a difference. The signature
 * of the statement is checked by the caller. No I/O.
 */

import { hash } from "node:crypto";
import { isJsonObject, isSameJson, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { readTarFiles, writeTar } from "./tar.ts";

/** The files of a build by their paths, with `/` between the parts. */
export type BuildFiles = ReadonlyMap<string, Uint8Array>;

/** The result of a comparison. */
export interface BuildComparison {
  /** The subjects of the provenance, in its order: files and references of images, with `sha256:` and the digest of each. */
  readonly subjects: readonly { readonly name: string; readonly digest: string }[];
  /** Each difference in words; empty: exactly what the provenance names. At most 20. */
  readonly differences: readonly string[];
}

/** Files that describe a build, and are not described by it. */
const descriptions = new Set(["provenance.json", "provenance.dsse.json"]);
const differencesMaxCount = 20;
const jsonMaxBytes = 4 * 1024 * 1024;
/** Manifests and layers of one image. */
const blobsMaxCount = 1000;

/**
 * Compares files with a statement.
 *
 * @param isPart whether other subjects than the files may be missing, such as for one package of a build
 */
export function compareBuild(statement: JsonObject, files: BuildFiles, isPart: boolean): BuildComparison {
  const comparison = new Comparison(subjectsOf(statement));
  comparison.compare(files, isPart);
  const { subjects, differences } = comparison;
  return {
    subjects: [...subjects].map(([name, digest]) => ({ name, digest })),
    differences: differences.slice(0, differencesMaxCount),
  };
}

/** The subjects of a statement by their names, with their digests. */
function subjectsOf({ subject }: JsonObject): ReadonlyMap<string, string> {
  const subjects = new Map<string, string>();
  for (const one of Array.isArray(subject) ? (subject as readonly JsonValue[]) : []) {
    if (!isJsonObject(one) || !isJsonObject(one["digest"])) continue;
    const { name, digest } = one;
    const { sha256 } = digest;
    if (typeof name === "string" && typeof sha256 === "string") subjects.set(name, `sha256:${sha256}`);
  }
  return subjects;
}

class Comparison {
  readonly subjects: ReadonlyMap<string, string>;
  readonly differences: string[] = [];
  readonly #found = new Set<string>();

  constructor(subjects: ReadonlyMap<string, string>) {
    this.subjects = subjects;
  }

  compare(files: BuildFiles, isPart: boolean): void {
    if (this.subjects.size === 0) this.differences.push("the provenance names nothing");
    const layout = new Map<string, Uint8Array>();
    for (const [path, bytes] of files) {
      if (path.startsWith("image/")) layout.set(path.slice("image/".length), bytes);
      else if (path.endsWith(".oci.tar")) this.#archive(path, bytes);
      else if (!descriptions.has(path)) this.#file(path, bytes, isPart);
    }
    if (layout.size > 0) this.#image("image", layout);
    if (isPart) return;
    for (const name of this.subjects.keys()) {
      if (!this.#found.has(name)) this.differences.push(`"${name}" is missing`);
    }
  }

  #file(path: string, bytes: Uint8Array, isPart: boolean): void {
    const digest = digestOfBytes(bytes);
    // A file that was copied elsewhere is known by its digest.
    const name = isPart ? this.#nameOf(digest) : path;
    const expected = name === undefined ? undefined : this.subjects.get(name);
    if (name === undefined || expected === undefined) {
      this.differences.push(
        isPart
          ? `"${path}" (${digest}) is not among what the provenance names`
          : `"${path}" is not among what the provenance names`,
      );
      return;
    }
    this.#found.add(name);
    if (expected !== digest)
      this.differences.push(`"${path}" is ${digest}, and the provenance says ${expected}`);
  }

  #nameOf(digest: string): string | undefined {
    return [...this.subjects].find(([, one]) => one === digest)?.[0];
  }

  /** An archive has to be the one that the layout in it gives: what it contains besides could mislead a runtime. */
  #archive(path: string, bytes: Uint8Array): void {
    let layout: ReadonlyMap<string, Uint8Array>;
    try {
      layout = readTarFiles(bytes);
      const again = writeTar([...layout].map(([name, content]) => ({ path: name, bytes: content })));
      if (!Buffer.concat(again).equals(bytes)) {
        this.differences.push(`"${path}" contains more than the files of an image`);
        return;
      }
    } catch {
      this.differences.push(`"${path}" is not an archive of an image`);
      return;
    }
    this.#image(path, layout);
  }

  /** Compares an image. */
  #image(shown: string, layout: ReadonlyMap<string, Uint8Array>): void {
    const report = (text: string): void => {
      this.differences.push(`${shown}: ${text}`);
    };
    const blobs = new Set<string>();
    const manifests: JsonObject[] = [];
    const fault = this.#follow(layout, blobs, manifests);
    if (fault !== undefined) {
      report(fault);
      return;
    }
    if (jsonOf(layout.get("oci-layout"))?.["imageLayoutVersion"] !== "1.0.0")
      report("it is no layout of OCI 1.0.0");
    for (const path of layout.keys()) {
      if (blobs.has(path) || path === "index.json" || path === "oci-layout") continue;
      if (path !== "manifest.json") report(`"${path}" was added`);
      else if (!this.#isSameForDocker(layout.get(path), manifests)) {
        report('"manifest.json" is not about the same image');
      }
    }
  }

  /** Follows an image from its index to its layers. @returns the first fault */
  #follow(
    layout: ReadonlyMap<string, Uint8Array>,
    blobs: Set<string>,
    manifests: JsonObject[],
  ): string | undefined {
    const [top, ...others] = descriptorsIn(jsonOf(layout.get("index.json"))?.["manifests"]);
    if (top === undefined || others.length > 0) return "its index.json does not name one image";
    // No digest covers the index: with another type, nothing would be asked of what it names.
    if (!top.isManifest) return "its index.json does not name an image of OCI";
    const waiting = [top];
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      const { digest, size, isManifest } = one;
      const path = `blobs/sha256/${digest.slice("sha256:".length)}`;
      if (blobs.has(path)) continue;
      if (blobs.size === blobsMaxCount) return `it has more than ${blobsMaxCount} parts`;
      blobs.add(path);
      const bytes = layout.get(path);
      if (bytes === undefined) return `"${path}" is missing`;
      if (digestOfBytes(bytes) !== digest || bytes.length !== size) return `"${path}" has other content`;
      if (!isManifest) continue;
      // The digests of all manifests are subjects: of the index, and of each platform.
      const name = this.#nameOf(digest);
      if (name === undefined) return `its digest is ${digest}, which the provenance does not name`;
      this.#found.add(name);
      const manifest = jsonOf(bytes);
      if (manifest === undefined) return `"${path}" cannot be read`;
      if (manifest["layers"] !== undefined) manifests.push(manifest);
      const parts = [manifest["config"] ?? [], manifest["layers"] ?? [], manifest["manifests"] ?? []].flat();
      const found = descriptorsIn(parts);
      if (found.length !== parts.length) return `"${path}" cannot be read`;
      waiting.push(...found);
    }
    return undefined;
  }

  /** Versions of Docker that load no layouts read another file, which no digest covers. */
  #isSameForDocker(bytes: Uint8Array | undefined, manifests: readonly JsonObject[]): boolean {
    const [manifest] = manifests;
    const list = jsonValueOf(bytes);
    const [entry] = Array.isArray(list) ? (list as readonly JsonValue[]) : [];
    if (manifest === undefined || manifests.length !== 1 || !isJsonObject(entry)) return false;
    if ((list as readonly JsonValue[]).length !== 1) return false;
    const pathsOf = (value: JsonValue | undefined) =>
      descriptorsIn([value ?? []].flat()).map(
        ({ digest }) => `blobs/sha256/${digest.slice("sha256:".length)}`,
      );
    const { Config: config, Layers: layers } = entry;
    return (
      isSameJson(config, pathsOf(manifest["config"])[0]) && isSameJson(layers, pathsOf(manifest["layers"]))
    );
  }
}

interface PartDescriptor {
  readonly digest: string;
  readonly size: number;
  readonly isManifest: boolean;
}

function descriptorsIn(value: JsonValue | undefined): readonly PartDescriptor[] {
  return (Array.isArray(value) ? (value as readonly JsonValue[]) : []).flatMap((one) => {
    if (!isJsonObject(one)) return [];
    const { digest, size, mediaType } = one;
    const isValid =
      typeof digest === "string" && /^sha256:[0-9a-f]{64}$/.test(digest) && typeof size === "number";
    if (!isValid || typeof mediaType !== "string") return [];
    return [{ digest, size, isManifest: /\.image\.(?:manifest|index)\.v1\+json$/.test(mediaType) }];
  });
}

function jsonOf(bytes: Uint8Array | undefined): JsonObject | undefined {
  const value = jsonValueOf(bytes);
  return isJsonObject(value) ? value : undefined;
}

function jsonValueOf(bytes: Uint8Array | undefined): JsonValue | undefined {
  if (bytes === undefined || bytes.length > jsonMaxBytes) return undefined;
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), { maxDepth: 16 });
  } catch {
    return undefined;
  }
}

function digestOfBytes(bytes: Uint8Array): string {
  return `sha256:${hash("sha256", bytes, "hex")}`;
}
