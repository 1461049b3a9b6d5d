/** Interrupted changes, and packages of other versions, that must not stop what is done elsewhere. */

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { readInstalledPackages, uninstallPackages } from "@toolcrib/mcpkg-install";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { archiveOf, changeDeps, install, placeIn, type TestPlace } from "./sample-packages.ts";

interface Editable {
  readonly packages: {
    toolId: string;
    digest: string;
    files: { path: string; bytes: number; sha256: string }[];
  }[];
  pending?: object[];
}

function editRecord({ home }: TestPlace, edit: (record: Editable) => void): void {
  const path = join(home, "packages", ".record.json");
  const record: Editable = JSON.parse(readFileSync(path, "utf8"));
  edit(record);
  writeFileSync(path, JSON.stringify(record));
}

/** Leaves the installation of `demo.echo` as a process that was killed before it moved the package. */
function interrupt(place: TestPlace): void {
  editRecord(place, (record) => {
    const staged = record.packages[0]?.digest.replace("sha256:", "") ?? "";
    const root = join(place.project, ".mcp", "tools");
    mkdirSync(join(root, ".staging"), { recursive: true });
    renameSync(join(root, "demo.echo"), join(root, ".staging", staged));
    record.pending = [{ toolId: "demo.echo", project: place.project, staged }];
  });
}

/** Losses of the folder of the project. Each returns a function that restores it. */
const damages: { readonly [title: string]: (project: string) => () => void } = {
  "whose folder is a file now": (project) => {
    renameSync(project, `${project}.away`);
    writeFileSync(project, "a file");
    return () => {
      rmSync(project);
      renameSync(`${project}.away`, project);
    };
  },
  "whose .mcp/tools is a link now": (project) => {
    const tools = join(project, ".mcp", "tools");
    renameSync(tools, `${project}.away`);
    symlinkSync(`${project}.away`, tools);
    return () => {
      rmSync(tools);
      renameSync(`${project}.away`, tools);
    };
  },
};

describe("an interrupted change stays pending, and stops no other project, in a project", () => {
  for (const [title, damage] of Object.entries(damages)) {
    test(title, async () => {
      await using directory = await makeTemporaryDirectory();
      const place = placeIn(directory);
      await install(place, [archiveOf()]);
      interrupt(place);
      const restore = damage(place.project);
      const other = { ...place, project: directory.join("other") };
      mkdirSync(other.project);
      const findings: Diagnostic[] = [];
      const deps = { ...changeDeps, onFinding: (finding: Diagnostic) => void findings.push(finding) };
      await install(other, [archiveOf({ toolId: "demo.two" })], { deps });
      assert(
        findings.some(({ code, message }) => code === "INSTALL_CHANGE_PENDING" && /demo\.echo/.test(message)),
      );
      const installed = async ({ home, project }: TestPlace) =>
        (await readInstalledPackages({ home, projectFolder: project })).packages.map(({ toolId }) => toolId);
      assert.deepEqual(await installed(other), ["demo.two"]);
      await uninstallPackages(deps, { ...other, toolIds: ["demo.two"] });
      assert.deepEqual(await installed(other), []);
      // The next command completes it when the folder is there again.
      restore();
      await install(place, [archiveOf({ toolId: "demo.three" })], { deps: changeDeps });
      assert.deepEqual(await installed(place), ["demo.echo", "demo.three"]);
      assert(existsSync(join(place.project, ".mcp", "tools", "demo.echo", "manifest.json")));
    });
  }
});

test("an intact package that this version cannot read stops no installation and no removal of others", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  await install(place, [archiveOf(), archiveOf({ toolId: "demo.two" })]);
  const path = join(place.project, ".mcp", "tools", "demo.echo", "manifest.json");
  const text = '{"toolId":"demo.echo","manifestVersion":99}';
  chmodSync(path, 0o644);
  writeFileSync(path, text);
  editRecord(place, ({ packages }) => {
    const file = packages
      .find(({ toolId }) => toolId === "demo.echo")
      ?.files.find((one) => one.path === "manifest.json");
    Object.assign(file ?? {}, { bytes: text.length, sha256: hash("sha256", text, "hex") });
  });
  assert.equal(
    (await readInstalledPackages({ home: place.home, projectFolder: place.project })).packages.length,
    2,
  );
  await install(place, [archiveOf({ toolId: "demo.pipe", chain: ["demo.two"] })]);
  await uninstallPackages(changeDeps, { ...place, toolIds: ["demo.pipe"] });
  await uninstallPackages(changeDeps, { ...place, toolIds: ["demo.two"] });
  // A chain that calls it needs one that runs.
  const pipe = archiveOf({ toolId: "demo.pipe", chain: ["demo.echo"] });
  await assert.rejects(install(place, [pipe]));
  await install(place, [pipe, archiveOf()]);
});

test("the results of tests beside a package go with it", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  await install(place, [archiveOf()]);
  const path = join(place.project, ".mcp", "tools", "demo.echo.metadata.json");
  writeFileSync(path, "{}");
  await uninstallPackages(changeDeps, { ...place, toolIds: ["demo.echo"] });
  assert.equal(existsSync(path), false);
});
