/**
 * Builds images for tests, applies their layers with tar of the system, and runs them as a runtime does: in a sandbox
 * with the image as its root, an ordinary user, nothing writable but a temporary folder.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runProcess, sampleCatalog, type TemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { runToolcrib } from "../transcript.ts";

const bubblewrap = "/usr/bin/bwrap";
/** Filled by `toolcrib toolpack fetch` before the tests; see .ci/run. */
const fetched = join(import.meta.dirname, "../../../../node_modules/.cache/toolcrib-images/image-parts");

/** Options that reach no network: what is not on this machine is not found. */
export const offline = ["--debian-mirror", "http://127.0.0.1:9/debian"] as const;

/** Returns why images cannot be tested here; undefined where they can. */
export async function reasonWithoutImages(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return "images are tested on Linux x64";
  if (!existsSync(bubblewrap)) return "bubblewrap is not installed";
  await using directory = await makeHome();
  const { code, stderr } = await runToolcrib(["toolpack", "fetch", ...offline], {
    directory: directory.path,
  });
  return code === 0 ? undefined : `run toolcrib toolpack fetch before: ${stderr.trim().split("\n").at(-2)}`;
}

/** Returns a temporary home with the parts that were fetched before. */
export async function makeHome() {
  const { makeTemporaryDirectory } = await import("@toolcrib/testing");
  const directory = await makeTemporaryDirectory();
  copyParts(directory);
  return directory;
}

/** Copies the parts that were fetched before into the home of `directory`. */
export function copyParts(directory: TemporaryDirectory): void {
  if (!existsSync(fetched)) return;
  const folder = directory.join(".toolcrib/image-parts");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(fetched)) copyFileSync(join(fetched, name), join(folder, name));
}

/** Writes a catalog of fictional services; returns the variable that names it. */
export function writeCatalog(directory: string, ...names: readonly string[]) {
  writeFiles(join(directory, "catalog"), sampleCatalog(...names));
  return { TOOLCRIB_CATALOG: join(directory, "catalog") };
}

/** Builds what `args` say, and fails where the command does. */
export async function build(directory: string, args: readonly string[], env: object = {}): Promise<string> {
  const outcome = await runToolcrib(["toolpack", "build", ...args], { directory, env: { ...env } });
  assert.equal(outcome.code, 0, outcome.stderr);
  return outcome.stdout;
}

/** A descriptor of a blob. */
interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os: string; readonly architecture: string };
  readonly annotations?: { readonly [name: string]: string };
}

/** An image, read from its layout. */
export interface ReadImage {
  readonly index: Descriptor;
  readonly config: {
    readonly os: string;
    readonly architecture: string;
    readonly config: {
      readonly User: string;
      readonly Entrypoint: readonly string[];
      readonly Env: readonly string[];
      readonly WorkingDir: string;
      readonly Labels: { readonly [name: string]: string };
    };
    readonly rootfs: { readonly diff_ids: readonly string[] };
  };
  readonly layers: readonly Descriptor[];
}

/** Reads the only image of a layout, and checks the digest and the size of everything that it names. */
export function readImage(layout: string): ReadImage {
  const read = ({ digest, size }: Descriptor): Buffer => {
    const bytes = readFileSync(join(layout, "blobs", digest.replace(":", "/")));
    assert.equal(`sha256:${createHash("sha256").update(bytes).digest("hex")}`, digest);
    assert.equal(bytes.length, size);
    return bytes;
  };
  assert.deepEqual(JSON.parse(readFileSync(join(layout, "oci-layout"), "utf8")), {
    imageLayoutVersion: "1.0.0",
  });
  const { manifests } = JSON.parse(readFileSync(join(layout, "index.json"), "utf8")) as {
    readonly manifests: readonly Descriptor[];
  };
  const [index, ...others] = manifests;
  assert(index !== undefined && others.length === 0);
  const manifest = JSON.parse(read(index).toString()) as {
    config: Descriptor;
    layers: readonly Descriptor[];
  };
  const config = JSON.parse(read(manifest.config).toString()) as ReadImage["config"];
  for (const layer of manifest.layers) read(layer);
  assert.deepEqual(
    config.rootfs.diff_ids,
    manifest.layers.map(({ digest }) => digest),
  );
  return { index, config, layers: manifest.layers };
}

/** Applies the layers of an image to a new folder. */
export async function unpackImage(layout: string, root: string): Promise<ReadImage> {
  const image = readImage(layout);
  mkdirSync(root);
  for (const { digest } of image.layers) {
    const file = join(layout, "blobs", digest.replace(":", "/"));
    const { code, stderr } = await runProcess("tar", [
      "--extract",
      "--preserve-permissions",
      "--file",
      file,
      "--directory",
      root,
    ]);
    assert.equal(code, 0, stderr);
  }
  return image;
}

/** Returns the program and arguments that run a command in an image. @param temporary the folder that is `/tmp` */
export function inImage(
  root: string,
  temporary: string,
  { config }: ReadImage["config"],
  given: {
    readonly args?: readonly string[];
    readonly env?: { readonly [name: string]: string | undefined };
    readonly read?: readonly string[];
  },
) {
  const [uid = "", gid = ""] = config.User.split(":");
  const env = [
    ...config.Env.map((line) => line.split("=") as [string, string]),
    ...Object.entries(given.env ?? {}),
  ];
  return {
    command: bubblewrap,
    args: [
      ...["--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"],
      ...["--uid", uid, "--gid", gid, "--ro-bind", root, "/", "--proc", "/proc", "--dev", "/dev"],
      ...["--bind", temporary, "/tmp", "--remount-ro", "/dev", "--chdir", config.WorkingDir, "--clearenv"],
      // What a proxy asks its clients to trust.
      ...(given.read ?? []).flatMap((path, at) => ["--ro-bind", path, `/tmp/certificates-${at}.pem`]),
      ...env.flatMap(([name, value]) => (value === undefined ? [] : ["--setenv", name, value])),
      ...(given.args ?? config.Entrypoint),
    ],
  };
}
