import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { setVersion } from "../release/set-version.ts";

describe("the version of the repository", () => {
  const now = new Date("2026-03-04T05:06:07Z");

  test("is set in all manifests and in the lock file, and the changelog gets its date", async () => {
    await using directory = await makeTemporaryDirectory();
    const folder = directory.path;
    writeTree(folder, "0.1.0", "## [Unreleased]\n\n- A change.\n");
    assert.deepEqual(setVersion(folder, "0.2.0-rc.1", now), []);
    const read = (path: string) => readFileSync(join(folder, path), "utf8");
    assert.match(read("package.json"), /"version": "0\.2\.0-rc\.1"/);
    assert.match(read("packages/one/package.json"), /"version": "0\.2\.0-rc\.1"/);
    assert.match(read("packages/one/package.json"), /"@toolcrib\/two": "0\.2\.0-rc\.1"/);
    // Of another package, which has the same version.
    assert.match(read("packages/one/package.json"), /"foreign": "0\.1\.0"/);
    assert.match(read("package-lock.json"), /"@toolcrib\/two": "0\.2\.0-rc\.1"/);
    assert.match(
      read("CHANGELOG.md"),
      /## \[Unreleased\]\n\n## \[0\.2\.0-rc\.1\] - 2026-03-04\n\n- A change\.\n/,
    );
  });

  test("is refused where it is no later version, and nothing is changed", async () => {
    await using directory = await makeTemporaryDirectory();
    const folder = directory.path;
    writeTree(folder, "1.2.3", "## [Unreleased]\n\n## [1.2.3] - 2026-01-01\n");
    const before = readFileSync(join(folder, "CHANGELOG.md"), "utf8");
    const refusals: readonly (readonly [string, RegExp])[] = [
      ["1.2.3", /no later version than 1\.2\.3/],
      ["1.2.3-rc.1", /no later version/],
      ["v2.0.0", /is no version: write it as 1\.2\.3/],
      ["2.0", /is no version/],
    ];
    for (const [version, message] of refusals) {
      const [problem = "", ...others] = setVersion(folder, version, now);
      assert.match(problem, message);
      assert.deepEqual(others, []);
    }
    assert.equal(readFileSync(join(folder, "CHANGELOG.md"), "utf8"), before);
  });
});

function writeTree(folder: string, version: string, changelog: string): void {
  const one = {
    name: "@toolcrib/one",
    version,
    dependencies: { "@toolcrib/two": version, foreign: version },
  };
  const workspace = { name: "toolcrib-workspace", version };
  mkdirSync(join(folder, "packages/one"), { recursive: true });
  const files: { readonly [path: string]: unknown } = {
    "package.json": workspace,
    "packages/one/package.json": one,
    "package-lock.json": { ...workspace, packages: { "packages/one": one } },
  };
  for (const [path, value] of Object.entries(files)) {
    writeFileSync(join(folder, path), `${JSON.stringify(value, null, 2)}\n`);
  }
  writeFileSync(join(folder, "CHANGELOG.md"), `# Changelog\n\n${changelog}`);
}
