/** `toolcrib chains optimize`: real chains of contained programs, with faster, wrong, writing and held alternatives. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { readInstalledPackages } from "@toolcrib/mcpkg-install";
import { createTestHistory } from "@toolcrib/store";
import { makeTemporaryDirectory, type TemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

interface Described {
  readonly [member: string]: unknown;
}

/** A package whose program trims and lowers a text, after a while. */
function cleaner(toolId: string, body: string, more: Described = {}): { readonly [path: string]: string } {
  const manifest = {
    toolId,
    name: toolId,
    version: "1.0.0",
    description: "Cleans a text.",
    capabilities: ["text", "clean"],
    endpoint: { type: "local", command: "node ./run.mjs" },
    input_schema: schema,
    output_schema: schema,
    ...more,
  };
  return {
    "manifest.json": JSON.stringify(manifest),
    "run.mjs": `const { text } = JSON.parse(process.argv.at(-1));\n${body}`,
  };
}

const write = (value: string) => `console.log(JSON.stringify({ text: ${value} }));`;
const waitMs = 1200;
const slow = `await new Promise((resolve) => setTimeout(resolve, ${waitMs}));\n${write("text.trim().toLowerCase()")}`;

function chain(
  toolId: string,
  steps: readonly Described[],
  more: Described = {},
): { readonly [path: string]: string } {
  const manifest = {
    toolId,
    name: toolId,
    version: "1.2.3",
    description: "Cleans and marks a text.",
    capabilities: ["flow"],
    chain: steps,
    input_schema: schema,
    output_schema: schema,
    tests: ["tests/a.test.json"],
    ...more,
  };
  const one = { name: "a", input: { text: " Abc " }, expected: { text: "abc!" } };
  return {
    "manifest.json": JSON.stringify(manifest),
    "tests/a.test.json": JSON.stringify(one),
    "README.md": "A flow.",
  };
}

const clean = {
  step: "clean",
  tool: "acme.clean.slow",
  inputMapping: { text: "$.input.text" },
  outputKey: "cleaned",
};
const mark = {
  step: "mark",
  tool: "acme.mark.it",
  inputMapping: { text: "$.cleaned.text" },
  outputKey: "marked",
};
const marker = cleaner("acme.mark.it", write('text + "!"'), { capabilities: ["mark"] });

async function install(
  directory: TemporaryDirectory,
  packages: { readonly [folder: string]: { readonly [path: string]: string } },
): Promise<void> {
  for (const [folder, files] of Object.entries(packages)) {
    writeFiles(
      directory.path,
      Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text])),
    );
    const { code, stderr } = await runToolcrib(["install", `./${folder}`, "--user"], {
      directory: directory.path,
    });
    assert.equal(code, 0, stderr);
  }
}

const pairs = ["--pairs", "3"];

