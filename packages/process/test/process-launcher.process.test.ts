import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ProcessError, readProcessTable } from "@toolcrib/process";
import { createTestLauncher, leftovers, readAll, uniqueSleep, until } from "./process-harness.ts";

test("A server communicates through its pipes, and ends by itself when its input is closed", async () => {
  await using host = createTestLauncher();
  const server = await host.launch("cat");
  server.stdin.end("hello\n");
  assert.equal(await readAll(server.stdout), "hello\n");
  const exit = await server.exited;
  assert.deepEqual([exit.code, exit.signal, exit.wasStopped, exit.orphanCount], [0, undefined, false, 0]);
});

test("The environment of a server is PATH, HOME, LANG and TMPDIR, the declared variables, and the markers", async () => {
  const gateway = {
    PATH: "/usr/bin:/bin",
    HOME: "/home/nobody",
    LANG: "C.UTF-8",
    TMPDIR: "/var/tmp",
    TOOLCRIB_TOKEN: "of the gateway",
    AWS_SECRET_ACCESS_KEY: "of another server",
    NODE_OPTIONS: "--inspect",
    LD_PRELOAD: "/nowhere.so",
    TOOLCRIB_INSTANCE: "of an outer gateway",
  };
  await using host = createTestLauncher({}, gateway);
  const { instance } = host.launcher;
  assert.match(instance, /^[0-9a-f]{32}$/);
  const environmentOf = async (env: Record<string, string | undefined>): Promise<string[]> => {
    const server = await host.launch("cat", ["/proc/self/environ"], { env });
    return (await readAll(server.stdout)).split("\0").slice(0, -1);
  };
  assert.deepEqual(await environmentOf({ API_KEY: "k=1\n2", EMPTY: "", UNSET: undefined }), [
    `TOOLCRIB_INSTANCE=${instance}`,
    `TOOLCRIB_SERVER=${instance}/1`,
    "PATH=/usr/bin:/bin",
    "HOME=/home/nobody",
    "LANG=C.UTF-8",
    "TMPDIR=/var/tmp",
    "API_KEY=k=1\n2",
    "EMPTY=",
  ]);
  assert.deepEqual(await environmentOf({ PATH: "/bin", HOME: "/root" }), [
    `TOOLCRIB_INSTANCE=${instance}`,
    `TOOLCRIB_SERVER=${instance}/2`,
    "LANG=C.UTF-8",
    "TMPDIR=/var/tmp",
    "PATH=/bin",
    "HOME=/root",
  ]);
});

test("A gateway without PATH gives its servers the default of the system", async () => {
  await using host = createTestLauncher({}, {});
  const server = await host.launch("cat", ["/proc/self/environ"]);
  assert.match(await readAll(server.stdout), /\0PATH=\/usr\/local\/bin:\/usr\/bin:\/bin\0$/);
});

test("A server gets three sockets of its own and none of the gateway's", async () => {
  await using host = createTestLauncher();
  await host.launch("cat");
  const server = await host.launch("ls", ["-l", "/proc/self/fd"]);
  const sockets = (await readAll(server.stdout)).split("\n").filter((line) => line.includes(" -> socket:"));
  assert.deepEqual(
    sockets.map((line) => /(\d+) ->/.exec(line)![1]),
    ["0", "1", "2"],
  );
});

test("A server runs in the given directory, and leads a session and a group of its own", async () => {
  await using host = createTestLauncher();
  const server = await host.launch("sh", ["-c", "pwd; exec cat /proc/self/stat"], { cwd: "/usr" });
  const [directory, stat] = (await readAll(server.stdout)).split("\n");
  assert.equal(directory, "/usr");
  const [, , groupId, sessionId] = stat!.slice(stat!.lastIndexOf(")") + 2).split(" ");
  assert.deepEqual([groupId, sessionId], [String(server.pid), String(server.pid)]);
});

