/** Images for the node of the cluster, from files of this machine: no registry is asked. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** The settings that a Dockerfile has after its files. */
interface ImageConfig {
  readonly Cmd: readonly string[];
  readonly Env?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
}

/** Writes the files in `root` as an image with one layer, in the form that `docker save` writes. */
export function writeImage(folder: string, root: string, reference: string, config: ImageConfig): string {
  mkdirSync(folder, { recursive: true });
  tar(join(folder, "layer.tar"), root, ["."]);
  const digest = createHash("sha256")
    .update(readFileSync(join(folder, "layer.tar")))
    .digest("hex");
  const described = {
    architecture: "amd64",
    os: "linux",
    config,
    rootfs: { type: "layers", diff_ids: [`sha256:${digest}`] },
    history: [{ created_by: "toolcrib tests" }],
  };
  const manifest = [{ Config: "config.json", RepoTags: [reference], Layers: ["layer.tar"] }];
  writeFileSync(join(folder, "config.json"), JSON.stringify(described));
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  const archive = `${folder}.tar`;
  tar(archive, folder, ["manifest.json", "config.json", "layer.tar"]);
  return archive;
}

function tar(file: string, folder: string, names: readonly string[]): void {
  const { status, stderr } = spawnSync("tar", ["--create", "--file", file, "--directory", folder, ...names]);
  assert.equal(status, 0, String(stderr));
}

/**
 * Fills `root` as the Dockerfile of the page about containers does, with programs of this machine in place of those of its
 * base image, and the package in `installed` in place of the one that npm would download.
 */
export function fillGatewayRoot(root: string, installed: string): void {
  const programs = ["sh", "cat", "env"].map((name) => [`/usr/bin/${name}`, `/usr/bin/${name}`] as const);
  for (const [from, to] of [...programs, [process.execPath, "/usr/local/bin/node"] as const]) {
    copy(from, join(root, to));
    for (const library of librariesOf(from)) copy(library, join(root, library));
  }
  symlinkSync("usr/bin", join(root, "bin"));
  cpSync(installed, join(root, "usr/local/lib/node_modules/toolcrib"), { recursive: true });
  symlinkSync("../lib/node_modules/toolcrib/bin/toolcrib.js", join(root, "usr/local/bin/toolcrib"));
  mkdirSync(join(root, "etc"), { recursive: true });
  writeFileSync(
    join(root, "etc/passwd"),
    "root:x:0:0::/root:/bin/sh\ntoolcrib:x:10001:10001::/data:/bin/sh\n",
  );
  for (const folder of ["data", "config", "tmp", "home/toolcrib"]) {
    mkdirSync(join(root, folder), { recursive: true });
    chownSync(join(root, folder), 10_001, 10_001);
  }
  chmodSync(root, 0o755);
}

/** The libraries that the dynamic linker loads for a program. */
function librariesOf(program: string): readonly string[] {
  const { stdout } = spawnSync("ldd", [program], { encoding: "utf8" });
  return [...stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = ""]) => path);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
