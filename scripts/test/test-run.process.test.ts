/** `npm test` itself: what it says of files that pass, fail, break or never end. */

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { makeTemporaryDirectory, runProcess } from "@toolcrib/testing";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs `npm test` on `files`; its exit code and its report. */
async function run(
  files: { readonly [name: string]: string },
  {
    graceMs = 30_000,
    silenceMs = 120_000,
    flags = [],
  }: { readonly graceMs?: number; readonly silenceMs?: number; readonly flags?: readonly string[] } = {},
) {
  await using directory = await makeTemporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(directory.join(name)), { recursive: true });
    await writeFile(directory.join(name), text);
  }
  // A test run inside a test run would report to the outer one, and as the flags of the outer one say.
  const env = {
    NODE_TEST_CONTEXT: undefined,
    TOOLCRIB_TEST_GRACE_MS: String(graceMs),
    TOOLCRIB_TEST_SILENCE_MS: String(silenceMs),
    TOOLCRIB_TEST_RETRY: undefined,
    TOOLCRIB_TEST_TIMES: undefined,
    TOOLCRIB_TEST_SKIPS: undefined,
    TOOLCRIB_TEST_FAST: undefined,
  };
  const { code, stdout, stderr } = await runProcess(
    process.execPath,
    [
      ...process.execArgv.filter((argument) => argument.startsWith("--conditions")),
      "scripts/test.ts",
      directory.path,
      ...flags,
    ],
    { cwd: root, env },
  );
  return { code, report: stdout + stderr };
}

const passing = 'import { test } from "node:test";\ntest("adds", () => {});\n';

