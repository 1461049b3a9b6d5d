/** `policy-mutations.json` names files and lines that exist, and every file that makes a denial. */

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const sources = globSync("packages/*/src/**/*.ts", { cwd: root });
const tests = globSync("packages/*/test/**/*.test.ts", { cwd: root });

const settings = JSON.parse(read("scripts/policy-mutations.json")) as {
  readonly groups: readonly { readonly files: readonly string[]; readonly tests: readonly string[] }[];
  readonly exemptions: readonly { readonly file: string; readonly line: string; readonly reason: string }[];
};
const mutated = settings.groups.flatMap(({ files }) => files);

/** Returns the paths of the files that are called `name`, which can begin with some of its folders. */
const called = (name: string, paths: readonly string[]) => paths.filter((path) => path.endsWith(`/${name}`));

test("every file and test is one that exists, whichever package it is in", () => {
  for (const name of mutated) assert.equal(called(name, sources).length, 1, name);
  for (const name of settings.groups.flatMap((group) => group.tests)) {
    assert.equal(called(name, tests).length, 1, name);
  }
});

test("every exempted line is in its file", () => {
  for (const { file, line, reason } of settings.exemptions) {
    assert.ok(mutated.includes(file), `${file} is not changed`);
    const [path = ""] = called(file, sources);
    const lines = read(path)
      .split("\n")
      .map((text) => text.trim());
    assert.ok(lines.includes(line), `${path}: ${line}`);
    assert.notEqual(reason, "");
  }
});

test("every file that makes a denial is changed", () => {
  const denying = sources.filter((path) => /\bkind: "deny",|implements FilePolicies\b/.test(read(path)));
  assert.ok(denying.length >= 2);
  assert.deepEqual(
    denying.filter((path) => !mutated.includes(basename(path))),
    [],
  );
});
