/**
 * The image of the gateway, from the package as it is published and the recorded runtime. The same sources give the same
 * bytes. Parts of the runtime that neither this machine nor the cache has are downloaded by `toolcrib toolpack fetch`.
 */

import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  archiveLayout,
  buildGatewayImage,
  digestOf,
  type ImagePlatform,
  type PackageFile,
  runtimeParts,
} from "@toolcrib/toolpack-image";

/** Where the image is written, and for which machines. */
export interface ImageTarget {
  /** A tar archive; `docker load`, `podman load` and `skopeo` take it. */
  readonly out: string;
  readonly platforms: readonly ImagePlatform[];
}

/** Writes the image of the package in `folder`, and returns its reference and digest. */
export function writeGatewayImage(
  root: string,
  folder: string,
  { out, platforms }: ImageTarget,
): {
  readonly reference: string;
  readonly digest: string;
  readonly archiveDigest: string;
  readonly bytes: number;
} {
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly version: string;
  };
  const home = join(root, "node_modules/.cache/toolcrib-images");
  const runtimes = platforms.map((platform) => ({ platform, contents: readRuntime(root, home, platform) }));
  const layout = buildGatewayImage({ files: filesOf(folder), version, runtimes });
  const archive = archiveLayout(layout);
  mkdirSync(dirname(resolve(out)), { recursive: true });
  writeFileSync(out, Buffer.concat(archive));
  const bytes = archive.reduce((total, { length }) => total + length, 0);
  return { reference: `toolcrib:${version}`, digest: layout.digest, archiveDigest: digestOf(archive), bytes };
}

/** The files of a package, without what only npm reads. */
function filesOf(folder: string): readonly PackageFile[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => ({
      path: path.replaceAll("\\", "/"),
      bytes: readFileSync(join(folder, path)),
      isExecutable: (statSync(join(folder, path)).mode & 0o100) !== 0,
    }));
}

/** The files of the runtime by their paths in the image. */
function readRuntime(root: string, home: string, platform: ImagePlatform): ReadonlyMap<string, Uint8Array> {
  const found = findRuntime(home, platform);
  if (typeof found !== "string") return found;
  const launcher = join(root, "packages/cli/bin/toolcrib.js");
  const args = [launcher, "--home", home, "toolpack", "fetch", "--platform", platform];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  const fetched = status === 0 ? findRuntime(home, platform) : found;
  if (typeof fetched === "string") throw new Error(`A file of the runtime is missing: ${fetched}`);
  return fetched;
}

/** The files with the recorded digests in the cache or on this machine; the path of one that is at neither. */
function findRuntime(home: string, platform: ImagePlatform): ReadonlyMap<string, Uint8Array> | string {
  const nodeFolder = join(dirname(process.execPath), "..");
  const contents = new Map<string, Uint8Array>();
  for (const { archive, files } of runtimeParts(platform)) {
    for (const { path, installed, sha256 } of files) {
      const here = archive.kind === "npm" ? join(nodeFolder, path.replace(/^package\//, "")) : `/${path}`;
      const bytes = [join(home, "image-parts", sha256), here]
        .filter((one) => existsSync(one))
        .map((one) => readFileSync(one))
        .find((one) => hash("sha256", one, "hex") === sha256);
      if (bytes === undefined) return installed;
      contents.set(installed, bytes);
    }
  }
  return contents;
}
