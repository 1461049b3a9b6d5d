/** Symbolic links in arguments and read paths show nothing that their targets would not show by their own names. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kill } from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { chooseStartParent, Sandboxes } from "@toolcrib/sandbox";
import { makeTemporaryDirectory, waitUntil, writeFiles } from "@toolcrib/testing";
import { run, strictPolicy, type TierId, tierIds, unavailableReason } from "./sandbox-harness.ts";

const secret = "the key of a person";
/** Where the links of the project lead, from the folder that holds them. */
const targets = {
  home: "../home",
  keys: "../home/.ssh",
  above: "..",
  root: "/",
  "gateway-home": "../home/.toolcrib",
} as const;

async function makeProject() {
  const directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    "home/.ssh/id_rsa": secret,
    "home/.toolcrib/tokens/desk": secret,
    "home/notes/a.txt": "notes",
    "project/b.txt": "project",
  });
  for (const [name, target] of Object.entries(targets)) symlinkSync(target, directory.join("project", name));
  symlinkSync("../home/notes", directory.join("project/notes"));
  return directory;
}

/** Runs a shell script with arguments in the project. @returns what it prints */
async function show(
  tier: TierId,
  top: string,
  script: string,
  args: readonly string[],
  readPaths: readonly string[] = [],
): Promise<string> {
  const home = join(top, "home");
  const sandboxes = new Sandboxes(
    {
      uid: process.getuid?.() ?? -1,
      gid: process.getgid?.() ?? -1,
      temporaryDirectory: chooseStartParent(tmpdir()),
      userHome: home,
    },
    { tiers: [tier] },
  );
  const request = {
    program: "/bin/sh",
    args: ["-c", script, "sh", ...args],
    env: { PATH: "/usr/bin:/bin" },
    directory: join(top, "project"),
  };
  const hiddenPaths = [join(home, ".toolcrib"), join(home, ".ssh")];
  await using contained = await sandboxes.prepare(request, strictPolicy({ hiddenPaths, readPaths }));
  const { stdout } = await run(contained.request);
  return stdout;
}

const read =
  'find "$@" -follow -type f \\( -name id_rsa -o -name desk \\) -exec cat {} + 2>&1; ls -a "$@" 2>&1';

const withoutProc = existsSync("/proc/self/cwd") ? false : "no /proc here";
const withoutPython = existsSync("/usr/bin/python3") ? false : "no Python here";

