/** `toolcrib pause` and `toolcrib resume` with and without a running gateway, as an operator uses them. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { echoStdioPath, fixtureCommand, makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { cleanEnvironment, commandLine, runToolcrib, startServe } from "./transcript.ts";

async function setUp(more: object = {}) {
  const directory = await makeTemporaryDirectory();
  const transport = { kind: "stdio", ...fixtureCommand(echoStdioPath) };
  const config = {
    tool_servers: [{ id: "s", transport, trust_state: "certified" }],
    serve: { listen: "127.0.0.1:0" },
    ...more,
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  return { directory, setting, run: (...words: readonly string[]) => runToolcrib(words, setting) };
}

/** Returns the name of the weekday in UTC that is `days` days from now. */
function weekdayIn(days: number): string {
  const at = new Date(Date.now() + days * 86_400_000);
  return at.toLocaleDateString("en", { weekday: "short", timeZone: "UTC" }).toLowerCase();
}

test("a pause without a gateway holds for calls of the command line, and doctor points it out", async () => {
  const { directory, run } = await setUp();
  await using _directory = directory;
  assert.equal((await run("pause")).stdout, "Nothing is paused\n");
  const paused = await run("pause", "server", "s", "--reason", "key \u001bleaked", "--for", "2h");
  assert.equal(paused.code, 0, paused.stderr);
  assert.match(
    paused.stdout,
    /^Paused server "s" until \S+Z \(key \\u001bleaked\)\nNo running gateway answered: .*\nResume it: .* resume server s\n$/,
  );
  assert.match((await run("pause")).stdout, /^paused server "s" until /);
  const call = await run("call", "s__echo", '{"text":"x"}');
  assert.equal(call.code, 3);
  assert.match(
    call.stderr,
    /"s__echo" was not called: server "s" is paused until .*\n.*toolcrib resume server s/,
  );
  const why = await run("why", "s__echo");
  assert.equal(why.code, 3, why.stderr);
  assert.match(
    why.stdout,
    /But server "s" is paused until \S+Z, so that the call is refused: key \\u001bleaked\nResume it: .*resume server s\n/,
  );
  assert.equal((await run("why", "s__echo", "--list")).code, 0);
  const doctor = await run("doctor");
  assert.match(
    doctor.stdout,
    /! pauses: calls are refused: server "s" until .* is paused\n {4}fix: .*resume server s/,
  );

  assert.equal((await run("pause", "all")).code, 0);
  const resumed = await run("resume", "server", "s");
  assert.equal(resumed.stdout, 'Resumed server "s"\nStill paused: everything\n');
  const again = await run("resume", "server", "s");
  assert.deepEqual(
    [again.code, again.stdout.split("\n")[0]],
    [4, 'Nothing was resumed: server "s" is not paused'],
  );
  assert.equal((await run("resume", "all")).code, 0);
  assert.equal((await run("call", "s__echo", '{"text":"x"}')).code, 0);
  const { stdout } = await run("audit", "list");
  for (const type of ["guard.paused", "guard.resumed"])
    assert.ok(stdout.includes(type), `${type}\n${stdout}`);
});

