/** A contained program cannot widen its sandbox at the next start by files that it can change. */

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  leftOut,
  makeTemporaryDirectory,
  runsAll,
  sampled,
  type TemporaryDirectory,
  writeFiles,
} from "@toolcrib/testing";
import {
  quoted,
  runContained,
  strictPolicy,
  type TierId,
  tierIds,
  unavailableReason,
} from "./sandbox-harness.ts";

const secret = "the key of a person";
/** A quick run tries one of this many forms of an argument, changes and links of each list; each starts two programs. */
const sampleStep = 3;

async function makePlaces(): Promise<TemporaryDirectory> {
  const directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    "outside/key.txt": secret,
    "foreign/package.json": "{}",
    "foreign/index.js": "",
    "foreign/private.txt": secret,
    "foreign/tool": "#!/bin/sh\necho started\n",
    "data/config.json": "configuration",
    "data/plugin.js": "",
    "data/notes/a.txt": "notes",
    "project/server.js": "",
    "project/package.json": "{}",
  });
  return directory;
}

/** Starts the same server twice: the first start changes its folder, the second prints what it sees. */
async function restart(
  tier: TierId,
  top: TemporaryDirectory,
  change: string,
  args: readonly string[],
  { directory = "/", readPaths = [] as readonly string[], writePaths = [] as readonly string[] } = {},
): Promise<string> {
  const policy = strictPolicy({ readPaths, writePaths: [top.join("data"), ...writePaths] });
  const start = (script: string) => runContained(["-c", script, "sh", ...args], policy, { tier, directory });
  const first = await start(`set -e; cd ${quoted(top.join("data"))}; T=${quoted(top.path)}; ${change}`);
  assert.equal(first.code, 0, first.stderr);
  const { stdout } = await start(
    `T=${quoted(top.path)}; cat "$T"/outside/* "$T"/foreign/private.txt "$T"/data/config.json "$T"/data/*/key.txt "$T"/project/*/* 2>&1; echo end`,
  );
  assert.match(stdout, /end\n$/);
  return stdout;
}

