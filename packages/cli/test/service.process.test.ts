/** `toolcrib service`: the unit, the commands that systemd gets, and, where a systemd can be started, the service itself. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import {
  echoStdioPath,
  fixtureCommand,
  makeTemporaryDirectory,
  runProcess,
  runsAll,
} from "@toolcrib/testing";
import { commandLine, runToolcrib } from "./transcript.ts";

const userManager = "/lib/systemd/systemd";

async function setUp() {
  const directory = await makeTemporaryDirectory();
  const transport = { kind: "stdio", ...fixtureCommand(echoStdioPath) };
  const config = {
    tool_servers: [{ id: "s", transport, trust_state: "verified" }],
    serve: { listen: "127.0.0.1:0", auth: "none" },
  };
  const folder = directory.join('a 100% $HOME\\ "project"');
  mkdirSync(folder);
  writeFileSync(`${folder}/toolcrib.json`, JSON.stringify(config));
  mkdirSync(directory.join("bin"));
  const log = directory.join("systemctl.log");
  writeFileSync(
    directory.join("bin/systemctl"),
    `#!/bin/sh\necho "$@" >> "${log}"\ncase "$*" in *" show toolcrib.service "*) printf 'LoadState=loaded\\nActiveState=inactive\\nSubState=dead\\nUnitFileState=enabled\\nMainPID=0\\nNRestarts=3\\n' ;; esac\n`,
    { mode: 0o755 },
  );
  writeFileSync(directory.join("bin/journalctl"), `#!/bin/sh\necho "journal: $*"\n`, { mode: 0o755 });
  const env = {
    HOME: directory.path,
    PATH: `${directory.join("bin")}:${dirname(process.execPath)}:/usr/bin:/bin`,
  };
  const setting = { directory: folder, env };
  const calls = () =>
    existsSync(log)
      ? readFileSync(log, "utf8")
          .trim()
          .split("\n")
          .map((line) => line.replace(/^--user --no-pager /, ""))
      : [];
  return {
    directory,
    folder,
    calls,
    unit: directory.join(".config/systemd/user/toolcrib.service"),
    setting,
    run: (...words: readonly string[]) => runToolcrib(words, setting),
  };
}

test("a folder or home whose path is a pattern or ends in a backslash means itself", async () => {
  const { directory, folder, setting } = await setUp();
  await using _directory = directory;
  const other = `${folder}\\`;
  mkdirSync(other);
  writeFileSync(`${other}/toolcrib.json`, readFileSync(`${folder}/toolcrib.json`));
  const home = directory.join("[ab]*\\c");
  const words = ["--home", home, "service", "install", "--dry-run"];
  const { stdout } = await runToolcrib(words, { ...setting, directory: other });
  const lines = stdout.split("\n");
  assert.ok(lines.includes(`WorkingDirectory=${other.replace("%", "%%")}/`), stdout);
  assert.ok(lines.includes(`EnvironmentFile=-${directory.join("\\[ab]\\*\\\\c/service.env")}`), stdout);
});

test("the unit names absolute paths, and systemd accepts it", async (context) => {
  const { directory, run, unit, calls } = await setUp();
  await using _directory = directory;
  const { code, stdout, stderr } = await run("service", "install", "--dry-run", "--listen", "127.0.0.1:7421");
  assert.equal(code, 0, stderr);
  assert.equal(existsSync(unit), false);
  assert.deepEqual(calls(), []);
  const start = /^ExecStart=(.*)$/m.exec(stdout)?.[1] ?? "";
  assert.ok(start.startsWith(process.execPath), start);
  assert.match(
    start,
    /toolcrib\.js --home \S+\/\.toolcrib --config "\/.*100%% \$\$HOME\\\\ \\"project\\"\/toolcrib\.json" serve --quiet --listen 127\.0\.0\.1:7421$/,
  );
  for (const line of [
    "Type=exec",
    "Restart=on-failure",
    "NoNewPrivileges=yes",
    "Delegate=yes",
    "WantedBy=default.target",
  ])
    assert.ok(stdout.includes(`\n${line}\n`), line);
  // What breaks sandboxes is not there.
  assert.doesNotMatch(stdout, /RestrictNamespaces|ProtectKernelTunables|MemoryDenyWriteExecute|PrivateUsers/);
  if (!existsSync("/usr/bin/systemd-analyze")) return context.skip("systemd-analyze is not installed");
  const path = directory.join("toolcrib.service");
  writeFileSync(path, stdout.slice(stdout.indexOf("\n") + 1));
  const verified = await runProcess("/usr/bin/systemd-analyze", ["--user", "verify", path], {
    env: { HOME: directory.path, XDG_RUNTIME_DIR: directory.path },
  });
  assert.deepEqual([verified.code, verified.stderr], [0, ""]);
});

test("install, status, logs and uninstall ask systemd for what they say", async () => {
  const { directory, folder, run, unit, calls } = await setUp();
  await using _directory = directory;
  const installed = await run("service", "install");
  assert.equal(installed.code, 0, installed.stderr);
  assert.match(installed.stdout, /Installed .*toolcrib\.service and started it/);
  assert.deepEqual(calls(), [
    "show --property=Version",
    "daemon-reload",
    "enable toolcrib.service",
    "restart toolcrib.service",
  ]);
  const status = await run("service", "status");
  assert.deepEqual(
    [status.code, /inactive \(dead\), enabled, process 0, 3 restarts/.test(status.stdout)],
    [5, true],
  );
  const logs = await runProcess(process.execPath, [...commandLine, "service", "logs", "-n", "7"], {
    cwd: folder,
    env: { HOME: directory.path, PATH: `${directory.join("bin")}:/usr/bin:/bin` },
  });
  assert.equal(logs.stdout, "journal: --user --no-pager --unit toolcrib.service --lines 7\n", logs.stderr);
  const removed = await run("service", "uninstall");
  assert.equal(removed.code, 0, removed.stderr);
  assert.equal(existsSync(unit), false);
  assert.deepEqual(calls().slice(-3), [
    "show --property=Version",
    "disable --now toolcrib.service",
    "daemon-reload",
  ]);
  assert.equal((await run("service", "uninstall")).code, 4);

  // The unit of another program, an invalid configuration and an invalid name change nothing.
  writeFileSync(unit, "[Service]\n");
  assert.match((await run("service", "install")).stderr, /did not write it\nhint: .*--force/);
  assert.equal(readFileSync(unit, "utf8"), "[Service]\n");
  assert.match((await run("service", "install", "--name", "../x")).stderr, /cannot have this name/);
  writeFileSync(`${folder}/toolcrib.json`, "{");
  assert.equal((await run("service", "install", "--force")).code, 2);
  assert.equal(readFileSync(unit, "utf8"), "[Service]\n");
});

test("without a systemd, the error names other ways", async () => {
  const { directory, run } = await setUp();
  await using _directory = directory;
  writeFileSync(
    directory.join("bin/systemctl"),
    "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2; exit 1\n",
    { mode: 0o755 },
  );
  for (const words of [["install"], ["status"]]) {
    const outcome = await run("service", ...words);
    assert.match(
      outcome.stderr,
      /CLI_SERVICE_UNAVAILABLE: .*Failed to connect to bus: No medium found\nhint: .*loginctl enable-linger.*toolcrib serve --quiet/,
    );
  }
});

test("a systemd of the user runs the gateway, and a contained server answers", async (context) => {
  if (!runsAll) return context.skip("takes seconds; npm run verify runs it");
  const { directory, folder } = await setUp();
  await using _directory = directory;
  if (process.getuid?.() !== 0 || !existsSync(userManager))
    return context.skip("no systemd can be started here");
  const toolcrib = [process.execPath, ...commandLine].map((word) => `'${word}'`).join(" ");
  // A manager of its own, in folders that nothing else sees.
  const script = `set -e
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system "$XDG_RUNTIME_DIR" && chmod 700 "$XDG_RUNTIME_DIR"
${userManager} --user --log-target=null & manager=$!
trap 'kill $manager; wait $manager || true' EXIT
until systemctl --user is-system-running 2>/dev/null | grep -qE 'running|degraded'; do sleep 0.2; done
${toolcrib} service install >&2
until ${toolcrib} status 2>/dev/null | grep -q '^s *ready '; do sleep 0.2; done
${toolcrib} service status
${toolcrib} status
${toolcrib} call s__echo '{"text":"from the service"}'
systemctl --user kill --signal=KILL toolcrib.service
until ${toolcrib} status >/dev/null 2>&1; do sleep 0.2; done
${toolcrib} service status
${toolcrib} service uninstall
`;
  const env = {
    HOME: directory.path,
    XDG_RUNTIME_DIR: "/run/user/0",
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
  };
  const outcome = await runProcess("unshare", ["-m", "--propagation", "private", "bash", "-c", script], {
    cwd: folder,
    env,
    timeoutMs: 180_000,
  });
  if (/unshare failed|mount: /.test(outcome.stderr)) return context.skip("no systemd can be started here");
  assert.match(
    outcome.stdout,
    /toolcrib\.service: active \(running\), enabled, process \d+, 0 restarts\nIt serves http/,
    outcome.stderr,
  );
  assert.match(outcome.stdout, /^s +ready +stdio +\d+ +\d+ +\d+ +(?!none)\S+/m);
  assert.match(outcome.stdout, /from the service/);
  assert.match(outcome.stdout, /active \(running\), enabled, process \d+, 1 restarts/);
  assert.match(outcome.stdout, /Stopped and removed/);
});
