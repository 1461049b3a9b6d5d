import assert from "node:assert/strict";
import { test } from "node:test";
import {
  archiveLayout,
  buildImage,
  digestOf,
  type FileParts,
  ToolpackImageError,
} from "@toolcrib/toolpack-image";
import { sampleEngine, sampleRuntime, sampleToolpack } from "./samples.ts";

interface Descriptor {
  readonly digest: string;
  readonly mediaType: string;
  readonly platform?: unknown;
}

function readJson(files: ReadonlyMap<string, FileParts>, path: string): { [name: string]: unknown } {
  const parts = files.get(path);
  assert(parts !== undefined, path);
  return JSON.parse(Buffer.concat(parts).toString()) as { [name: string]: unknown };
}

const blob = (digest: string) => `blobs/${digest.replace(":", "/")}`;

test("buildImage() names every blob by its digest, and depends on nothing but its input", () => {
  const input = { toolpacks: [sampleToolpack("alpha")], engine: sampleEngine, runtimes: [sampleRuntime] };
  const image = buildImage(input);
  for (const [path, parts] of image.files) {
    if (path.startsWith("blobs/")) assert.equal(path, blob(digestOf(parts)));
  }
  assert.equal(digestOf(archiveLayout(image)), digestOf(archiveLayout(buildImage(input))));
  assert.equal(image.reference, "registry.example/alpha:0.1.0");
  const changed = buildImage({ ...input, engine: { ...sampleEngine, bytes: Buffer.from("other") } });
  assert.notEqual(changed.digest, image.digest);
});

test("buildImage() of several platforms is an index of their images", () => {
  const runtimes = [sampleRuntime, { ...sampleRuntime, platform: "linux/arm64" as const }];
  const { files, digest, manifests } = buildImage({
    toolpacks: [sampleToolpack("alpha")],
    engine: sampleEngine,
    runtimes,
  });
  const index = readJson(files, blob(digest));
  const entries = index["manifests"] as readonly Descriptor[];
  assert.deepEqual(
    entries.map(({ platform }) => platform),
    [
      { os: "linux", architecture: "amd64" },
      { os: "linux", architecture: "arm64" },
    ],
  );
  assert.deepEqual(
    entries.map((one) => one.digest),
    [...manifests.values()],
  );
  assert.equal(new Set(manifests.values()).size, 2);
  assert.equal(files.get("manifest.json"), undefined);
});

test("buildImage() keeps the image when the digest is written into the manifest", () => {
  const runtimes = [sampleRuntime];
  const before = buildImage({ toolpacks: [sampleToolpack("alpha")], engine: sampleEngine, runtimes });
  const written = sampleToolpack("alpha", (text) => text.replace(`sha256:${"0".repeat(64)}`, before.digest));
  assert.equal(written.manifest.image.digest, before.digest);
  assert.equal(buildImage({ toolpacks: [written], engine: sampleEngine, runtimes }).digest, before.digest);
});

/** An image that cannot be built, and the error. */
function checkRefusal(title: string, entrypoint: string, expected: RegExp, reference?: string): void {
  test(`buildImage() refuses ${title}`, () => {
    const toolpacks = [sampleToolpack("alpha", (text) => text.replace("/app/server", entrypoint))];
    assert.throws(
      () => buildImage({ toolpacks, engine: sampleEngine, runtimes: [sampleRuntime], reference }),
      (error) => error instanceof ToolpackImageError && expected.test(`${error.code}: ${error.message}`),
    );
  });
}

checkRefusal(
  "an entry point that is the manifest",
  "/app/manifest.yaml",
  /^IMAGE_PATH_CONFLICT: .*"\/app\/manifest.yaml"/,
);
checkRefusal(
  "an entry point that is Node",
  "/usr/local/bin/node",
  /^IMAGE_PATH_CONFLICT: .*"\/usr\/local\/bin\/node"/,
);
checkRefusal(
  "an entry point below a file",
  "/app/toolspec.yaml/x",
  /^IMAGE_PATH_CONFLICT: .*"\/app\/toolspec.yaml"/,
);
checkRefusal("an entry point with ..", "/app/../x", /^IMAGE_PATH_CONFLICT: An image cannot have the path/);
checkRefusal("a folder as entry point", "/", /^IMAGE_PATH_CONFLICT/);
checkRefusal("a reference without a tag", "/app/x", /^IMAGE_NAME_INVALID/, "registry.example/alpha");
checkRefusal("a reference with a digest", "/app/x", /^IMAGE_NAME_INVALID/, `a:b@sha256:${"0".repeat(64)}`);
