import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { LaunchedProcess } from "@toolcrib/process";
import { waitUntil } from "@toolcrib/testing";
import { createTestLauncher, type LauncherOptions } from "./process-harness.ts";

/** Returns the log of a shell script that has ended. */
async function stderrOf(script: string, options: LauncherOptions = {}): Promise<LaunchedProcess["stderr"]> {
  await using host = createTestLauncher(options);
  const server = await host.launch("sh", ["-c", script]);
  await server.exited;
  return server.stderr;
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "toolcrib-stderr-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

test("tail() returns the last lines, including the unfinished one", async () => {
  const log = await stderrOf("printf 'one\\ntwo\\r\\n\\nthree' >&2");
  assert.deepEqual(log.tail(), ["one", "two", "", "three"]);
  assert.deepEqual(log.tail(2), ["", "three"]);
  assert.deepEqual(log.tail(0), []);
  assert.equal(log.lineCount, 4);
});

test("tail() includes an unfinished line, and onLine() calls its listener until it is removed", async () => {
  await using host = createTestLauncher();
  const script =
    "printf 'Password: ' >&2; read a; printf 'ok\\nnext\\n' >&2; read b; echo last >&2; exec cat";
  const server = await host.launch("sh", ["-c", script]);
  const lines: string[] = [];
  const next = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const stop = server.stderr.onLine(() => {
        if (lines.length < count) return;
        stop();
        resolve();
      });
    });
  const stop = server.stderr.onLine((line) => lines.push(line));
  await waitUntil(() => server.stderr.tail().length > 0);
  assert.deepEqual([server.stderr.tail(), server.stderr.lineCount], [["Password: "], 0]);
  const two = next(2);
  server.stdin.write("\n");
  await two;
  stop();
  const third = next(0);
  server.stdin.write("\n");
  await third;
  assert.deepEqual(lines, ["Password: ok", "next"]);
  assert.deepEqual(server.stderr.tail(1), ["last"]);
});

test("The log stays within its limits of lines and bytes, and drops the oldest lines", async () => {
  const byCount = await stderrOf("i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); echo line $i; done >&2");
  assert.equal(byCount.lineCount, 5_000);
  assert.equal(byCount.tail().length, 2_000);
  assert.deepEqual([byCount.tail()[0], byCount.tail(1)[0]], ["line 3001", "line 5000"]);

  const options = { stderrLinesMaxBytes: 1_000 };
  const byBytes = await stderrOf(
    "i=100; while [ $i -lt 200 ]; do i=$((i + 1)); echo äääää $i; done >&2",
    options,
  );
  const bytes = Buffer.byteLength(byBytes.tail().join("\n")) + 1;
  assert.ok(bytes <= 1_000 && bytes > 1_000 - 15);
  assert.deepEqual(byBytes.tail(1), ["äääää 200"]);
});

test("A line is kept up to its limit, also if 64 MiB arrive without a line feed", async () => {
  const log = await stderrOf("head -c 67108864 /dev/zero | tr '\\0' x >&2; echo >&2; echo next >&2");
  assert.deepEqual(log.tail(), [`${"x".repeat(8_192)}…`, "next"]);
});

test("Terminal sequences, control and bidirectional characters are removed from the log", async () => {
  const check = async (bytes: string, expected: string): Promise<void> => {
    const log = await stderrOf(`printf '${bytes}' >&2`);
    assert.deepEqual(log.tail(), [expected]);
  };
  await check("\\033[1;31mred\\033[0m \\033[2Kline", "red line");
  await check("\\033]0;title\\007a\\033]8;;http://x\\033\\\\link\\033]8;;\\033\\\\", "alink");
  await check("\\033(Bcharset \\033cfull \\033", "charset full ");
  await check("be\\007ll\\010 \\ttab\\177 \\302\\2332Jc1", "bell \ttab c1");
  await check("\\342\\200\\256evil\\342\\201\\246 \\357\\273\\277mark", "evil mark");
  await check("10%%\\r50%%\\r100%%\\r\\n", "100%");
  await check("bad \\377 utf-8, gr\\303\\274n", "bad \ufffd utf-8, grün");
});

test("Text that scrub removes is neither kept, shown nor written", async (t) => {
  const folder = await temporaryFolder(t);
  await using host = createTestLauncher({ logsDirectory: folder });
  const server = await host.launch("sh", ["-c", "echo token=s3cret >&2; exit 1"], {
    scrub: (line) => line.replaceAll("s3cret", "[redacted]"),
  });
  const exit = await server.exited;
  await host.launcher[Symbol.asyncDispose]();
  assert.deepEqual(server.stderr.tail(), ["token=[redacted]"]);
  assert.match(exit.description, /last stderr: token=\[redacted\]$/);
  assert.doesNotMatch(await readFile(join(folder, "test.log"), "utf8"), /s3cret/);
});

