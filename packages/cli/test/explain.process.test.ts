/** `toolcrib explain`: what it prints, and the line of a failed command that names it. */

import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { test } from "node:test";
import { loadExplained, main } from "@toolcrib/cli";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { cleanEnvironment, runToolcrib } from "./transcript.ts";

test("explain prints cause, example and fix of a code in any case, and lists areas and beginnings", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = (...args: string[]) => runToolcrib(["explain", ...args], { directory: directory.path });
  const one = await run("config_url_insecure");
  assert.equal(one.code, 0);
  assert.match(one.stdout, /^CONFIG_URL_INSECURE {2}config\n/);
  assert.match(one.stdout, /\n {2}toolcrib\.yaml\n {4}tool_servers:\n/);
  assert.match(
    one.stdout,
    /\n {2}\$ toolcrib config check toolcrib\.yaml\n {4}toolcrib\.yaml:3:46: error CONFIG_URL_/,
  );
  assert.match(one.stdout, /\nFix\n {2}Write https/);
  assert.match(
    (await run("CONFIG_URL_")).stdout,
    /^config\n {2}CONFIG_URL_CREDENTIALS\n[\s\S]*CONFIG_URL_REQUIRED/,
  );
  assert.match((await run("Hooks")).stdout, /^hooks\n {2}HOOK_DENIED\n/);
  assert.match((await run("--", "-32602")).stdout, /^-32602 {2}protocol\n/);
  assert.match((await run("32602")).stdout, /^-32602 {2}protocol\n/);
  const all = await run();
  for (const { code } of await loadExplained()) assert.ok(all.stdout.includes(`\n  ${code}\n`), code);
  const wrong = await run("CONFIG_URL_INSECUR");
  assert.equal(wrong.code, 4);
  assert.match(wrong.stderr, /error CLI_CODE_NOT_FOUND: .*\nhint: did you mean CONFIG_URL_INSECURE\?/);
});

test("on a terminal the sentences of an example fit into its columns, and what is copied stays whole", async () => {
  await using directory = await makeTemporaryDirectory();
  const on = async (code: string, columns?: number) =>
    (await runToolcrib(["explain", code], { directory: directory.path, ...(columns && { columns }) })).stdout;
  const plain = (text: string) => text.replace(/\u001b\[\d+m/g, "").split("\n");
  for (const { code, example } of await loadExplained()) {
    const copied = [...Object.values(example.files ?? {}), ...example.lines].join("\n").split("\n");
    const wide = plain(await on(code, 80)).filter((line) => line.length > 80);
    for (const line of wide) {
      const text = line.trim();
      const isWhole = copied.some((one) => one.trim() === text) || example.output.includes(text);
      // One word, JSON, or a part of a file with its number; never a sentence.
      const isCopied =
        copied.some((one) => one.trim() === text) || /[{}|^]/.test(text) || !text.includes(" ");
      assert.ok(isWhole && isCopied, `${code}: ${line}`);
    }
  }
  // Where there is room, or no terminal, nothing is wrapped.
  assert.equal(plain(await on("CLI_HOME_IN_USE", 200)).join("\n"), await on("CLI_HOME_IN_USE"));
});

test("explain --json has the same parts", async () => {
  await using directory = await makeTemporaryDirectory();
  const { stdout } = await runToolcrib(["explain", "STORE_WRITERS_EXHAUSTED", "--json"], {
    directory: directory.path,
  });
  const found = JSON.parse(stdout);
  assert.deepEqual(Object.keys(found), ["code", "area", "meaning", "cause", "example", "fix", "page"]);
  assert.equal(found.page, "docs/reference/errors/store.md#store_writers_exhausted");
  assert.match(found.example.output, /^error STORE_WRITERS_EXHAUSTED: /);
  assert.equal(found.example.reason, "load");
});

test("a failed command names explain on a terminal only", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = async (args: readonly string[], isTTY: boolean) => {
    let errors = "";
    const stderr = Object.assign(
      new Writable({
        decodeStrings: false,
        write: (chunk, _encoding, done) => {
          errors += chunk;
          done();
        },
      }),
      { isTTY },
    );
    await main({
      args,
      env: Object.fromEntries(Object.entries(cleanEnvironment(directory.path)).filter(([, text]) => text)),
      directory: directory.path,
      userDirectory: directory.path,
      platform: process.platform,
      stdin: new PassThrough().end(),
      stdout: new PassThrough().resume(),
      stderr,
      now: Date.now,
      signal: new AbortController().signal,
      interceptSignals: () => ({ [Symbol.dispose]() {} }),
      outputClosed: new AbortController().signal,
    });
    return errors;
  };
  const args = ["list", "--no-color"];
  assert.match(
    await run(args, true),
    /error CLI_CONFIG_NOT_FOUND: [\s\S]*\nhint: [\s\S]*\ntoolcrib explain CLI_CONFIG_NOT_FOUND\n$/,
  );
  assert.doesNotMatch(await run(args, false), /explain/);
  assert.doesNotMatch(await run([...args, "--json"], true), /explain/);
  assert.doesNotMatch(await run(["serch", "--no-color"], true), /explain/);
});