for (const tier of tierIds) {
  const skip = (await unavailableReason(tier)) ?? false;
  for (const [name, target] of Object.entries(targets)) {
    test(`${tier}: a link to ${target} in an argument does not show a key`, { skip }, async () => {
      await using directory = await makeProject();
      const paths = [name, `./${name}`, directory.join("project", name)];
      for (const path of paths) {
        const shown = await show(tier, directory.path, read, [path]);
        assert.ok(!shown.includes(secret), `${path}: ${shown}`);
      }
      // A file below a link, too, which is found as a script is.
      for (const file of [
        ".ssh/id_rsa",
        "id_rsa",
        "home/.ssh/id_rsa",
        ".toolcrib/tokens/desk",
        "tokens/desk",
      ]) {
        const shown = await show(tier, directory.path, 'cat "$1" 2>&1', [
          directory.join("project", name, file),
        ]);
        assert.ok(!shown.includes(secret), `${name}/${file}: ${shown}`);
      }
    });
  }

  test(`${tier}: a link in an argument that cannot be followed is as one to nothing`, {
    skip: skip || withoutProc,
  }, async () => {
    await using directory = await makeProject();
    // The kernel keeps no folder of a program that has ended, whose parent never asks for its status. A shell would ask: it has
    // become another program by then.
    const parent = spawn("/bin/sh", ["-c", "sleep 600 & echo $!; exec sleep 600"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      const [line] = (await once(parent.stdout, "data")) as [Buffer];
      const pid = Number(line.toString());
      const process = `/proc/${pid}`;
      await waitUntil(() => readFileSync(`/proc/${parent.pid}/comm`, "utf8") === "sleep\n");
      kill(pid, "SIGKILL");
      await waitUntil(() => readFileSync(`${process}/stat`, "utf8").includes(") Z "));
      assert.throws(() => readlinkSync(`${process}/cwd`), "otherwise this tests nothing");
      symlinkSync(`${process}/cwd`, directory.join("project/gone"));
      for (const path of [`${process}/cwd`, `${process}/cwd/a.txt`, "gone", `--dir=${process}/cwd`])
        assert.equal(await show(tier, directory.path, 'echo "$1"', [path]), `${path}\n`);
    } finally {
      parent.kill("SIGKILL");
    }
  });

  test(`${tier}: paths in options, URLs and lists are shown as those of arguments, and widen nothing`, {
    skip,
  }, async () => {
    await using directory = await makeProject();
    const notes = directory.join("home/notes");
    const project = directory.join("project");
    // The first line says what the form is for; the script gets the path itself in a variable of its own.
    const forms = (path: string) => [
      `--dir=${path}`,
      `-d=${path}`,
      `ROOT=${path}`,
      pathToFileURL(path).href,
      `--root=${pathToFileURL(path).href}`,
      `/nowhere:${path}`,
      `${path}:/data:ro`,
      `--dirs=/nowhere,${path}`,
    ];
    for (const form of forms(notes)) {
      const seen = await show(tier, directory.path, `cat ${notes}/a.txt 2>&1`, [form]);
      assert.equal(seen, "notes", form);
    }
    assert.equal(
      await show(tier, directory.path, "cat ../home/notes/a.txt 2>&1", ["--dir=../home/notes"]),
      "notes",
    );
    // The working folder by its whole path, and not where the place of a start decides.
    for (const [form, seen] of [
      [project, "project"],
      [`--dir=${project}`, "project"],
      [".", ""],
      ["--dir=.", ""],
    ] as const)
      assert.equal(await show(tier, directory.path, `cat ${project}/b.txt 2>/dev/null`, [form]), seen, form);
    // Each part of a home that a link leads to, and the home itself, as a plain argument would not show it.
    const links = Object.keys(targets).map((name) => join(project, name));
    const keys = [
      ...links,
      ...[".ssh", ".ssh/id_rsa", ".toolcrib", ".toolcrib/tokens/desk"].flatMap((name) => [
        directory.join("home", name),
        join(project, "home", name),
        join(project, "notes/..", name),
      ]),
      directory.join("home"),
    ];
    const search =
      'find "$TOP" -follow -type f \\( -name id_rsa -o -name desk \\) -exec cat {} + 2>&1; for one in "$@"; do cat "$one" "$one/.ssh/id_rsa" "$one/id_rsa"; done 2>&1';
    for (const path of keys) {
      const words = forms(path);
      const script = `TOP=${directory.path}; set -- ${path}; ${search}`;
      const shown = await show(tier, directory.path, script, words);
      assert.ok(!shown.includes(secret), `${path}: ${shown}`);
    }
    // A URL of another machine, and one with a NUL, name nothing here.
    for (const url of [`file://elsewhere${notes}`, `file://${notes}%00`, `http://localhost${notes}`]) {
      const seen = await show(tier, directory.path, `cat ${notes}/a.txt 2>&1`, [url]);
      assert.ok(!seen.startsWith("notes"), url);
    }
  });

  test(`${tier}: sockets in what arguments and read paths name lead nowhere, and no argument shows the running system`, {
    skip: skip === false ? withoutPython : skip,
  }, async () => {
    await using directory = await makeProject();
    mkdirSync(directory.join("service/below"), { recursive: true });
    symlinkSync("../service", directory.join("project/service"));
    await using servers = new AsyncDisposableStack();
    // More entries than are looked at, before the folder of the last socket.
    for (let at = 0; at < 600; at += 1) writeFiles(directory.path, { [`service/below/${at}.txt`]: "" });
    mkdirSync(directory.join("service/below/z/deep"), { recursive: true });
    const inService = ["one", "below/two", "below/z/deep/three"];
    for (const path of inService.map((one) => `service/${one}`)) {
      const server = createServer((socket) => socket.end("reached"));
      await new Promise<void>((resolve) => server.listen(directory.join(path), resolve));
      servers.defer(() => new Promise((resolve) => server.close(() => resolve())));
    }
    writeFiles(directory.path, { "service/a.txt": "seen" });
    const connect = `for one in "$@"; do python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print(s.recv(99))' "$one"; done 2>&1; cat ${directory.join("service/a.txt")} ${directory.join("project/service/a.txt")} 2>&1`;
    const service = directory.join("service");
    const link = directory.join("project/service");
    for (const form of [service, `--dir=${service}`, link, `file://${link}`]) {
      const sockets = [service, link].flatMap((one) => inService.map((path) => join(one, path)));
      const script = `set -- ${sockets.join(" ")}; ${connect}`;
      const shown = await show(tier, directory.path, script, [form]);
      assert.ok(!shown.includes("reached") && shown.includes("seen"), `${form}: ${shown}`);
    }
    const below = await show(
      tier,
      directory.path,
      `set -- ${service}/below/two; ${connect}`,
      [],
      [join(service, "a.txt")],
    );
    assert.ok(!below.includes("reached") && below.startsWith("Traceback"), below);
    for (const path of [
      "/sys/kernel",
      "/run",
      "/run/lock",
      "/var/run",
      "/dev/shm",
      "/dev/fd",
      "/proc/self/cwd",
    ]) {
      const shown = await show(tier, directory.path, "ls -A /sys /run | tr -d '\\n'", [
        path,
        `--log=${path}`,
      ]);
      assert.equal(shown, "/run:/sys:", path);
    }
  });

  test(`${tier}: a file that an option names is shown alone, also behind a link to its folder`, {
    skip,
  }, async () => {
    await using directory = await makeProject();
    writeFiles(directory.path, {
      "app/package.json": "{}",
      "app/settings.json": "settings",
      "app/settings.js": "settings",
      "app/private.txt": secret,
    });
    symlinkSync("../app", directory.join("project/app"));
    for (const folder of ["app", "project/app"]) {
      for (const file of ["settings.json", "settings.js"]) {
        const path = directory.join(folder, file);
        const script = `cat ${path}; cat ${directory.join(folder, "private.txt")} ${directory.join("app/private.txt")} 2>&1`;
        const shown = await show(tier, directory.path, script, [`--config=${path}`]);
        assert.ok(shown.startsWith("settings"), `${path}: ${shown}`);
        assert.ok(!shown.includes(secret), `${path}: ${shown}`);
      }
      const plain = directory.join(folder, "settings.json");
      const shown = await show(
        tier,
        directory.path,
        `cat ${plain} ${directory.join(folder, "private.txt")} 2>&1`,
        [plain],
      );
      assert.ok(shown.startsWith("settings") && !shown.includes(secret), `${plain}: ${shown}`);
    }
  });

  test(`${tier}: a link to a folder without a secret in an argument shows it`, { skip }, async () => {
    await using directory = await makeProject();
    assert.equal(await show(tier, directory.path, 'cat "$1/a.txt"', ["notes"]), "notes");
  });

  test(`${tier}: a read path that is a link shows its folder, and hides the same in it`, {
    skip,
  }, async () => {
    await using directory = await makeProject();
    const link = directory.join("project/home");
    const shown = await show(tier, directory.path, `cat "$1/notes/a.txt"; ${read}`, [link], [link]);
    assert.ok(shown.startsWith("notes"), shown);
    assert.ok(!shown.includes(secret), shown);
  });
}