test("A long line is cut after a secret was removed from it", async () => {
  const secret = "s3cret".repeat(1000);
  await using host = createTestLauncher();
  const server = await host.launch("sh", ["-c", `printf '%8000s%s' '' "$KEY" >&2; exit 1`], {
    env: { ...process.env, KEY: secret },
    scrub: (line) => line.replaceAll(secret, "[redacted]"),
  });
  await server.exited;
  const [line = ""] = server.stderr.tail();
  assert.match(line, /^ {8000}\[redacted\]$/);
});

test("Nothing is left of a secret at the end of the part of a long line that is held", async () => {
  const secret = Array.from({ length: 700 }, (_, at) => `k${at}`).join("");
  // Of the copies, all but the last one are removed; it is only half in what is held.
  const prints: [expression: string, expected: string][] = [
    ["(K + ' ').repeat(400)", "[x] [x] [x] …"],
    ["'w'.repeat(8100) + (K + ' ').repeat(400)", `${"w".repeat(8100)}…`],
    ["(K + '\\r').repeat(400)", "…"],
    ["'1%\\r2%' + '\\r'.repeat(600000) + K", "2%…"],
  ];
  for (const [expression, expected] of prints) {
    for (const ending of ["\n", ""]) {
      await using host = createTestLauncher();
      const script = `process.stderr.write(((K) => ${expression})(process.env.KEY) + ${JSON.stringify(ending)})`;
      const server = await host.launch(process.execPath, ["-e", script], {
        env: { ...process.env, KEY: secret },
        scrub: (line) => line.replaceAll(secret, "[x]"),
      });
      const seen: string[] = [];
      server.stderr.onLine((line) => seen.push(line));
      await server.exited;
      assert.deepEqual([server.stderr.tail(), seen], [[expected], [expected]]);
    }
  }
});

test("A line with half a million carriage returns does not stop the process that reads it", async () => {
  const script = `process.stderr.write("1%" + "\\r".repeat(500_000) + "2%\\n")`;
  await using host = createTestLauncher();
  const server = await host.launch(process.execPath, ["-e", script], { scrub: (line) => line });
  await server.exited;
  assert.deepEqual(server.stderr.tail(), ["2%"]);
});

test("Each server has a log file with time and pid, shared by its processes and private to the user", async (t) => {
  const folder = join(await temporaryFolder(t), "logs");
  await using host = createTestLauncher({ logsDirectory: folder });
  const launch = (label: string, text: string) => host.launch("sh", ["-c", `echo '${text}' >&2`], { label });
  const servers = [
    await launch("git", "first"),
    await launch("git", "second"),
    await launch("../a b", "third"),
  ];
  await Promise.all(servers.map((server) => server.exited));
  await host.launcher[Symbol.asyncDispose]();
  assert.deepEqual((await readdir(folder)).sort(), ["%2E.%2Fa%20b.log", "git.log"]);
  const lines = (await readFile(join(folder, "git.log"), "utf8")).trimEnd().split("\n").sort();
  const entries = lines.map((line) => /^\d{4}-\d\d-\d\dT[\d:.]+Z (\d+) (\w+)$/.exec(line)!.slice(1));
  assert.deepEqual(
    entries.sort((a, b) => a[1]!.localeCompare(b[1]!)),
    [
      [String(servers[0]!.pid), "first"],
      [String(servers[1]!.pid), "second"],
    ],
  );
  assert.equal((await stat(join(folder, "git.log"))).mode & 0o777, 0o600);
});

test("A log file is rotated once and stays within twice its limit", async (t) => {
  const folder = await temporaryFolder(t);
  await using host = createTestLauncher({ logsDirectory: folder, logFileMaxBytes: 10_000 });
  const script = "i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); echo line $i; done >&2";
  await (await host.launch("sh", ["-c", script])).exited;
  await host.launcher[Symbol.asyncDispose]();
  assert.deepEqual((await readdir(folder)).sort(), ["test.log", "test.log.1"]);
  for (const name of ["test.log", "test.log.1"]) {
    const { size } = await stat(join(folder, name));
    assert.ok(size > 0 && size <= 10_000, `${name} has ${size} bytes`);
  }
  assert.match(await readFile(join(folder, "test.log"), "utf8"), / line 2000\n$/);
});

test("A log file that cannot be written is reported once and has no other effect", async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, "file"), "");
  await using host = createTestLauncher({ logsDirectory: join(folder, "file") });
  const server = await host.launch("sh", ["-c", "echo a >&2; sleep 0.1; echo b >&2"]);
  await server.exited;
  assert.deepEqual(server.stderr.tail(), ["a", "b"]);
  assert.equal(host.records.filter(({ event }) => event === "upstream.log-file.failed").length, 1);
});