test("Arguments are passed on unchanged, without a shell", async () => {
  await using host = createTestLauncher();
  const args = ["a b", "$HOME", "*", "", "'\"`;&|", "ü\n"];
  const server = await host.launch("printf", ["[%s]", ...args]);
  assert.equal(await readAll(server.stdout), args.map((argument) => `[${argument}]`).join(""));
});

test("launch() reports the cause of a failure, with a hint", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "toolcrib-launch-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "dir"));
  await mkdir(join(folder, "bin"));
  await writeFile(join(folder, "plain"), "text");
  await writeFile(join(folder, "bin", "locked"), "text", { mode: 0o600 });
  await writeFile(join(folder, "bin", "weather-server"), "#!/bin/sh\n", { mode: 0o700 });
  await writeFile(join(folder, "lost"), "#!/opt/none/python9\n");
  await chmod(join(folder, "lost"), 0o700);
  const path = `${join(folder, "bin")}:${join(folder, "missing")}:relative:/usr/bin:/bin`;
  await using host = createTestLauncher({}, { PATH: path });

  const check = async (
    [command, args = [], spec = {}]: [string, string[]?, { cwd?: string; env?: Record<string, string> }?],
    code: string,
    message: string,
    hint?: string,
  ): Promise<void> => {
    await assert.rejects(host.launch(command, args, { cwd: folder, ...spec }), (error) => {
      assert.ok(error instanceof ProcessError);
      assert.deepEqual([error.code, error.message, error.hint], [code, message, hint]);
      return true;
    });
  };

  const notFound = "PROCESS_COMMAND_NOT_FOUND";
  const notExecutable = "PROCESS_COMMAND_NOT_EXECUTABLE";
  const invalid = "PROCESS_LAUNCH_INVALID";
  await check(
    ["weather-sever"],
    notFound,
    `Cannot launch command "weather-sever": not found in PATH`,
    'did you mean "weather-server"? Otherwise give the absolute path of "weather-sever", or add its folder to PATH in env',
  );
  await check(
    ["uvx"],
    notFound,
    `Cannot launch command "uvx": not found in PATH`,
    'install uv (https://docs.astral.sh/uv), or give the absolute path of "uvx"',
  );
  await check(
    ["zzqx-0815"],
    notFound,
    `Cannot launch command "zzqx-0815": not found in PATH`,
    'give the absolute path of "zzqx-0815", or add its folder to PATH in env',
  );
  await check(
    ["weather-server --port 1"],
    notFound,
    `Cannot launch command "weather-server --port 1": not found in PATH`,
    'put arguments into args: command: "weather-server", args: ["--port","1"]',
  );
  await check(
    ["./none"],
    notFound,
    `Cannot launch command "./none": the file does not exist (looked for "${folder}/none")`,
  );
  await check(["/none/at/all"], notFound, `Cannot launch command "/none/at/all": the file does not exist`);
  await check(
    ["./dir"],
    notExecutable,
    `Cannot launch command "./dir": "${folder}/dir" is a folder`,
    "name the program inside it",
  );
  await check(
    ["./plain"],
    notExecutable,
    `Cannot launch command "./plain": "${folder}/plain" is not executable by this user`,
    `run: chmod +x '${folder}/plain'`,
  );
  await check(
    ["locked"],
    notExecutable,
    `Cannot launch command "locked": "${folder}/bin/locked" is not executable by this user`,
    `run: chmod +x '${folder}/bin/locked'`,
  );
  await check(
    ["./lost"],
    "PROCESS_SPAWN_FAILED",
    'Cannot launch command "./lost": its first line asks for interpreter "/opt/none/python9", which cannot be run',
    "install the interpreter, or set it as command and the script as first of args",
  );
  // In a sandbox, the program that starts it would fail, and nothing would say why.
  await assert.rejects(
    host.launch("./lost", [], {
      cwd: folder,
      contain: async () => assert.fail("a program that cannot run was prepared"),
    }),
    { code: "PROCESS_SPAWN_FAILED", message: /interpreter "\/opt\/none\/python9", which cannot be run$/ },
  );
  await check(
    ["cat", [], { cwd: join(folder, "gone") }],
    "PROCESS_DIRECTORY_INVALID",
    `Cannot launch command "cat": working directory "${folder}/gone" does not exist`,
    "correct cwd, or create the folder",
  );
  await check(
    ["cat", [], { cwd: join(folder, "plain") }],
    "PROCESS_DIRECTORY_INVALID",
    `Cannot launch command "cat": working directory "${folder}/plain" is not a folder`,
    "correct cwd, or create the folder",
  );
  await check(
    ["cat", [], { cwd: "relative" }],
    invalid,
    'Cannot launch command "cat": working directory "relative" is not an absolute path',
  );
  await check(["cat", ["ok", "a\0b"]], invalid, 'Cannot launch command "cat": argument 2 contains NUL');
  await check([" "], invalid, 'Cannot launch command " ": a command is not empty and has no NUL');
  await check(
    ["c\0at"],
    invalid,
    'Cannot launch command "c\\u0000at": a command is not empty and has no NUL',
  );
  await check(
    ["cat", [], { env: { KEY: "secret\0" } }],
    invalid,
    'Cannot set environment variable "KEY": its value contains NUL',
  );
  await check(
    ["cat", [], { env: { "A=B": "1" } }],
    invalid,
    'Cannot set environment variable "A=B": a name is not empty and has neither "=" nor NUL',
  );
  await check(
    ["cat", [], { env: { TOOLCRIB_SERVER: "1" } }],
    invalid,
    'Cannot set environment variable "TOOLCRIB_SERVER": the name is reserved',
    "remove it from env; the gateway recognises its processes by it",
  );
  await check(
    ["cat", ["x".repeat(3 << 20)]],
    "PROCESS_SPAWN_FAILED",
    'Cannot launch command "cat": the system refused with E2BIG',
    "args and env together are too long for this system; pass large values in a file",
  );
});

