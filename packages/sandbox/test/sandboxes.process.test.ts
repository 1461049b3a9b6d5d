/** Programs in a sandbox: what they see, write and reach, and what is refused. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { after, before, describe, it } from "node:test";
import { type ContainedRequest, createProcessLauncher, type SpawnRequest } from "@toolcrib/process";
import { exitPort } from "@toolcrib/sandbox";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";
import {
  createSandboxes,
  quoted,
  runContained as runInTier,
  strictPolicy,
  tierIds,
  unavailableReason,
} from "./sandbox-harness.ts";

type TakeListener = NonNullable<ContainedRequest["takeListener"]>;

function createLauncher() {
  return createProcessLauncher({
    env: { PATH: "/usr/bin:/bin" },
    now: Date.now,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    randomBytes,
  });
}

for (const tier of tierIds) {
  const skip = await unavailableReason(tier);
  const reason = skip === undefined ? false : `${tier} does not work here: ${skip}`;
  const runContained: typeof runInTier = (args, policy, settings) =>
    runInTier(args, policy, { tier, ...settings });

  describe(`a program in the sandbox of ${tier}`, { skip: reason }, () => {
    let folder: TemporaryDirectory;
    before(async () => {
      folder = await makeTemporaryDirectory();
      chmodSync(folder.path, 0o755);
      mkdirSync(folder.join("shown"));
      mkdirSync(folder.join("written"));
      mkdirSync(folder.join("secret"));
      writeFileSync(folder.join("shown", "file"), "shown");
      writeFileSync(folder.join("secret", "file"), "the secret");
    });
    after(() => folder[Symbol.asyncDispose]());

    it("passes its input, output, exit code, environment and folder on", async () => {
      const { code, stdout, stderr } = await runContained(
        ["-c", 'pwd; echo "$GREETING"; echo wrong >&2; exit 7'],
        strictPolicy(),
        { directory: folder.path, env: { GREETING: "hello you" } },
      );
      assert.deepEqual([code, stdout, stderr], [7, `${folder.path}\nhello you\n`, "wrong\n"]);
    });

    it("sees the system and nothing else of the machine", async () => {
      const script = `ls /; ls -A /home /root ${quoted(dirname(folder.path))} 2>&1; cat /etc/shadow ${quoted(folder.join("secret", "file"))} 2>&1`;
      const { stdout } = await runContained(["-c", script], strictPolicy());
      assert.match(stdout, /^usr$/m);
      assert.doesNotMatch(stdout, /the secret|root:.:[0-9]/);
      assert.match(stdout, /shadow: No such file/);
      assert.match(stdout, /secret\/file'?: No such file/);
    });

    it("reads read paths, writes write paths, and writes nothing else", async () => {
      const policy = strictPolicy({
        readPaths: [folder.join("shown")],
        writePaths: [folder.join("written")],
      });
      const script = [
        `cat ${quoted(folder.join("shown", "file"))}`,
        `echo new > ${quoted(folder.join("written", "file"))}`,
        'echo x > "$HOME/x" && echo x > "$TMPDIR/x" && echo memory',
        `for path in /x /usr/x /etc/x ${quoted(folder.join("shown", "x"))} /sys/x; do echo x > "$path" && echo "wrote $path"; done`,
      ].join("\n");
      const { stdout } = await runContained(["-c", script], policy);
      assert.equal(stdout, "shownmemory\n");
      assert.equal(readFileSync(folder.join("written", "file"), "utf8"), "new\n");
    });

    it("has no capability, no privileges to gain, and no further namespace", async () => {
      const { stdout } = await runContained(
        [
          "-c",
          "grep -E '^(Cap...|NoNewPrivs)' /proc/self/status; unshare --user true; echo $?; mount -t tmpfs x /tmp; echo $?",
        ],
        strictPolicy(),
      );
      const capabilities = [...stdout.matchAll(/^Cap(?:Inh|Prm|Eff|Bnd|Amb):\s*(\S+)/gm)].map(
        ([, value]) => value,
      );
      assert.deepEqual(capabilities, Array(5).fill("0000000000000000"));
      assert.match(stdout, /NoNewPrivs:\s*1/);
      assert.match(stdout, /^1\n(?:1|32)\n$/m);
    });

    it("reaches no server of the machine without network, and does with it", async () => {
      const server = createServer((socket) => socket.end("reached"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const { port } = server.address() as { readonly port: number };
        const script = `require("node:net").connect(${port}, "127.0.0.1").on("data", (data) => console.log(String(data))).on("error", (error) => console.log(error.code))`;
        const settings = { program: process.execPath };
        const denied = await runContained(["-e", script], strictPolicy(), settings);
        assert.equal(denied.stdout, "ECONNREFUSED\n", denied.stderr);
        const allowed = await runContained(["-e", script], strictPolicy({ network: "allow" }), settings);
        assert.equal(allowed.stdout, "reached\n", allowed.stderr);
      } finally {
        server.close();
      }
    });

    it("sees only its own processes, and ends with all of them", async () => {
      const { stdout } = await runContained(
        ["-c", "sleep 1000 & sleep 1000 & ls /proc | grep -cE '^[0-9]+$'"],
        strictPolicy(),
      );
      // Process 1, the shell, two sleeps, ls and grep.
      assert.ok(Number(stdout) <= 6, stdout);
    });

    it("keeps a library of the program's variables out of what starts the sandbox", async () => {
      const env = { LD_PRELOAD: "/absent/library.so" };
      const { stdout, stderr } = await runContained(["-c", "echo $LD_PRELOAD"], strictPolicy(), { env });
      assert.equal(stdout, "/absent/library.so\n");
      // The loader complains once, about the shell.
      assert.equal(stderr.match(/cannot be preloaded/g)?.length, 1, stderr);
    });

    it("has memory for worker threads", async () => {
      const script = `
        const { Worker } = require("node:worker_threads");
        const source = 'require("node:worker_threads").parentPort.on("message", () => {}).postMessage("up")';
        const workers = [1, 2, 3, 4].map(() => new Worker(source, { eval: true }));
        const started = workers.map((worker) => new Promise((resolve) => worker.once("message", resolve)));
        Promise.all(started).then((texts) => (console.log(...texts), process.exit(0)));`;
      const { code, stdout, stderr } = await runContained(["-e", script], strictPolicy(), {
        program: process.execPath,
      });
      assert.deepEqual([code, stdout], [0, "up up up up\n"], stderr);
    });

    it("gets SIGTERM when it is stopped, and can end in order", async () => {
      const launcher = createLauncher();
      const spec = {
        command: "/bin/sh",
        args: ["-c", 'trap "echo in order >&2; exit 3" TERM; echo ready; while :; do sleep 0.05; done'],
        env: {},
        label: "stopped",
        cwd: "/",
        contain: (request: SpawnRequest) => createSandboxes(tier).prepare(request, strictPolicy()),
      };
      await using launched = await launcher.launch(spec, { signal: AbortSignal.timeout(30_000) });
      assert.equal(String((await once(launched.stdout, "data"))[0]), "ready\n");
      await launched.stop(0);
      const { code, lastStderr, leftover } = await launched.exited;
      assert.deepEqual([code, lastStderr, leftover], [3, "in order", []]);
      await launcher[Symbol.asyncDispose]();
    });

    it("keeps hidden paths invisible below folders that are bound", async () => {
      const policy = strictPolicy({
        readPaths: [folder.path],
        hiddenPaths: [folder.join("secret"), folder.join("absent")],
      });
      const { stdout } = await runContained(
        ["-c", `ls ${quoted(folder.path)}; ls -A ${quoted(folder.join("secret"))}`],
        policy,
      );
      assert.equal(stdout, "secret\nshown\nwritten\n");
    });

    it("shows the program of a server within a hidden folder, also where a folder around both is shown", async () => {
      mkdirSync(folder.join("secret", "package"), { recursive: true });
      writeFileSync(folder.join("secret", "package", "program"), "runs");
      const own = [folder.join("secret", "package")];
      const hiddenPaths = [folder.join("secret")];
      const script = `cat ${quoted(folder.join("secret", "package", "program"))}; ls ${quoted(folder.join("secret"))}`;
      for (const changes of [
        { readPaths: [folder.path, ...own] },
        { readPaths: own, home: { path: folder.path } },
      ]) {
        const policy = strictPolicy({ hiddenPaths, ownPaths: own, ...changes });
        const { stdout, stderr } = await runContained(["-c", script], policy, { directory: folder.path });
        assert.equal(stdout, "runspackage\n", stderr);
      }
      rmSync(folder.join("secret", "package"), { recursive: true });
    });

    it("refuses paths that show or change what is hidden", async () => {
      symlinkSync(folder.join("secret"), folder.join("link"));
      symlinkSync("loop", folder.join("loop"));
      const hiddenPaths = [folder.join("secret")];
      const refused: readonly (readonly [Parameters<typeof strictPolicy>[0], RegExp])[] = [
        [{ readPaths: [folder.join("secret", "file")] }, /lies in/],
        [{ readPaths: [folder.join("link")] }, /lies in/],
        [{ writePaths: [folder.path] }, /holds .*secret/],
        [{ writePaths: ["/"] }, /whole file system/],
        [{ writePaths: [folder.join("absent")] }, /does not exist/],
        [{ readPaths: [folder.join("loop")] }, /cannot be looked up/],
        [{ writePaths: [folder.join("loop")] }, /cannot be looked up/],
      ];
      for (const [changes, pattern] of refused) {
        await assert.rejects(runContained(["-c", "true"], strictPolicy({ hiddenPaths, ...changes })), {
          code: "SANDBOX_PATH_REFUSED",
          message: pattern,
        });
      }
    });

    it("shows folders whose names contain characters that tables of mounts or shells treat in a special way", async () => {
      for (const name of [
        "a b",
        "tab\there",
        "line\nend",
        "hash#",
        "back\\040",
        "no\u00a0break",
        "wide\u3000",
        "\u2028",
        "ü'\"",
      ]) {
        const path = folder.join("names", name);
        mkdirSync(path, { recursive: true });
        writeFileSync(`${path}/file`, "seen");
        const policy = strictPolicy({ readPaths: [path] });
        const { stdout, stderr } = await runContained(["-c", 'cat "$1/file"', "sh", path], policy);
        assert.equal(stdout, "seen", `${JSON.stringify(name)}: ${stderr}`);
      }
    });

    it("starts a program whose arguments name links that lead in a circle", async () => {
      symlinkSync("circle-b", folder.join("circle-a"));
      symlinkSync("circle-a", folder.join("circle-b"));
      const args = ["-c", 'cat "$1" || echo none', "sh", folder.join("circle-a")];
      const { stdout } = await runContained(args, strictPolicy());
      assert.equal(stdout, "none\n");
    });

    it("finds the interpreter, the modules and the project of a script", async () => {
      mkdirSync(folder.join("app", "node_modules", "dep"), { recursive: true });
      writeFileSync(folder.join("app", "package.json"), "{}");
      writeFileSync(folder.join("app", "node_modules", "dep", "index.js"), 'module.exports = "the module";');
      writeFileSync(folder.join("app", "main.js"), 'console.log(require("dep"), require("./own.js"));');
      writeFileSync(folder.join("app", "own.js"), 'module.exports = "and its own";');
      for (const directory of ["/", folder.join("app")]) {
        const script = directory === "/" ? folder.join("app", "main.js") : "main.js";
        const { stdout, stderr } = await runContained([script], strictPolicy(), {
          program: process.execPath,
          directory,
        });
        assert.equal(stdout, "the module and its own\n", stderr);
      }
    });

    it("shows a program of node_modules its own package and what that depends on, and no other", async () => {
      const modules = folder.join("tree", "node_modules");
      const write = (path: string, text: string): void => {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
      };
      const manifest = (name: string, dependencies: readonly string[], member = "dependencies"): void =>
        write(
          `${modules}/${name}/package.json`,
          JSON.stringify({ name, [member]: Object.fromEntries(dependencies.map((one) => [one, "*"])) }),
        );
      manifest("server", ["@scope/near", "linked", "workspace", "../escape", "loop"]);
      write(
        `${modules}/server/cli.js`,
        `#!${process.execPath}
        const { existsSync, readdirSync } = require("node:fs");
        console.log(require("@scope/near"), require("linked"), require("loop"));
        for (const path of process.env.HIDDEN.split(":")) console.log(path, existsSync(path));
        console.log(readdirSync(${JSON.stringify(modules)}).join());`,
      );
      chmodSync(`${modules}/server/cli.js`, 0o755);
      manifest("@scope/near", ["deep"], "optionalDependencies");
      write(`${modules}/@scope/near/index.js`, 'module.exports = "near " + require("deep");');
      write(`${modules}/@scope/near/node_modules/deep/index.js`, 'module.exports = require("hoisted");');
      write(`${modules}/@scope/near/node_modules/deep/package.json`, '{"peerDependencies":{"hoisted":"1"}}');
      write(`${modules}/hoisted/index.js`, 'module.exports = "hoisted";');
      write(`${modules}/.store/linked@1/node_modules/linked/index.js`, 'module.exports = "linked";');
      write(`${modules}/.store/other@1/node_modules/other/index.js`, "");
      symlinkSync(".store/linked@1/node_modules/linked", `${modules}/linked`);
      manifest("loop", ["server"]);
      write(`${modules}/loop/index.js`, 'module.exports = "loop";');
      write(`${modules}/other/index.js`, "the other package");
      write(folder.join("tree", "package.json"), "{}");
      write(folder.join("tree", "packages", "workspace", ".env"), "TOKEN=private");
      symlinkSync("../packages/workspace", `${modules}/workspace`);
      write(folder.join("escape", "file"), "");
      mkdirSync(`${modules}/.bin`);
      symlinkSync("../server/cli.js", `${modules}/.bin/server`);
      const hidden = [
        `${modules}/other/index.js`,
        `${modules}/.store/other@1`,
        folder.join("tree", "package.json"),
        folder.join("tree", "packages", "workspace", ".env"),
        folder.join("escape", "file"),
      ];
      const env = { HIDDEN: hidden.join(":") };
      for (const [program, args] of [
        [`${modules}/.bin/server`, []],
        [process.execPath, [`${modules}/server/cli.js`]],
      ] as const) {
        const { stdout, stderr } = await runContained(args, strictPolicy(), { program, env });
        const [loaded, ...rest] = stdout.trim().split("\n");
        assert.equal(loaded, "near hoisted linked loop", stderr);
        assert.deepEqual(
          rest.slice(0, -1),
          hidden.map((path) => `${path} false`),
        );
        assert.doesNotMatch(rest.at(-1) ?? "", /other/);
      }
      // A native program needs its package only: the Node of this repository lies in a node_modules.
      const script = `console.log(require("node:fs").readdirSync(${JSON.stringify(dirname(dirname(dirname(process.execPath))))}).join())`;
      const native = await runContained(["-e", script], strictPolicy(), { program: process.execPath });
      if (process.execPath.includes("/node_modules/")) assert.match(native.stdout, /^node-[a-z0-9-]+\n$/);
    });

    it("joins the packages of a folder that contains no others, and starts what a shell script of .bin starts", async () => {
      const modules = folder.join("joined", "node_modules");
      for (const name of ["server", "dep", "@a/b"]) mkdirSync(`${modules}/${name}`, { recursive: true });
      writeFileSync(`${modules}/server/package.json`, '{"dependencies":{"dep":"1","@a/b":"1"}}');
      writeFileSync(
        `${modules}/server/cli.js`,
        'console.log(require("dep"), require("@a/b"), require("node:fs").readFileSync("/proc/self/mountinfo", "utf8").match(/^.*joined.*$/gm).length)',
      );
      writeFileSync(`${modules}/dep/index.js`, "module.exports = 1");
      writeFileSync(`${modules}/@a/b/index.js`, "module.exports = 2");
      mkdirSync(`${modules}/.bin`);
      writeFileSync(
        `${modules}/.bin/server`,
        `#!/bin/sh\nbasedir=$(dirname "$0")\nexec ${process.execPath} "$basedir/../server/cli.js" "$@"\n`,
      );
      chmodSync(`${modules}/.bin/server`, 0o755);
      const { stdout, stderr } = await runContained([], strictPolicy({ readPaths: [process.execPath] }), {
        program: `${modules}/.bin/server`,
      });
      assert.equal(stdout, "1 2 1\n", stderr);
    });

    it("limits memory, file size and processes", async () => {
      const python = await runContained(
        [
          "-c",
          "try:\n  x = bytearray(1 << 32)\n  print('allocated')\nexcept MemoryError:\n  print('limited')",
        ],
        strictPolicy(),
        { program: "/usr/bin/python3" },
      );
      assert.equal(python.stdout, "limited\n", python.stderr);
      const { stdout } = await runContained(
        ["-c", "truncate -s 5G $TMPDIR/big 2>/dev/null || echo limited"],
        strictPolicy(),
      );
      assert.equal(stdout, "limited\n");
    });

    it("has one exit in a scoped network, which its caller serves", async () => {
      const outside = createServer((socket) => socket.end("the machine"));
      await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve));
      await using launcher = createLauncher();
      const { port } = outside.address() as { readonly port: number };
      const script = `
        const { connect } = require("node:net");
        const answer = (port) => new Promise((resolve) =>
          connect(port, "127.0.0.1").on("data", (data) => resolve(String(data))).on("error", (error) => resolve(error.code)));
        (async () => {
          const descriptors = require("node:fs").readdirSync("/proc/self/fd").map(Number).filter((at) => {
            try { return require("node:fs").readlinkSync("/proc/self/fd/" + at).startsWith("socket:"); } catch { return false; }
          });
          console.log(JSON.stringify([
            await answer(${exitPort}), await answer(${port}), process.env.NODE_OPTIONS, process.env.NODE_CHANNEL_FD ?? "no channel",
            descriptors.filter((at) => at > 2).length,
          ]));
        })();`;
      const exits: Server[] = [];
      const spec = {
        command: process.execPath,
        args: ["-e", script],
        env: { NODE_OPTIONS: "--no-warnings" },
        label: "scoped",
        cwd: "/",
        contain: async (request: SpawnRequest) => {
          const prepared = await createSandboxes(tier).prepare(request, strictPolicy({ network: "scoped" }));
          const takeListener: TakeListener = (listener) => {
            exits.push(createServer((socket) => socket.end("the exit")).listen(listener));
          };
          return { ...prepared, takeListener };
        },
      };
      try {
        await using launched = await launcher.launch(spec, { signal: AbortSignal.timeout(30_000) });
        const [line] = await Promise.race([
          once(launched.stdout, "data"),
          launched.exited.then(({ description, lastStderr }) => [`${description} ${lastStderr}`]),
        ]);
        assert.deepEqual(JSON.parse(String(line)), [
          "the exit",
          "ECONNREFUSED",
          "--no-warnings",
          "no channel",
          0,
        ]);
      } finally {
        outside.close();
        for (const exit of exits) exit.close();
      }
    });

    it("hands over further listeners, to which low ports and addresses of its own lead", async () => {
      await using launcher = createLauncher();
      const script = `
        const dgram = require("node:dgram"), { connect } = require("node:net");
        const answer = (host, port) => new Promise((resolve) =>
          connect(port, host).on("data", (data) => resolve(String(data))).on("error", (error) => resolve(error.code)));
        const ask = (port) => new Promise((resolve) => {
          const socket = dgram.createSocket("udp4").on("message", (text) => { resolve(String(text)); socket.close(); });
          socket.on("error", (error) => resolve(error.code)).connect(port, "127.0.0.1", () => socket.send("question"));
        });
        const listen = (port) => new Promise((resolve) => require("node:net").createServer().on("error", (error) => resolve(error.code)).listen(port, "127.0.0.1", () => resolve("free")));
        (async () => {
          console.log(JSON.stringify([
            await answer("198.18.7.9", 443), await answer("198.19.255.254", 443), await answer("198.20.0.1", 443),
            await answer("127.0.0.1", 53), await ask(53), await listen(443),
          ]));
          process.exit();
        })();`;
      const served: { close(): void }[] = [];
      const listeners = [
        { protocol: "tcp", address: "0.0.0.0", port: 443 },
        { protocol: "tcp", address: "127.0.0.1", port: 53 },
        { protocol: "udp", address: "127.0.0.1", port: 53 },
        { protocol: "tcp", address: "192.0.2.1", port: 80 },
      ] as const;
      const places: string[] = [];
      const takeListener: TakeListener = (listener, { protocol, address, port }) => {
        places.push(`${protocol} ${address} ${port}`);
        served.push(listener);
        if ("send" in listener) {
          listener.on("message", (text, from) => listener.send(`answer to ${text}`, from.port, from.address));
        } else {
          listener.on("connection", (socket: Socket) => socket.end(`${port} ${socket.localAddress}`));
        }
      };
      const spec = {
        command: process.execPath,
        args: ["-e", script],
        env: {},
        label: "listeners",
        cwd: "/",
        contain: async (request: SpawnRequest) => {
          const policy = strictPolicy({ network: "scoped", listeners });
          return { ...(await createSandboxes(tier).prepare(request, policy)), takeListener };
        },
      };
      try {
        await using launched = await launcher.launch(spec, { signal: AbortSignal.timeout(30_000) });
        const [line] = await Promise.race([
          once(launched.stdout, "data"),
          launched.exited.then(({ description, lastStderr }) => [`${description} ${lastStderr}`]),
        ]);
        const [first, second, outside, ...rest] = JSON.parse(String(line));
        assert.deepEqual([first, second], ["443 198.18.7.9", "443 198.19.255.254"]);
        assert.match(outside, /^(?:ENETUNREACH|EHOSTUNREACH)$/);
        assert.deepEqual(rest, ["53 127.0.0.1", "answer to question", "EADDRINUSE"]);
        // The place that cannot be had is left out.
        assert.deepEqual(places.toSorted(), [
          "tcp 0.0.0.0 443",
          "tcp 127.0.0.1 3128",
          "tcp 127.0.0.1 53",
          "udp 127.0.0.1 53",
        ]);
      } finally {
        for (const listener of served) listener.close();
      }
    });
  });
}
