/** `toolcrib status --watch` on a real terminal and in a pipe, while a gateway starts, ends and starts again. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, type TemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { skipWithoutTerminal, TerminalRun } from "./terminal.ts";
import { cleanEnvironment, commandLine, echoServer, runToolcrib, startServe } from "./transcript.ts";

function writeConfig(directory: TemporaryDirectory): void {
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [echoServer("quick", "--builtin", "echo")] }),
  );
}

test("status --watch follows a gateway on a terminal, and gives the terminal back", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  writeConfig(directory);
  const setting = { directory: directory.path };
  const args = ["status", "--watch", "--interval", "1"];
  await using watch = new TerminalRun(args, setting, [100, 24]);
  await watch.untilFrame(/waiting no gateway is running[\s\S]*start one in another terminal/);
  {
    await using first = await startServe(["--listen", "127.0.0.1:0"], setting);
    await watch.untilFrame(/quick +ready/);
    // A narrow and low terminal: no line is wider, and the rest is counted.
    await watch.resize(40, 6);
    const small = await watch.untilFrame(/… \d+ more lines/);
    assert.equal(small.length, 6);
    assert.ok(
      small.every((line) => line.length <= 40),
      small.join("\n"),
    );
    await watch.resize(100, 24);
    await first.stop();
  }
  const lost = await watch.untilFrame(/LOST for \d+ s: no gateway is running/);
  // What was known last stays visible.
  assert.match(lost.join("\n"), /quick +ready/);
  await using _second = await startServe(["--listen", "127.0.0.1:0"], setting);
  const healed = await watch.untilFrame(/q to quit\nToolcrib [\d.]+ serves[\s\S]*quick +ready/);
  assert.doesNotMatch(healed.join("\n"), /LOST/);
  watch.press("\u0003");
  await watch.end();
  const after = watch.text.slice(watch.text.lastIndexOf("\u001b[?2026l"));
  // The screen and the cursor from before, then the settings of the terminal.
  assert.match(after, /\u001b\[\?25h\u001b\[\?1049l/);
  assert.match(after, /code=0/);
  assert.match(after, / icanon /);
  assert.match(after, / echo /);
});

test("status --watch shows within its frame what waits and what fails, with the reasons", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const unpinned = { ...echoServer("fresh", "--builtin", "echo"), first_contact: "ask" };
  const gone = { id: "gone", transport: { kind: "stdio", command: "no-such-program-anywhere" } };
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [unpinned, gone], sandbox: { mode: "preferred" } }),
  );
  const setting = { directory: directory.path };
  await using _gateway = await startServe(["--listen", "127.0.0.1:0"], setting);
  await using watch = new TerminalRun(["status", "--watch", "--interval", "1"], setting, [72, 40]);
  await watch.untilFrame(/gone: [\s\S]*no-such-program-anywhere/);
  const frame = await watch.untilFrame(/fresh: [\s\S]*approv/);
  assert.ok(
    frame.every((line) => line.length <= 72),
    frame.join("\n"),
  );
  // Nothing is written between the end of a frame and the start of the next one.
  const between = watch.text.split("\u001b[?2026l").slice(1, -1);
  assert.ok(between.every((part) => part.startsWith("\u001b[?2026h")));
  watch.press("q");
  await watch.end();
});

test("a terminal that hangs up gets its screen back from status --watch", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  writeConfig(directory);
  await using watch = new TerminalRun(["status", "--watch"], { directory: directory.path }, [100, 24]);
  await watch.untilFrame(/waiting no gateway is running/);
  watch.signal("SIGHUP");
  await watch.end();
  const after = watch.text.slice(watch.text.lastIndexOf("\u001b[?2026l"));
  assert.match(after, /\u001b\[\?25h\u001b\[\?1049l/);
  assert.match(after, /code=129/);
  assert.match(after, / icanon /);
});

test("status --watch in a pipe prints one line for each change, as text or JSON", async () => {
  await using directory = await makeTemporaryDirectory();
  writeConfig(directory);
  const setting = { directory: directory.path };
  const follow = (...more: readonly string[]) => {
    const args = [...commandLine, "status", "--watch", "--interval", "1s", ...more];
    const child = spawn(process.execPath, args, {
      cwd: directory.path,
      env: { ...process.env, ...cleanEnvironment(directory.path) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    const run = { child, ended, text: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      run.text += text;
    });
    return run;
  };
  const [text, json] = [follow(), follow("--json")];
  await using served = await startServe(["--listen", "127.0.0.1:0"], setting);
  await waitUntil(() => /quick ready/.test(text.text) && /"quick","state":"ready"/.test(json.text));
  await served.stop();
  await waitUntil(() => /absent[\s\S]*absent/.test(`${text.text}absent`) && json.text.trim().endsWith("}"));
  await waitUntil(() => text.text.trim().split("\n").at(-1)?.includes("gateway absent") === true);
  for (const { child } of [text, json]) child.kill("SIGINT");
  assert.deepEqual(await Promise.all([text.ended, json.ended]), [0, 0]);
  assert.match(text.text, /Z gateway running: http:\/\/127\.0\.0\.1:\d+\/mcp, process \d+\n/);
  assert.match(text.text, /Z server quick ready, 1 tool\n/);
  assert.doesNotMatch(text.text, /\u001b/);
  const lines = json.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly what: string; readonly time: string });
  assert.ok(lines.every(({ time, what }) => !Number.isNaN(Date.parse(time)) && what !== ""));
});

test("status --watch in a pipe says that a changed configuration is not in force, and that it is again", async () => {
  await using directory = await makeTemporaryDirectory();
  writeConfig(directory);
  const good = readFileSync(directory.join("toolcrib.json"), "utf8");
  const setting = { directory: directory.path };
  await using _gateway = await startServe(["--listen", "127.0.0.1:0"], setting);
  const args = [...commandLine, "status", "--watch", "--interval", "1s", "--json"];
  const child = spawn(process.execPath, args, {
    cwd: directory.path,
    env: { ...process.env, ...cleanEnvironment(directory.path) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let shown = "";
  child.stdout.on("data", (bytes: Buffer) => {
    shown += bytes.toString();
  });
  const ended = once(child, "exit");
  const states = () =>
    shown
      .split("\n")
      .flatMap((line) => (line.endsWith("}") ? [JSON.parse(line)] : []))
      .filter(({ what }) => what === "configuration");
  try {
    await waitUntil(() => states().at(-1)?.state === "in force");
    writeFileSync(directory.join("toolcrib.json"), '{"tool_server": []}');
    await waitUntil(() => states().at(-1)?.state === "not in force");
    assert.match(states().at(-1)?.reason, /toolcrib\.json/);
    writeFileSync(directory.join("toolcrib.json"), good);
    await waitUntil(() => states().at(-1)?.state === "in force");
  } finally {
    child.kill();
    await ended;
  }
});

test("--interval needs --watch, and is from 1 to 3600 seconds", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const alone = await runToolcrib(["status", "--interval", "3"], setting);
  assert.deepEqual([alone.code, alone.stdout], [2, ""]);
  assert.match(alone.stderr, /--interval is for --watch/);
  for (const value of ["0", "3601", "x", "1.5", "1m"]) {
    const { code, stderr } = await runToolcrib(["status", "--watch", "--interval", value], setting);
    assert.equal(code, 2, value);
    assert.match(stderr, /seconds from 1 to 3600/);
  }
});
