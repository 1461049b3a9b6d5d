/** The launcher of a checkout: the bundle of `npm ci` while it is that of the sources, otherwise the sources. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, realpathSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { cleanEnvironment } from "./transcript.ts";

const bin = join(import.meta.dirname, "../bin");
const source = "packages/cli/src/bin.ts";
const entry = "node_modules/.cache/toolcrib-command/0123/bin.js";
const current = "node_modules/.cache/toolcrib-command/current.json";
/** In seconds, which every file system keeps. */
const changedAt = 1_700_000_000;

/** A checkout with one source and its bundle, each of which prints its name and its arguments. */
async function makeCheckout() {
  const directory = await makeTemporaryDirectory();
  const write = (path: string, text: string) => {
    mkdirSync(dirname(directory.join(path)), { recursive: true });
    writeFileSync(directory.join(path), text);
  };
  cpSync(bin, directory.join("packages/cli/bin"), { recursive: true });
  write("packages/cli/package.json", '{"type":"module"}');
  write(source, 'console.log("sources", ...process.argv.slice(2), process.execArgv.join());\n');
  write(entry, 'console.log("bundle", ...process.argv.slice(2));\n');
  utimesSync(directory.join(source), changedAt, changedAt);
  const { mtimeMs, size } = statSync(directory.join(source));
  const root = realpathSync(directory.path);
  write(current, JSON.stringify({ root, entry, sources: [[source, mtimeMs, size]] }));
  const run = async () => {
    const args = [directory.join("packages/cli/bin/toolcrib.js"), "list", "--json"];
    const env = cleanEnvironment(directory.path);
    const { stdout, stderr } = await runProcess(process.execPath, args, { cwd: directory.path, env });
    assert.equal(stderr, "");
    return stdout.trim();
  };
  return { directory, root, write, run };
}

const fromSources = "sources list --json --conditions=toolcrib-source";

test("a checkout starts the bundle of its sources", async () => {
  const checkout = await makeCheckout();
  await using _directory = checkout.directory;
  assert.equal(await checkout.run(), "bundle list --json");
});

const changes: Readonly<Record<string, (checkout: Awaited<ReturnType<typeof makeCheckout>>) => void>> = {
  "a source is newer": ({ directory }) => utimesSync(directory.join(source), new Date(), new Date()),
  "a source has another size and the same time": ({ directory, write }) => {
    write(source, 'console.log("sources", ...process.argv.slice(2), process.execArgv.join()); // longer\n');
    utimesSync(directory.join(source), changedAt, changedAt);
  },
  "a source in the bundle is gone": ({ root, write }) => {
    write(current, JSON.stringify({ root, entry, sources: [["packages/cli/src/gone.ts", 1, 1]] }));
  },
  "its bundle was made in another folder": ({ root, write }) => {
    const { mtimeMs, size } = statSync(join(root, source));
    write(current, JSON.stringify({ root: `${root}-before`, entry, sources: [[source, mtimeMs, size]] }));
  },
  "the bundle is gone": ({ directory }) => rmSync(directory.join(entry)),
  "there is none": ({ directory }) => rmSync(directory.join("node_modules"), { recursive: true }),
  "its list is damaged": ({ write }) => write(current, '{"entry":'),
};

for (const [name, change] of Object.entries(changes)) {
  test(`a checkout starts its sources if ${name}`, async () => {
    const checkout = await makeCheckout();
    await using _directory = checkout.directory;
    change(checkout);
    assert.equal(await checkout.run(), fromSources);
  });
}
