/** Images of toolpacks: their bytes, their files, and what runs in them may do. No network and no container runtime. */

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { runProcess, sampleManifest, sampleToolspec } from "@toolcrib/testing";
import { runtimeParts } from "@toolcrib/toolpack-image";
import {
  build,
  inImage,
  makeHome,
  offline,
  type ReadImage,
  reasonWithoutImages,
  unpackImage,
  writeCatalog,
} from "./toolpack-images.ts";

const skip = (await reasonWithoutImages()) ?? false;
const everything = ["alpha", "--format", "image", "--format", "mcpkg", "--format", "mcpb", ...offline];
// One build, and its image applied, for all tests.
const home = await makeHome();
after(() => home[Symbol.asyncDispose]());
const layout = home.join("alpha-0.1.0/image");
let image: ReadImage;
before(async () => {
  if (skip !== false) return;
  await build(home.path, everything, writeCatalog(home.path, "alpha"));
  image = await unpackImage(layout, home.join("root"));
});

/** Returns all files below a folder by their paths. */
function readTree(folder: string): ReadonlyMap<string, Buffer> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return new Map(
    paths
      .filter((path) => statSync(join(folder, path)).isFile())
      .map((path) => [path, readFileSync(join(folder, path))]),
  );
}

test("toolcrib toolpack build gives the same bytes twice, in other folders and homes", { skip }, async () => {
  await using other = await makeHome();
  await build(other.path, everything, writeCatalog(other.path, "alpha"));
  const first = readTree(home.join("alpha-0.1.0"));
  const second = readTree(other.join("alpha-0.1.0"));
  assert.deepEqual([...first.keys()], [...second.keys()]);
  for (const [path, bytes] of first) assert(bytes.equals(second.get(path) ?? Buffer.alloc(0)), path);
  assert.deepEqual(
    [...first.keys()].filter((path) => !path.startsWith("image/blobs/")),
    [
      "alpha-0.1.0.mcpb",
      "image/index.json",
      "image/manifest.json",
      "image/oci-layout",
      "packages/alpha.add_repo-0.1.0.mcpkg",
      "packages/alpha.get_repo-0.1.0.mcpkg",
      "packages/alpha.list_repos-0.1.0.mcpkg",
      "provenance.json",
      "sbom.cdx.json",
    ],
  );
});

test("an image has the files of the engine and its runtime, and no shell, link or foreign owner", {
  skip,
}, async () => {
  assert.deepEqual(image.config.config.Entrypoint, ["/app/server"]);
  assert.equal(image.config.config.User, "65532:65532");
  assert.deepEqual(image.index.platform, { os: "linux", architecture: "amd64" });
  assert.equal(image.config.config.Labels["io.toolcrib.toolpack.services"], "alpha@0.1.0");
  assert.equal(image.index.annotations?.["io.containerd.image.name"], "registry.example/alpha:0.1.0");
  const recorded = runtimeParts("linux/amd64").flatMap(({ files }) =>
    files.map(({ installed }) => installed),
  );
  const own = ["app/manifest.yaml", "app/package.json", "app/server", "app/toolspec.yaml"];
  const accounts = ["etc/group", "etc/nsswitch.conf", "etc/passwd", "usr/share/doc/toolcrib/licenses.txt"];
  const found = [...readTree(home.join("root")).keys()];
  assert.deepEqual(found, [...own, ...accounts, ...recorded].toSorted());
  assert.equal(readFileSync(home.join("root/app/manifest.yaml"), "utf8"), sampleManifest("alpha"));
  assert.equal(readFileSync(home.join("root/app/toolspec.yaml"), "utf8"), sampleToolspec("alpha"));
  for (const { digest } of image.layers) {
    const file = join(layout, "blobs", digest.replace(":", "/"));
    const { stdout } = await runProcess("tar", [
      "--list",
      "--verbose",
      "--numeric-owner",
      "--utc",
      "--file",
      file,
    ]);
    for (const line of stdout.trim().split("\n")) {
      // Files and folders, without setuid and setgid, of root, and of one time.
      assert.match(line, /^(?:-rw-r--r--|-rwxr-xr-x|drwxr-xr-x|drwxrwxrwt) 0\/0 +\d+ 1970-01-01 00:00 /);
    }
  }
});

/** Tries to write in every folder of the image, and prints the ones where it could. */
const writeEverywhere = `
import { readdirSync, writeFileSync, rmSync } from "node:fs";
const written = [];
const visit = (folder) => {
  try { writeFileSync(folder + "/probe", "x"); written.push(folder); rmSync(folder + "/probe"); } catch {}
  if (folder === "/proc") return;
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) visit((folder === "/" ? "" : folder) + "/" + entry.name);
    }
  } catch {}
};
visit("/");
console.log(JSON.stringify({ written, uid: process.getuid(), gid: process.getgid() }));`;

test("in an image, an ordinary user writes to the temporary folder only", { skip }, async () => {
  const { config } = image;
  mkdirSync(home.join("temporary"));
  const run = (args: readonly string[]) => {
    const { command, args: all } = inImage(home.join("root"), home.join("temporary"), config, { args });
    return runProcess(command, all);
  };
  const { stdout, stderr } = await run(["/usr/local/bin/node", "--input-type=module", "-e", writeEverywhere]);
  assert.equal(stderr, "");
  const { written, uid, gid } = JSON.parse(stdout) as { written: string[]; uid: number; gid: number };
  assert.deepEqual(written, ["/tmp"]);
  assert.deepEqual([uid, gid], [65_532, 65_532]);
  for (const shell of ["/bin/sh", "sh", "bash", "busybox"])
    assert.notEqual((await run([shell, "-c", "true"])).code, 0);
  assert.deepEqual(readdirSync(home.join("temporary")), []);
});