test("a running gateway applies a pause at once, and says so", async () => {
  const { directory, setting, run } = await setUp();
  await using _directory = directory;
  assert.equal((await run("pause", "tool", "s:missing")).code, 0);
  await using gateway = await startServe(["--auth", "none"], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const paused = await run("pause", "client", "cli");
  assert.match(paused.stdout, /^Paused client "cli"\nResume it: /);
  const call = await run("call", "s__echo", '{"text":"x"}');
  assert.deepEqual([call.code, /client "cli" is paused/.test(call.stderr)], [3, true]);
  const status = await run("status");
  assert.match(status.stdout, /paused client "cli"\n/);
  assert.match(
    status.stdout,
    /paused tool "s:missing": matches nothing, no tool, resource or prompt matches "s:missing"/,
  );
  const json = JSON.parse((await run("resume", "client", "cli", "--json")).stdout);
  assert.deepEqual([json.resumed, json.pauses.length], [true, 1]);
  assert.equal((await run("call", "s__echo", '{"text":"x"}')).code, 0);
});

/** Pauses that stop something, each with its words for a shell, and pauses that match nothing, each with the warning. */
const matching: readonly (readonly string[])[] = [
  ["server", "s"],
  ["tool", "s:echo"],
  ["tool", "s__echo"],
  ["tool", "*:ech*"],
  ["tool", "s:resources/any://uri"],
  ["client", "ci"],
  ["client", "robot-7"],
  ["client", "made"],
  ["client", "stdio"],
];
const missing: readonly (readonly [kind: string, name: string, warning: string])[] = [
  ["tool", "evrything:*", 'no tool, resource or prompt matches "evrything:*"; did you mean "everything:*"?'],
  [
    "client",
    "cii",
    'no client is called "cii", it has no token and no entry in policy.clients; did you mean "ci"?',
  ],
];
/** Those of which only a running gateway knows that they match nothing. */
const missingInGateway: typeof missing = [
  ["tool", "*:ecoh_*", 'no tool, resource or prompt matches "*:ecoh_*"'],
];
/** Names that are refused. */
const refused: readonly (readonly [kind: string, name: string, message: RegExp, inGateway?: true])[] = [
  [
    "server",
    "evrything",
    /CLI_SERVER_NOT_FOUND: Nothing was paused: no server is called "evrything"\nhint: did you mean "everything"\?/,
  ],
  [
    "tool",
    "evrything:echo",
    /CLI_TOOL_NOT_FOUND: Nothing was paused: .*\nhint: did you mean "everything:echo"\?/,
  ],
  ["tool", "s:ecoh", /CLI_TOOL_NOT_FOUND: Nothing was paused: .*\nhint: did you mean "s:echo"\?/, true],
];

test("a pause of what is not known is made where no configuration says what there is", async () => {
  await using directory = await makeTemporaryDirectory();
  const { code, stderr } = await runToolcrib(["pause", "server", "absent"], { directory: directory.path });
  assert.deepEqual([code, stderr], [0, ""]);
});

for (const isRunning of [false, true]) {
  test(`a pause that matches nothing is made and marked, ${isRunning ? "with" : "without"} a gateway`, async () => {
    const { directory, setting, run } = await setUp({
      tool_servers: ["s", "everything"].map((id) => ({
        id,
        transport: { kind: "stdio", ...fixtureCommand(echoStdioPath) },
        trust_state: "certified",
      })),
      policy: { clients: { ci: { identity: { issuer: "https://id.example", subject: "robot-7" } } } },
    });
    await using _directory = directory;
    assert.equal((await run("token", "create", "made")).code, 0);
    await using gateway = isRunning ? await startServe(["--auth", "none"], setting) : undefined;
    if (gateway !== undefined) await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
    for (const words of matching) {
      const { code, stderr } = await run("pause", ...words);
      assert.deepEqual([code, stderr], [0, ""], words.join(" "));
      assert.equal((await run("resume", ...words)).code, 0);
    }
    for (const [kind, name, message, inGateway] of refused) {
      if (inGateway === true && !isRunning) continue;
      const { code, stderr } = await run("pause", kind, name);
      assert.deepEqual([code, message.test(stderr)], [4, true], stderr);
    }
    assert.equal((await run("pause")).stdout, "Nothing is paused\n");
    const wrong = isRunning ? [...missing, ...missingInGateway] : missing;
    for (const [kind, name, warning] of wrong) {
      const { code, stdout, stderr } = await run("pause", kind, name);
      assert.deepEqual([code, stderr], [0, `warning: ${warning}\n`]);
      const quoted = name.includes("*") ? `'${name}'` : name;
      assert.ok(stdout.endsWith(` resume ${kind} ${quoted}\n`), stdout);
      const json = JSON.parse((await run("pause", kind, name, "--json")).stdout);
      assert.deepEqual([json.pause.name, json.warning], [name, warning]);
    }
    const { stdout: list } = await run("pause");
    const { stdout: doctor } = await run("doctor");
    for (const [kind, name, warning] of wrong) {
      const what = `${kind} "${name}"`;
      assert.ok(list.includes(`paused ${what}: matches nothing, ${warning}\n`), list);
      assert.ok(doctor.includes(`a pause matches nothing: ${what} is paused, and ${warning}`), doctor);
    }
    if (!isRunning) return;
    const { stdout: status } = await run("status");
    for (const [kind, name, warning] of wrong)
      assert.ok(status.includes(`paused ${kind} "${name}": matches nothing, ${warning}\n`), status);
  });
}

test("a pause is stored at once while a gateway hangs, and another gateway of the home applies it", {
  skip: process.platform === "win32" && "needs SIGSTOP",
}, async () => {
  const { directory, setting } = await setUp();
  await using _directory = directory;
  await using started = new AsyncDisposableStack();
  const start = async () => started.use(await startServe(["--auth", "none"], setting));
  const gateways = [await start(), await start()];
  const file = directory.join(".toolcrib/guards/pauses.json");
  const command = [...commandLine, "pause", "server", "s"];
  for (const hanging of [gateways, gateways.slice(0, 1), gateways.slice(1)]) {
    try {
      for (const one of gateways) await waitUntil(async () => (await fetch(`${one.url}/readyz`)).ok);
      for (const one of hanging) process.kill(one.pid, "SIGSTOP");
      const paused = spawn(process.execPath, command, {
        cwd: directory.path,
        env: cleanEnvironment(directory.path),
      });
      const output = [text(paused.stdout), text(paused.stderr)] as const;
      const ended = once(paused, "close");
      await waitUntil(() => existsSync(file) && readFileSync(file, "utf8").includes('"s"'));
      // The gateway still hangs, and the command still waits for it.
      assert.equal(paused.exitCode, null);
      const [code] = await ended;
      const [stdout, stderr] = [await output[0], await output[1]];
      assert.equal(code, 0, stderr);
      assert.match(stderr, /^Stored the pause of server "s"; waiting/);
      assert.equal(/No running gateway answered/.test(stdout), hanging.length === 2, stdout);
      assert.equal(stderr.match(/did not respond within/g)?.length, hanging.length, stderr);
    } finally {
      for (const one of hanging) process.kill(one.pid, "SIGCONT");
    }
    const { code, stderr } = await runToolcrib(["resume", "server", "s"], setting);
    assert.equal(code, 0, stderr);
  }
  await started.disposeAsync();
  const { stdout } = await runToolcrib(["audit", "list", "--json"], setting);
  const count = stdout.match(/"guard\.paused"/g)?.length;
  assert.ok(count !== undefined && count >= 3, stdout);
});

test("a pause of a name that nothing has is taken back, unless it was made before", async () => {
  const { directory, run } = await setUp();
  await using _directory = directory;
  const config = directory.join("toolcrib.json");
  const before = readFileSync(config, "utf8");
  writeFileSync(config, before.replace('"id":"s"', '"id":"earlier"'));
  assert.equal((await run("pause", "server", "earlier")).code, 0);
  writeFileSync(config, before);
  const { code, stderr } = await run("pause", "server", "earlier", "--reason", "leaked");
  assert.deepEqual([code, /warning: no server is called "earlier"/.test(stderr)], [0, true], stderr);
  assert.equal((await run("pause", "server", "absent")).code, 4);
  const list = JSON.parse((await run("pause", "--json")).stdout);
  assert.deepEqual(
    list.pauses.map(({ name, reason }: { name: string; reason: string }) => [name, reason]),
    [["earlier", "leaked"]],
  );
});

test("status says whether the windows of a limit are open, also after a refusal", async () => {
  const { directory, setting, run } = await setUp({
    // Three days from now.
    guards: {
      limits: [{ name: "deploys", windows: [{ days: [weekdayIn(3)], from: "09:00", to: "10:00" }] }],
    },
  });
  await using _directory = directory;
  await using gateway = await startServe(["--auth", "none"], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  assert.match((await run("status")).stdout, /^limit deploys: closed until \S+T09:00:00.000Z$/m);
  const call = await run("call", "s__echo", '{"text":"x"}');
  assert.match(call.stderr, /possible again in \d+ h(?: \d+ min)?, at \S+T09:00:00.000Z/);
  assert.match(
    (await run("status")).stdout,
    /^limit deploys: closed until \S+T09:00:00.000Z; 1 call refused$/m,
  );
});

test("wrong usage changes nothing", async () => {
  const { directory, run } = await setUp();
  await using _directory = directory;
  const cases: readonly (readonly [words: readonly string[], message: RegExp])[] = [
    [["pause", "server"], /Nothing was changed: server needs a name/],
    [["pause", "all", "x"], /all takes no name/],
    [["pause", "disk", "x"], /"disk" is none of server, tool, client, all/],
    [["pause", "all", "--for", "5 minutes"], /a number and a unit, such as 45s, 30m, 2h or 1d/],
    [["pause", "--reason", "x"], /name what to pause/],
    [["resume", "tool"], /tool needs a name/],
  ];
  for (const [words, message] of cases) {
    const { code, stderr } = await run(...words);
    assert.deepEqual([code, message.test(stderr)], [2, true], `${words.join(" ")}: ${stderr}`);
  }
  assert.equal((await run("pause")).stdout, "Nothing is paused\n");
});