describe("npm test", () => {
  test("counts what passed, failed and was skipped in its last line", async () => {
    const { code, report } = await run({
      "a.test.ts": passing,
      "deep/b.test.ts":
        'import { describe, test } from "node:test";\ndescribe("b", () => { test("fails", () => { throw new Error("on purpose"); }); test("waits", { skip: "for rain" }, () => {}); });\n',
    });
    assert.equal(code, 1);
    assert.match(report, /FAILED .*b\.test\.ts: fails\nError: on purpose/);
    assert.match(report, /skipped .*b\.test\.ts: waits: for rain\n.*CONTRIBUTING\.md/);
    assert.match(report, /\nfailed .*b\.test\.ts: fails\n\d+ s\n1 passed, 1 failed, 1 skipped\n$/);
  });

  test("counts skipped tests that share a reason, and names them with --skips", async () => {
    const skipping = `import { test } from "node:test";\nfor (const name of ["a", "b", "c", "d"]) test(name, { skip: "for rain" }, () => {});\n`;
    const { report } = await run({ "a.test.ts": skipping });
    assert.match(report, /^skipped 4 tests: for rain \(--skips names them\)$/m);
    assert.doesNotMatch(report, /a\.test\.ts/);
    const { report: named } = await run({ "a.test.ts": skipping }, { flags: ["--skips"] });
    assert.equal(named.match(/^skipped \S*a\.test\.ts: [abcd]: for rain$/gm)?.length, 4);
  });

  test("fails the test during which an error is thrown later, by whatever started it", async () => {
    const throwing = `import { createServer, connect } from "node:net";
import { describe, it, test } from "node:test";
const later = (run) => new Promise((resolve) => setTimeout(() => { setTimeout(resolve, 50); run(); }, 5));
test("passes", () => {});
describe("suite", () => {
  it("throws later", () => later(() => { throw new Error("of a timer"); }));
  it("rejects later", async (t) => {
    await t.test("within", () => later(() => { Promise.reject(new Error("of a promise")); }));
  });
});
await later(() => {});
test("throws on a connection", async () => {
  const server = createServer(() => { server.close(); throw new Error("of a socket"); });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const closed = new Promise((resolve) => server.on("close", resolve));
  connect(server.address().port, "127.0.0.1").on("error", () => {}).end();
  await closed;
});
`;
    const { report } = await run({ "a.test.ts": passing, "b.test.ts": throwing, "c.test.ts": passing });
    for (const [title, reason] of [
      ["throws later", "timer"],
      ["within", "promise"],
      ["throws on a connection", "socket"],
    ]) {
      assert.match(report, new RegExp(`FAILED \\S*b\\.test\\.ts: ${title}\nError: of a ${reason}\n`));
    }
    assert.doesNotMatch(report, /FAILED (?!\S*b\.test\.ts: )/);
  });

  test("succeeds when everything passed", async () => {
    const { code, report } = await run({ "a.test.ts": passing });
    assert.equal(code, 0);
    assert.match(report, /\n1 passed, 0 failed, 0 skipped\n$/);
  });

  test("says why a file could not be loaded", async () => {
    const { code, report } = await run({ "a.test.ts": 'import "./none.ts";\n' });
    assert.equal(code, 1);
    assert.match(report, /FAILED .*a\.test\.ts[\s\S]*Cannot find module '.*none\.ts'/);
  });

  test("ends a file whose tests left something open, and says what", async () => {
    const leaving = `import { createServer } from "node:net";\n${passing}test("leaves", () => { createServer().listen(0, "127.0.0.1"); });\n`;
    const { code, report } = await run({ "a.test.ts": leaving }, { graceMs: 100 });
    assert.equal(code, 1);
    assert.match(report, /something keeps their process: .*TCPServerWrap/);
    assert.match(report, /\n2 passed, 1 failed, 0 skipped\n$/);
  });

  test("names the file that broke where several share a process, and counts the others", async () => {
    const files = {
      "a.test.ts": passing,
      "b.test.ts": `import "node:net";\n${passing}throw new Error("on purpose");\n`,
      "c.test.ts": `import { createServer } from "node:net";\n${passing}test("leaves", () => { createServer().listen(0, "127.0.0.1").ref(); });\n`,
      "d.test.ts": passing,
      "e.test.ts": `import { createServer } from "node:net";\nimport { after, before } from "node:test";\n${passing}const server = createServer();\nbefore(() => { server.listen(0, "127.0.0.1"); });\nafter(() => { server.close(); });\n`,
    };
    const { code, report } = await run(files, { graceMs: 100 });
    assert.equal(code, 1);
    assert.match(report, /FAILED \S*b\.test\.ts\nError: on purpose/);
    assert.match(report, /FAILED \S*c\.test\.ts\n.*something keeps their process: TCPServerWrap/);
    assert.doesNotMatch(report, /FAILED \S*[ade]\.test\.ts/);
  });

  test("names the file whose process ends while its tests run", async () => {
    const ending = `import { test } from "node:test";\ntest("ends", () => process.kill(process.pid, "SIGKILL"));\n`;
    const { code, report } = await run({ "a.test.ts": passing, "b.test.ts": ending, "c.test.ts": passing });
    assert.equal(code, 1);
    assert.match(report, /FAILED \S*b\.test\.ts\n/);
    assert.doesNotMatch(report, /FAILED \S*[ac]\.test\.ts/);
  });

  test("ends a file in an endless loop, and names it", async () => {
    const looping = `import { test } from "node:test";\ntest("loops", () => { for (;;); });\n`;
    const files = { "a.test.ts": passing, "b.test.ts": looping, "c.test.ts": passing };
    const { code, report } = await run(files, { silenceMs: 5000 });
    assert.equal(code, 1);
    assert.match(report, /FAILED \S*b\.test\.ts\n[\s\S]*The main thread has not reacted for 5 s/);
    assert.doesNotMatch(report, /FAILED \S*[ac]\.test\.ts/);
  });

  test("fails a file that starts a process and is not named so, and leaves the named ones out with --fast", async () => {
    const starting =
      'import { spawnSync } from "node:child_process";\nimport { test } from "node:test";\ntest("starts", () => { spawnSync("true"); });\n';
    const misnamed = await run({ "a.test.ts": starting });
    assert.equal(misnamed.code, 1);
    assert.match(
      misnamed.report,
      /calls spawnSync\(\); a test file that starts processes is named \*\.process\.test\.ts/,
    );
    const named = { "a.process.test.ts": starting, "b.test.ts": passing };
    assert.match((await run(named)).report, /\n2 passed, 0 failed, 0 skipped\n$/);
    assert.match((await run(named, { flags: ["--fast"] })).report, /\n1 passed, 0 failed, 0 skipped\n$/);
  });

  test("prints the CPU time of each file, with that of the processes that it started", async () => {
    const busy = "const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end);";
    const starting = `import { spawnSync } from "node:child_process";\nimport { test } from "node:test";\ntest("starts", () => { spawnSync(process.execPath, ["-e", ${JSON.stringify(busy)}]); });\n`;
    const { report } = await run(
      { "a.test.ts": passing, "b.process.test.ts": starting },
      { flags: ["--times=2"] },
    );
    assert.match(report, / s CPU +\d+\.\d s \S*a\.test\.ts\n/);
    const [, seconds] = /(\d+\.\d) s CPU +\d+\.\d s \S*b\.process\.test\.ts\n/.exec(report) ?? [];
    if (process.platform === "linux") assert.ok(Number(seconds) >= 0.3, report);
    assert.match(report, / s CPU in all\n/);
  });

  test("prints what tests report, each in one line before the counts", async () => {
    const reporting =
      'import { test } from "node:test";\ntest("measures", (t) => { t.diagnostic("7 ms (median)"); });\n';
    for (const other of ["a.test.ts", "b.test.ts"]) {
      const { report } = await run({ [other]: passing, "a.test.ts": reporting });
      assert.match(
        report,
        /^reported \S*a\.test\.ts: 7 ms \(median\)\n\d+ s\n\d passed, 0 failed, 0 skipped\n$/m,
      );
      assert.equal(report.split("reported ").length, 2, report);
    }
  });

  test("counts the messages of a file that reports many, and prints them with --times", async () => {
    const reporting =
      'import { test } from "node:test";\ntest("measures", (t) => { for (const n of [1, 2, 3, 4]) t.diagnostic("case " + n); });\n';
    const { report } = await run({ "a.test.ts": reporting });
    assert.match(report, /^reported \S*a\.test\.ts: 4 messages \(--times prints them\)$/m);
    const { report: timed } = await run({ "a.test.ts": reporting }, { flags: ["--times=1"] });
    assert.equal(timed.match(/^reported \S*a\.test\.ts: case \d$/gm)?.length, 4);
  });

  test("runs files of which a test failed again with --retry, and names what passed then", async () => {
    const steady =
      'import { test } from "node:test";\ntest("fails", () => { throw new Error("always"); });\n';
    const unsteady = `import { existsSync, writeFileSync } from "node:fs";
import { test } from "node:test";
const mark = new URL("mark", import.meta.url);
const isFirst = !existsSync(mark);
writeFileSync(mark, "");
test("passes", () => {});
test("waits", { skip: "for rain" }, () => {});
test("depends", () => { if (isFirst) throw new Error("the first time"); });
`;
    const flags = ["--retry"];
    const one = await run({ "a.test.ts": passing, "b.test.ts": unsteady }, { flags });
    assert.equal(one.code, 0, one.report);
    assert.match(one.report, /FAILED \S*b\.test\.ts: depends\nError: the first time\n/);
    assert.match(one.report, /^Again, one file at a time: \S*b\.test\.ts$/m);
    assert.match(
      one.report,
      /\nunsteady \S*b\.test\.ts: depends: failed, and passed alone\n3 passed, 0 failed, 1 skipped\n$/,
    );
    const absent = unsteady.replace('test("depends",', 'test("depends", { skip: !isFirst && "not now" },');
    const skipped = await run({ "b.test.ts": absent }, { flags });
    assert.equal(skipped.code, 1, skipped.report);
    assert.match(skipped.report, /\nfailed \S*b\.test\.ts: depends\n1 passed, 1 failed, 2 skipped\n$/);
    const two = await run({ "a.test.ts": steady, "b.test.ts": unsteady }, { flags });
    assert.equal(two.code, 1);
    assert.doesNotMatch(two.report, /unsteady \S*a\.test/);
    assert.match(
      two.report,
      /\nunsteady \S*b\.test.*\nfailed \S*a\.test.*\n2 passed, 1 failed, 1 skipped\n$/,
    );
    const names = ["a", "b", "c", "d", "e", "f"];
    const many = await run(Object.fromEntries(names.map((name) => [`${name}.test.ts`, steady])), { flags });
    assert.equal(many.code, 1);
    assert.doesNotMatch(many.report, /Again/);
    const ending = `import { test } from "node:test";\ntest("ends", () => process.kill(process.pid, "SIGKILL"));\n`;
    const broken = await run({ "a.test.ts": ending, "b.test.ts": passing }, { flags });
    assert.equal(broken.code, 1);
    assert.doesNotMatch(broken.report, /Again/);
  });

  test("names and repeats the file that ran, where a function of another module registered its tests", async () => {
    const files = {
      "pages.ts": `import { existsSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
export function testPages(group: string, url: string): void {
  const mark = new URL(\`mark-\${group}\`, url);
  const isFirst = !existsSync(mark);
  writeFileSync(mark, "");
  describe(group, () => {
    it("passes", () => {});
    it("depends", () => { if (isFirst && group !== "a") throw new Error("the first time"); });
  });
}
`,
      "a.test.ts": 'import { testPages } from "./pages.ts";\ntestPages("a", import.meta.url);\n',
      "b.test.ts": 'import { testPages } from "./pages.ts";\ntestPages("b", import.meta.url);\n',
    };
    const { code, report } = await run(files, { flags: ["--retry"] });
    assert.equal(code, 0, report);
    assert.match(report, /FAILED \S*b\.test\.ts: depends\nError: the first time\n/);
    assert.match(report, /^Again, one file at a time: \S*b\.test\.ts$/m);
    assert.match(
      report,
      /\nunsteady \S*b\.test\.ts: depends: failed, and passed alone\n4 passed, 0 failed, 0 skipped\n$/,
    );
    assert.doesNotMatch(report, /(?:FAILED|unsteady|failed) \S*(?:a\.test|pages)\.ts/);
  });

  test("refuses a folder without tests, and flags that it does not have", async () => {
    const nothing = await run({ "a.ts": "" });
    assert.equal(nothing.code, 2);
    assert.match(nothing.report, /^No test file in /);
    const { code, stderr } = await runProcess(process.execPath, ["scripts/test.ts", "--quick"], {
      cwd: root,
    });
    assert.equal(code, 2);
    assert.match(stderr, /^Unknown flag "--quick"[\s\S]*--fast /);
  });
});