test("a faster tool takes the place of a slow one, and the new version says what was replaced and measured", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  await install(directory, {
    slow: cleaner("acme.clean.slow", slow),
    fast: cleaner("acme.clean.fast", write("text.trim().toLowerCase()")),
    wrong: cleaner("acme.clean.wrong", write("text.trim()")),
    other: cleaner("acme.clean.other", write("text.trim().toLowerCase()"), {
      input_schema: { ...schema, required: ["text", "language"] },
    }),
    writer: cleaner("acme.clean.writer", write("text.trim().toLowerCase()"), {
      endpoint: { type: "http", method: "POST", url: "https://example.com/clean" },
    }),
    marker,
    flow: chain("acme.flow.clean", [clean, mark]),
  });
  const { code, stdout, stderr } = await runToolcrib(
    ["chains", "optimize", "acme.flow.clean", ...pairs, "--json", "--out", "new", "--sign"],
    setting,
  );
  assert.equal(code, 0, stderr);
  const found = JSON.parse(stdout) as {
    version: string;
    attempts: { change: { to: string }; outcome: string; reason: string }[];
    measured: { beforeMs: number; afterMs: number; fasterPairs: number };
    written: { path: string; keyId: string };
  };
  const outcomes = new Map(
    found.attempts.map(({ change, outcome, reason }) => [change.to, `${outcome}: ${reason}`]),
  );
  assert.match(outcomes.get("acme.clean.fast") ?? "", /^faster: /);
  assert.match(outcomes.get("acme.clean.wrong") ?? "", /^fails: tests\/a\.test\.json: /);
  assert.match(
    outcomes.get("acme.clean.other") ?? "",
    /^not tried: it does not take what the step passes: .*language/,
  );
  assert.match(outcomes.get("acme.clean.writer") ?? "", /^not tried: it may change something/);
  assert.equal(outcomes.size, 4);
  assert.equal(found.version, "1.3.0");
  assert.equal(found.measured.fasterPairs, 3);
  assert.ok(found.measured.beforeMs > found.measured.afterMs);
  const read = (path: string) => JSON.parse(readFileSync(directory.join(`new/${path}`), "utf8"));
  const manifest = read("manifest.json");
  assert.equal(manifest.version, "1.3.0");
  assert.deepEqual(manifest.chain, [{ ...clean, tool: "acme.clean.fast" }, mark]);
  assert.equal(readFileSync(directory.join("new/README.md"), "utf8"), "A flow.");
  const provenance = read("meta/provenance.json");
  assert.deepEqual(provenance.changes, [
    {
      kind: "replaced",
      step: "clean",
      from: "acme.clean.slow",
      to: "acme.clean.fast",
      reason: "it is faster",
    },
  ]);
  assert.equal(provenance.optimizedFrom.version, "1.2.3");
  assert.deepEqual(provenance.measured, found.measured);
  const verified = await runToolcrib(["verify", "new"], setting);
  assert.match(verified.stdout, new RegExp(`is signed by ${found.written.keyId}`));
  const installed = await runToolcrib(["install", "./new", "--user"], setting);
  assert.equal(installed.code, 0, installed.stderr);
  const tested = await runToolcrib(["test", "acme.flow.clean"], setting);
  assert.match(tested.stdout, /acme\.flow\.clean 1\.3\.0: 1 passed, 0 failed/);
});

test("steps that nothing needs are removed, and equal steps are made once", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const steps = [
    clean,
    { ...clean, step: "again", outputKey: "again_out" },
    { ...mark, step: "unused", outputKey: "unused_out", inputMapping: { text: "$.again_out.text" } },
    { ...mark, inputMapping: { text: "$.again_out.text" } },
  ];
  await install(directory, {
    slow: cleaner("acme.clean.slow", slow),
    marker,
    flow: chain("acme.flow.clean", steps),
  });
  const { code, stdout, stderr } = await runToolcrib(
    ["chains", "optimize", "acme.flow.clean", ...pairs],
    setting,
  );
  assert.equal(code, 0, stderr);
  assert.match(stdout, /Wrote acme\.flow\.clean-1\.3\.0: acme\.flow\.clean 1\.3\.0, /);
  // The chain is installed for the user, so that its new version takes its place there.
  assert.match(stdout, /then install it: toolcrib.* install \.\/acme\.flow\.clean-1\.3\.0 --user\n/);
  const manifest = JSON.parse(readFileSync(directory.join("acme.flow.clean-1.3.0/manifest.json"), "utf8"));
  assert.deepEqual(
    manifest.chain.map(({ step }: { step: string }) => step),
    ["clean", "mark"],
  );
  assert.equal((await runToolcrib(["validate", "acme.flow.clean-1.3.0"], setting)).code, 0);
});

