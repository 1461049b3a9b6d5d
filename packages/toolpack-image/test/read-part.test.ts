import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  archiveLayout,
  buildImage,
  readPart,
  runtimeParts,
  ToolpackImageError,
} from "@toolcrib/toolpack-image";
import { sampleEngine, samplePart, sampleRuntime, sampleToolpack } from "./samples.ts";

/** A tar archive to read from: the layout of an image, with its index among the files. */
const layout = buildImage({
  toolpacks: [sampleToolpack("alpha")],
  engine: sampleEngine,
  runtimes: [sampleRuntime],
});
const archive = gzipSync(Buffer.concat(archiveLayout(layout)));
const index = Buffer.concat(layout.files.get("index.json") ?? []).toString();

/** Returns a part that has the index of the layout, and `change`. */
function partOf(
  change: { readonly path?: string; readonly text?: string; readonly archive?: Uint8Array } = {},
) {
  const part = samplePart(change.archive ?? archive, { x: change.text ?? index });
  return { ...part, files: part.files.map((file) => ({ ...file, path: change.path ?? "index.json" })) };
}

test("readPart() returns the recorded files of an archive of npm", async () => {
  const files = await readPart(partOf(), archive);
  assert.equal(Buffer.from(files.get("usr/x") ?? []).toString(), index);
});

/** An archive or record that does not fit, and the reason. */
function checkRefusal(
  title: string,
  part: ReturnType<typeof partOf>,
  bytes: Uint8Array,
  expected: RegExp,
): void {
  test(`readPart() refuses ${title}`, async () => {
    await assert.rejects(
      readPart(part, bytes),
      (error) => error instanceof ToolpackImageError && expected.test(error.message),
    );
  });
}

checkRefusal(
  "an archive with another digest",
  partOf(),
  Buffer.concat([archive, Buffer.alloc(1)]),
  /its digest is not the recorded one/,
);
checkRefusal("a file that is missing", partOf({ path: "none" }), archive, /it has no file "none"/);
checkRefusal(
  "a file with another digest",
  partOf({ text: "other" }),
  archive,
  /"index.json" has another digest/,
);
const cut = gzipSync(Buffer.concat(archiveLayout(layout)).subarray(0, 1546));
checkRefusal(
  "an archive that is cut off",
  partOf({ archive: cut, path: "none" }),
  cut,
  /cut off, or not one/,
);

test("the recorded Node is the one of the lockfile", () => {
  const lock = JSON.parse(readFileSync(join(import.meta.dirname, "../../../package-lock.json"), "utf8")) as {
    readonly packages: { readonly [path: string]: { readonly version: string; readonly integrity: string } };
  };
  for (const platform of ["linux/amd64", "linux/arm64"] as const) {
    const node = runtimeParts(platform).find(({ archive: { kind } }) => kind === "npm");
    assert(node?.archive.kind === "npm");
    const { name, version, integrity } = node.archive;
    const { version: locked, integrity: lockedIntegrity } = lock.packages[`node_modules/${name}`] ?? {};
    assert.deepEqual([version, integrity], [locked, lockedIntegrity]);
  }
});
