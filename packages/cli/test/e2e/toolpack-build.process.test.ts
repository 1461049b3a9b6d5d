/** `toolcrib toolpack build`: the input that it refuses, and the files that it writes besides images. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { runProcess, sampleManifest, sampleToolspec } from "@toolcrib/testing";
import { runToolcrib } from "../transcript.ts";
import { build, makeHome, offline, readImage, reasonWithoutImages, writeCatalog } from "./toolpack-images.ts";

const skip = (await reasonWithoutImages()) ?? false;
const zeros = `sha256:${"0".repeat(64)}`;

test("an image as one archive has the same image, and --update-manifest writes a digest that a second build confirms", {
  skip,
}, async () => {
  await using home = await makeHome();
  writeFileSync(home.join("m.yaml"), `# our own\n${sampleManifest("alpha")}`);
  writeFileSync(home.join("t.yaml"), sampleToolspec("alpha"));
  const files = ["--manifest", "m.yaml", "--toolspec", "t.yaml", ...offline];
  await build(home.path, [...files, "--out", "one"]);
  const printed = await build(home.path, [
    ...files,
    "--out",
    "two",
    "--tar",
    "--update-manifest",
    "--ref",
    "mirror.example/tools/alpha:1",
  ]);
  const updated = readFileSync(home.join("m.yaml"), "utf8");
  const digest = /^Image mirror\.example\/tools\/alpha:1 (sha256:[0-9a-f]{64})$/m.exec(printed)?.[1] ?? "";
  assert.equal(
    updated,
    `# our own\n${sampleManifest("alpha").replace(zeros, digest).replace("registry.example/alpha", "mirror.example/tools/alpha")}`,
  );
  mkdirSync(home.join("unpacked"));
  const { code } = await runProcess("tar", [
    "-xf",
    home.join("two/alpha-0.1.0.oci.tar"),
    "-C",
    home.join("unpacked"),
  ]);
  assert.equal(code, 0);
  assert.equal(readImage(home.join("unpacked")).index.digest, digest);
  await build(home.path, [...files, "--out", "three"]);
  assert.equal(readImage(home.join("three/image")).index.digest, digest);
});

/** A command line that is refused, and the expected message. */
function checkRefusal(title: string, args: readonly string[], expected: RegExp, exitCode = 2): void {
  test(`toolcrib toolpack build refuses ${title}`, async () => {
    await using home = await makeHome();
    writeFileSync(home.join("file"), "");
    const env = writeCatalog(home.path, "alpha", "al-pha", `long-${"x".repeat(55)}`);
    const { code, stderr } = await runToolcrib(["toolpack", "build", ...args, ...offline], {
      directory: home.path,
      env,
    });
    assert.match(stderr, expected);
    assert.equal(code, exitCode);
    assert(!existsSync(home.join("alpha-0.1.0")));
  });
}

checkRefusal(
  "nothing to build",
  [],
  /^error CLI_USAGE: No service to build\nhint: name services of the catalog/,
);
checkRefusal(
  "an unknown service",
  ["alpa"],
  /^error CLI_TOOLSPEC_NOT_FOUND: .*\nhint: did you mean alpha\?/,
  4,
);
checkRefusal(
  "a manifest without its toolspec",
  ["--manifest", "m.yaml"],
  /Each --manifest needs its --toolspec/,
);
checkRefusal("--tar without an image", ["alpha", "--format", "mcpb", "--tar"], /--tar, .* are for images/);
checkRefusal(
  "--update-manifest of the catalog",
  ["alpha", "--update-manifest"],
  /--update-manifest needs one service/,
);
checkRefusal(
  "a variable that does not exist",
  ["alpha", "--variable", "a=b"],
  /There is no variable "a"\nhint: omit --variable/,
);
checkRefusal(
  "one service twice",
  ["alpha", "alpha", "--format", "mcpb"],
  /IMAGE_TOOL_NAME_TAKEN: Two services are called "alpha"/,
  1,
);
checkRefusal(
  "names of tools that are too long",
  ["alpha", `long-${"x".repeat(55)}`, "--format", "mcpb"],
  /IMAGE_TOOL_NAME_INVALID: .* is longer than 64 characters/,
  1,
);
checkRefusal(
  "a folder that is taken",
  ["alpha", "--format", "mcpb", "--out", "file"],
  /CLI_FILE_EXISTS: Cannot write to "file"/,
);