for (const tier of tierIds) {
  const skip = (await unavailableReason(tier)) ?? false;

  test(`${tier}: a file that an argument names, replaced by a link, shows no target after a restart`, {
    skip,
  }, async () => {
    await using top = await makePlaces();
    const config = top.join("data/config.json");
    const forms = [
      config,
      `--config=${config}`,
      `CONFIG=${config}`,
      pathToFileURL(config).href,
      `/nowhere:${config}`,
      `${config}:/data:ro`,
      `--files=/nowhere,${config}`,
    ];
    for (const form of sampled(forms, sampleStep)) {
      const seen = await restart(tier, top, 'ln -sfn "$T/outside/key.txt" config.json', [form]);
      assert.ok(!seen.includes(secret), `${form}: ${seen}`);
    }
    assert.equal(existsSync(config), true);
  });

  test(`${tier}: a script, a word in the working folder and a folder show no target after a restart`, {
    skip,
  }, async () => {
    await using top = await makePlaces();
    const directory = top.join("data");
    const cases: readonly (readonly [string, string, string])[] = [
      [
        "a script in a foreign project",
        'ln -sfn "$T/foreign/index.js" plugin.js',
        top.join("data/plugin.js"),
      ],
      ["a word", 'ln -sfn "$T/outside/key.txt" config.json', "config.json"],
      ["a word of an option", 'ln -sfn "$T/outside/key.txt" config.json', "--config=config.json"],
      ["a relative path", 'ln -sfn "$T/outside/key.txt" config.json', "./config.json"],
      ["a word that names a folder", 'ln -sfn "$T/outside" out', "out"],
      ["a folder", 'ln -sfn "$T/outside" out', top.join("data/out")],
      ["a file below a link", 'ln -sfn "$T/outside" out', top.join("data/out/key.txt")],
      ["a way through a folder", 'ln -sfn "$T/outside/." out', `${top.path}/data/out/../outside/key.txt`],
      [
        "a planted manifest",
        'mkdir -p app/node_modules; echo "{}" > app/package.json; echo > app/x.js; ln -sfn "$T/foreign" app/node_modules/foreign; ln -sfn "$T/outside" app/node_modules/outside',
        top.join("data/app/x.js"),
      ],
    ];
    for (const [name, change, argument] of sampled(cases, sampleStep)) {
      const seen = await restart(tier, top, change, [argument], { directory });
      assert.ok(!seen.includes(secret), `${name}: ${seen}`);
    }
  });

  test(`${tier}: links of the project that lead through a writable folder end there`, { skip }, async () => {
    await using top = await makePlaces();
    symlinkSync("../data/config.json", top.join("project/config.json"));
    symlinkSync("../data", top.join("project/data"));
    mkdirSync(top.join("project/node_modules"));
    symlinkSync("../../data/module", top.join("project/node_modules/module"));
    mkdirSync(top.join("data/sub"));
    const change =
      'ln -sfn "$T/outside/key.txt" config.json; rm -rf sub; ln -sfn "$T/outside" sub; ln -sfn "$T/outside" module';
    const config = top.join("project/config.json");
    const cases = [
      { args: [config] },
      { args: [top.join("project/data/config.json")] },
      { args: [top.join("project/server.js")] },
      { args: [], readPaths: [config] },
      { args: [], readPaths: [top.join("project/data/sub")] },
      { args: [], writePaths: [top.join("project/data/sub")] },
    ];
    for (const { args, ...paths } of sampled(cases, sampleStep)) {
      const seen = await restart(tier, top, change, args, paths);
      assert.ok(!seen.includes(secret), `${JSON.stringify({ args, ...paths })}: ${seen}`);
    }
  });

  test(`${tier}: a link to what the server writes works, and so does a file there`, { skip }, async () => {
    await using top = await makePlaces();
    symlinkSync("../data/config.json", top.join("project/config.json"));
    symlinkSync("../data", top.join("project/data"));
    const policy = strictPolicy({ writePaths: [top.join("data")] });
    for (const [path, text] of [
      ["data/config.json", "configuration"],
      ["project/config.json", "configuration"],
      ["project/data/notes/a.txt", "notes"],
    ] as const) {
      const script = 'cat "$1" && echo more >> "$1"';
      const { stdout, code } = await runContained(["-c", script, "sh", top.join(path)], policy, { tier });
      assert.ok(stdout.startsWith(text) && code === 0, `${path}: ${stdout}`);
    }
    assert.equal(readFileSync(top.join("data/notes/a.txt"), "utf8"), "notesmore\n");
  });

  test(`${tier}: a program that a link in its writable folder leads to is refused, and says what to do`, {
    skip,
  }, async () => {
    await using top = await makePlaces();
    const policy = strictPolicy({ writePaths: [top.join("data")] });
    const start = (name: string, readPaths: readonly string[] = []) =>
      runContained([], { ...policy, readPaths }, { tier, program: top.join("data", name) });
    symlinkSync(top.join("foreign/tool"), top.join("data/tool"));
    writeFiles(top.path, {
      "data/script": `#!${top.join("foreign/tool")}\n`,
      "data/own": "#!/bin/sh\necho started\n",
    });
    for (const name of ["foreign/tool", "data/script", "data/own"]) chmodSync(top.join(name), 0o755);
    for (const name of ["tool", "script"]) {
      await assert.rejects(start(name), (error: Error & { code?: string; hint?: string }) => {
        assert.equal(error.code, "SANDBOX_PATH_REFUSED");
        assert.match(error.message, /foreign\/tool/);
        assert.match(error.hint ?? "", /read_paths/);
        return true;
      });
    }
    assert.equal((await start("own")).stdout, "started\n");
    assert.equal((await start("tool", [top.join("foreign")])).stdout, "started\n");
  });

  test(`${tier}: a socket that a program listens on below a write path leads nowhere, and an old one can be removed`, {
    skip: skip === false && !existsSync("/usr/bin/python3") ? "no Python here" : skip,
  }, async () => {
    await using top = await makePlaces();
    mkdirSync(top.join("data/deep/below"), { recursive: true });
    const policy = strictPolicy({ writePaths: [top.join("data")] });
    const path = top.join("data/deep/below/s");
    const server = createServer((socket) => socket.end("reached"));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    try {
      const connect = `import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print(s.recv(99))`;
      const { stdout, stderr, code } = await runContained(["-c", connect, path], policy, {
        tier,
        program: "/usr/bin/python3",
      });
      assert.ok(code !== 0 && stdout === "", stdout);
      assert.match(stderr, /Traceback/);
    } finally {
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }
    // What an earlier start left: its listener has ended, and the file is still there.
    const bind = `import os, socket, sys
if os.path.exists(sys.argv[1]): os.unlink(sys.argv[1])
socket.socket(socket.AF_UNIX).bind(sys.argv[1])
print("bound")`;
    for (const _ of [1, 2]) {
      const { stdout, stderr } = await runContained(["-c", bind, path], policy, {
        tier,
        program: "/usr/bin/python3",
      });
      assert.equal(stdout, "bound\n", stderr);
    }
  });
}

test("and the other forms, changes and links", leftOut(sampleStep), () => assert(runsAll));