test("launch() of a relative path starts it from the server's working directory", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "toolcrib-launch-"));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "server"), "#!/bin/sh\necho here\n", { mode: 0o700 });
  await using host = createTestLauncher({ directory: folder });
  const server = await host.launch("./server", [], { cwd: undefined });
  assert.equal(await readAll(server.stdout), "here\n");
});

test("launch() is refused past the limit of processes until one has ended", async () => {
  await using host = createTestLauncher({ processesMaxCount: 2 });
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => host.launch("cat")));
  const servers = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  assert.equal(servers.length, 2);
  await assert.rejects(host.launch("cat"), { code: "PROCESS_LIMIT" });
  await assert.rejects(
    servers[0]!.stop().then(() => host.launch("./none")),
    { code: "PROCESS_COMMAND_NOT_FOUND" },
  );
  await host.launch("cat");
});

test("launch() rejects with the signal's reason and leaves nothing running", async () => {
  await using host = createTestLauncher();
  const reason = new Error("No longer wanted");
  const sleep = uniqueSleep();
  const spec = { command: "sleep", args: [sleep], env: {}, label: "test" };
  await assert.rejects(host.launcher.launch(spec, { signal: AbortSignal.abort(reason) }), reason);
  const controller = new AbortController();
  const launching = host.launcher.launch(spec, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(launching, reason);
  assert.deepEqual(await leftovers(host.launcher.instance, sleep), []);
});

test("A launch that is in progress when the launcher closes is refused or ended", async () => {
  const host = createTestLauncher();
  const sleep = uniqueSleep();
  const launching = Promise.allSettled([1, 2, 3].map(() => host.launch("sleep", [sleep])));
  await host.launcher[Symbol.asyncDispose]();
  for (const outcome of await launching) {
    if (outcome.status === "fulfilled") await outcome.value.exited;
    else assert.equal(outcome.reason.code, "PROCESS_LAUNCHER_CLOSED");
  }
  await assert.rejects(host.launch("cat"), { code: "PROCESS_LAUNCHER_CLOSED" });
  assert.deepEqual(await leftovers(host.launcher.instance, sleep), []);
});

test("A write to a server that has ended has no other effect", async () => {
  await using host = createTestLauncher();
  const server = await host.launch("true");
  server.stdin.write("x".repeat(1 << 20));
  await server.exited;
  server.stdin.write("more");
});

test("The end of a server is described for people", async () => {
  await using host = createTestLauncher();
  const check = async (script: string, expected: RegExp): Promise<void> => {
    const exit = await (await host.launch("sh", ["-c", script])).exited;
    assert.match(exit.description, expected);
  };
  await check("exit 3", /^exited with code 3 after \d+ ms$/);
  await check("kill -9 $$", /^was ended by SIGKILL after \d+ ms$/);
  await check("echo one >&2; printf two >&2; exit 1", /^exited with code 1 after \d+ ms; last stderr: two$/);
  await check(
    "printf 'Error: no token\\n    at main (x.js:1)\\n\\nNode.js v26\\n' >&2; exit 1",
    /; last stderr: Error: no token$/,
  );
  await check(
    "printf 'npm error code E404\nnpm error 404 Not Found - GET x\nnpm error A complete log of this run can be found in: /l\n' >&2; exit 1",
    /; last stderr: npm error 404 Not Found - GET x$/,
  );
  await check(
    "printf 'error: Failed to fetch x\n  Caused by: client error (Connect)\n  Caused by: invalid peer certificate: UnknownIssuer\n' >&2; exit 2",
    /; last stderr: error: Failed to fetch x; Caused by: client error \(Connect\); Caused by: invalid peer certificate: UnknownIssuer$/,
  );
  assert.deepEqual(
    host.records
      .filter(({ event }) => event === "upstream.process.exited")
      .map(({ code, signal }) => code ?? signal),
    [3, "SIGKILL", 1, 1, 1, 2],
  );
});

test("readProcessTable() shows the same processes by /proc and by ps", async () => {
  await using host = createTestLauncher();
  const server = await host.launch("sh", ["-c", "sleep 300 & cat"]);
  const { instance } = host.launcher;
  const ours = async (source: "proc" | "ps") => {
    const table = (await readProcessTable(source)).filter((entry) => entry.instance === instance);
    return table.map(({ pid, parentPid, groupId, server: marker }) => ({ pid, parentPid, groupId, marker }));
  };
  await until("its child runs", async () => (await ours("proc")).length === 3);
  const byProc = await ours("proc");
  assert.deepEqual(await ours("ps"), byProc);
  assert.deepEqual(byProc[0], {
    pid: server.pid,
    parentPid: process.pid,
    groupId: server.pid,
    marker: `${instance}/1`,
  });
});

test("wrap gets the complete request and replaces it", async () => {
  const requests: object[] = [];
  await using host = createTestLauncher(
    {
      wrap(request) {
        requests.push({ ...request, env: Object.keys(request.env) });
        const args = ["-c", 'echo "$NOTE"; exec "$@"', "sh", request.program, ...request.args];
        return { ...request, program: "/bin/sh", args, env: { ...request.env, NOTE: "wrapped" } };
      },
    },
    { PATH: "/usr/bin:/bin" },
  );
  const server = await host.launch("printf", ["%s", "inside"], { env: { KEY: "1" }, cwd: "/usr" });
  assert.equal(await readAll(server.stdout), "wrapped\ninside");
  assert.deepEqual(requests, [
    {
      program: "/usr/bin/printf",
      args: ["%s", "inside"],
      env: ["TOOLCRIB_INSTANCE", "TOOLCRIB_SERVER", "PATH", "KEY"],
      directory: "/usr",
    },
  ]);
});

test("An error of wrap rejects the launch unchanged, and the failed launch does not count towards the limit", async () => {
  const error = new Error("no sandbox");
  let isRefused = true;
  await using host = createTestLauncher({
    processesMaxCount: 1,
    wrap(request) {
      if (isRefused) throw error;
      return request;
    },
  });
  await assert.rejects(host.launch("cat"), error);
  isRefused = false;
  await host.launch("cat");
});