test("nothing is written where nothing is faster, and a quarantined or failing tool is not tried", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  await install(directory, {
    slow: cleaner("acme.clean.slow", slow),
    held: cleaner("acme.clean.held", write("text.trim().toLowerCase()")),
    failing: cleaner("acme.clean.failing", write("text.trim().toLowerCase()")),
    same: cleaner("acme.clean.same", slow),
    marker,
    // With the capabilities of its step, it is no alternative for it.
    flow: chain("acme.flow.clean", [clean, mark], { capabilities: ["flow", "text", "clean"] }),
  });
  const home = directory.join(".toolcrib");
  const { packages } = await readInstalledPackages({ home });
  const digestOf = (toolId: string) => packages.find((one) => one.toolId === toolId)?.digest ?? "";
  const history = createTestHistory(home, { randomBytes });
  const at = "2026-11-26T09:00:00.000Z";
  await history.hold({
    toolId: "acme.clean.held",
    digest: digestOf("acme.clean.held"),
    reason: "changed",
    since: at,
  });
  await history.add({
    toolId: "acme.clean.failing",
    version: "1.0.0",
    digest: digestOf("acme.clean.failing"),
    at,
    by: "command",
    durationMs: 1,
    tests: [{ path: "tests/x.test.json", outcome: "failed", latencyMs: 1 }],
  });
  const { code, stdout, stderr } = await runToolcrib(
    ["chains", "optimize", "acme.flow.clean", ...pairs, "--min-gain", "0.3"],
    setting,
  );
  assert.equal(code, 0, stderr);
  assert.match(stdout, /acme\.clean\.held in place of acme\.clean\.slow: not tried: it is quarantined/);
  assert.match(
    stdout,
    /acme\.clean\.failing in place of .*: not tried: its own test tests\/x\.test\.json failed/,
  );
  assert.match(stdout, /acme\.clean\.same in place of .*: not faster: /);
  assert.match(stdout, /Nothing faster passes the tests of acme\.flow\.clean 1\.2\.3: nothing was written/);
  assert.ok(!existsSync(directory.join("acme.flow.clean-1.3.0")));
});

test("a chain whose step fails gets a tool that passes; one that may write runs with --allow-calls only", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const writing = { endpoint: { type: "local", command: "node ./run.mjs" } };
  await install(directory, {
    slow: cleaner("acme.clean.slow", "process.exit(3);"),
    fast: cleaner("acme.clean.fast", write("text.trim().toLowerCase()")),
    marker: cleaner("acme.mark.it", write('text + "!"'), { ...writing, capabilities: ["mark"] }),
    flow: chain("acme.flow.clean", [clean, mark]),
  });
  writeFiles(directory.path, {
    "toolcrib.yaml": "packages:\n  acme.mark.it:\n    trust_state: verified\n",
  });
  const refused = await runToolcrib(["chains", "optimize", "acme.flow.clean", ...pairs], setting);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /CLI_TEST_CALLS_OTHERS.*may change something: acme\.mark\.it/);
  assert.match(refused.stderr, /--allow-calls/);
  const { code, stdout, stderr } = await runToolcrib(
    ["chains", "optimize", "acme.flow.clean", ...pairs, "--allow-calls"],
    setting,
  );
  assert.equal(code, 0, stderr);
  assert.match(stdout, /0 of 1 test passed/);
  assert.match(
    stdout,
    /✓ step clean: acme\.clean\.fast in place of acme\.clean\.slow: the chain fails its tests, and passes/,
  );
  assert.match(stdout, /Wrote acme\.flow\.clean-1\.3\.0: acme\.flow\.clean 1\.3\.0, which passes its tests/);
});

test("what is no chain, has no tests or has a file in its way is refused before anything runs", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  await install(directory, {
    marker,
    flow: chain("acme.flow.clean", [mark], {
      tests: [],
      chain: [{ ...mark, inputMapping: { text: "$.input.text" } }],
    }),
  });
  const fails = async (args: readonly string[], expected: RegExp) => {
    const { code, stderr } = await runToolcrib(["chains", "optimize", ...args], setting);
    assert.notEqual(code, 0);
    assert.match(stderr, expected);
  };
  await fails(["acme.mark.it"], /acme\.mark\.it is not a chain/);
  await fails(["acme.flow.clean"], /CLI_PACKAGE_UNTESTED.*has no tests/);
  await fails(["acme.none.it"], /INSTALL_NOT_FOUND/);
});
