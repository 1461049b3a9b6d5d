/** The files of a running gateway in all the ways in which they change: replaced, written in steps, linked, missing, unreadable. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { test } from "node:test";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import {
  makeTemporaryDirectory,
  runProcess,
  startServerProcess,
  type TemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { HttpClient, replaceConfig, smallServer } from "./reload-harness.ts";
import { cleanEnvironment, commandLine, runToolcrib, startServe } from "./transcript.ts";

/** A configuration with one server, whose tool shows which one it is. */
function configOf(tool: string, more: object = {}): object {
  return { tool_servers: [smallServer("a", tool)], serve: { listen: "127.0.0.1:0" }, ...more };
}

const textOf = (tool: string) => JSON.stringify(configOf(tool), undefined, 2);

/** Starts a gateway with the tool `t`, and a client of it. */
async function start(directory: TemporaryDirectory, args: readonly string[] = []) {
  await using opening = new AsyncDisposableStack();
  const gateway = opening.use(await startServe(["--auth", "none", ...args], { directory: directory.path }));
  const client = opening.use(await HttpClient.open(gateway.url));
  const resources = opening.move();
  return {
    gateway,
    lists: (tool: string) =>
      waitUntil(async () => (await client.tools()).join() === `a__${tool}`, {
        what: `the list has a__${tool}`,
      }),
    listsNothing: () =>
      waitUntil(async () => (await client.tools()).length === 0, { what: "the list is empty" }),
    /**
     * Does `breakIt`, and waits for a line of the log from then on about a refusal that matches `expected`. There can be
     * others: on a busy machine, the gateway also reads the files between the steps of a change.
     */
    async refuses(expected: RegExp, breakIt: () => void): Promise<void> {
      const start = gateway.stderr().length;
      breakIt();
      const isRefused = () =>
        gateway
          .stderr()
          .slice(start)
          .split("\n")
          .some((line) => line.includes("changed configuration is not used") && expected.test(line));
      await waitUntil(isRefused, { what: `a refusal with ${expected}` });
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

test("a thousand quick writes while a gateway starts and after it: the last one is in force", async () => {
  await using directory = await makeTemporaryDirectory();
  replaceConfig(directory, configOf("first"));
  const starting = start(directory);
  for (let count = 0; count < 500; count += 1) {
    replaceConfig(directory, configOf(`early${count}`));
    await delay(1);
  }
  await using running = await starting;
  await running.lists("early499");
  for (let count = 0; count < 1000; count += 1) {
    if (count % 2 === 0) replaceConfig(directory, configOf(`late${count}`));
    else writeFileSync(directory.join("toolcrib.json"), textOf(`late${count}`));
    await nextTurn();
  }
  await running.lists("late999");
});

test("a file that grows while it is read is not in force half, whatever is valid of it in between", async (t) => {
  await using directory = await makeTemporaryDirectory();
  const file = directory.join("toolcrib.yaml");
  const server = (id: string) => `  - ${JSON.stringify(smallServer(id, "t"))}\n`;
  const head = 'serve: {listen: "127.0.0.1:0"}\n';
  writeFileSync(file, `${head}policy: {deny: ["b:*"]}\ntool_servers:\n${server("a")}`);
  await using running = await start(directory);
  await running.lists("t");
  const setting = { directory: directory.path };
  for (let attempt = 0; attempt < 8; attempt += 1) {
    // Valid without its end, which denies a tool: the steps follow each other faster than a file becomes quiet.
    writeFileSync(file, `${head}tool_servers:\n${server("a")}`);
    const startedAt = performance.now();
    let [last, longestMs] = [startedAt, 0];
    for (let step = 0; step < 8; step += 1) {
      await delay(10);
      appendFileSync(
        file,
        step === 7 ? `policy: {deny: ["a:${attempt}*"]}\n` : server(`more${attempt}x${step}`),
      );
      const now = performance.now();
      longestMs = Math.max(longestMs, now - last);
      last = now;
    }
    await waitUntil(async () => (await fetch(`${running.gateway.url}/readyz`)).ok);
    const isListed = async () => (await runToolcrib(["status"], setting)).stdout.includes(`more${attempt}x6`);
    await waitUntil(isListed);
    // A busy machine made the file quiet in between: such a change is in force as it is, and this attempt shows nothing.
    if (longestMs >= 30 || last - startedAt >= 200) continue;
    const changes = (await runToolcrib(["audit", "list"], setting)).stdout
      .split("\n")
      .filter((line) => line.includes("config.changed") && line.includes(`more${attempt}x`));
    assert.ok(
      changes.length >= 1 && changes.every((line) => line.includes("policy.deny")),
      changes.join("\n"),
    );
    return;
  }
  t.skip("the machine was too busy to write a file quickly");
});

test("links: a link, a folder behind a link and the folder itself are swapped", async () => {
  await using directory = await makeTemporaryDirectory();
  for (const name of ["one", "two", "three"]) {
    mkdirSync(directory.join(name));
    writeFileSync(directory.join(`${name}/toolcrib.json`), textOf(name));
  }
  const swap = (target: string, link: string) => {
    symlinkSync(target, directory.join("next"));
    renameSync(directory.join("next"), directory.join(link));
  };
  // As mounted secrets are: the file is a link to a file behind a link to a folder.
  mkdirSync(directory.join("mounted"));
  swap("../one", "mounted/data");
  symlinkSync("data/toolcrib.json", directory.join("mounted/toolcrib.json"));
  await using running = await start(directory, ["--config", "mounted/toolcrib.json"]);
  await running.lists("one");
  swap("../two", "mounted/data");
  await running.lists("two");
  assert.equal(readlinkSync(directory.join("mounted/data")), "../two");
  // The file behind the links, and the link itself.
  writeFileSync(directory.join("two/toolcrib.json"), textOf("inplace"));
  await running.lists("inplace");
  swap("../three/toolcrib.json", "mounted/toolcrib.json");
  await running.lists("three");
  // The whole folder becomes another one, and that is followed, too.
  mkdirSync(directory.join("other"));
  writeFileSync(directory.join("other/toolcrib.json"), textOf("moved"));
  renameSync(directory.join("mounted"), directory.join("was"));
  renameSync(directory.join("other"), directory.join("mounted"));
  await running.lists("moved");
  writeFileSync(directory.join("mounted/toolcrib.json"), textOf("again"));
  await running.lists("again");
});

test("files in folders beside each other: written, replaced with their folder, and written by another name", async () => {
  await using directory = await makeTemporaryDirectory();
  const names = ["one", "two", "three"];
  const fileOf = (name: string) => directory.join(`rules/${name}/main.cedar`);
  const text = (isAllowed: boolean) =>
    isAllowed ? "permit(principal, action, resource);\n" : "// no rule\n";
  for (const name of names) {
    mkdirSync(directory.join(`rules/${name}`), { recursive: true });
    writeFileSync(fileOf(name), text(name === "one"));
  }
  const policy = { files: names.map((name) => `rules/${name}/main.cedar`) };
  replaceConfig(directory, configOf("t", { policy }));
  await using running = await start(directory);
  await running.lists("t");
  writeFileSync(fileOf("one"), text(false));
  await running.listsNothing();
  writeFileSync(fileOf("three"), text(true));
  await running.lists("t");
  // A folder is replaced by another one, and then removed and made again.
  const replaceFolder = (name: string, isAllowed: boolean) => {
    mkdirSync(directory.join("next"));
    writeFileSync(directory.join("next/main.cedar"), text(isAllowed));
    renameSync(directory.join(`rules/${name}`), directory.join(`${name}-${Number(isAllowed)}`));
    renameSync(directory.join("next"), directory.join(`rules/${name}`));
  };
  replaceFolder("three", false);
  await running.listsNothing();
  await running.refuses(/rules\/two/, () => rmSync(directory.join("rules/two"), { recursive: true }));
  mkdirSync(directory.join("rules/two"));
  writeFileSync(fileOf("two"), text(true));
  await running.lists("t");
  // The folder above becomes another one.
  renameSync(directory.join("rules"), directory.join("was"));
  cpSync(directory.join("was"), directory.join("rules"), { recursive: true });
  writeFileSync(fileOf("two"), text(false));
  await running.listsNothing();
  // No folder of the configuration reports what is written to the same file by its other name.
  linkSync(fileOf("one"), directory.join("was/other"));
  writeFileSync(directory.join("was/other"), text(true));
  await running.lists("t");
  writeFileSync(directory.join("was/other"), text(false));
  await running.listsNothing();
});

test("what cannot be read as a configuration changes nothing, and the next readable file is in force", async () => {
  await using directory = await makeTemporaryDirectory();
  const file = directory.join("toolcrib.json");
  replaceConfig(directory, configOf("t0"));
  await using running = await start(directory);
  await running.lists("t0");
  const broken: readonly (readonly [breakIt: () => void, expected: RegExp, repair: () => void])[] = [
    [() => writeFileSync(file, Buffer.from([0x7b, 0xff, 0xfe, 0x7d])), /UTF-8/, () => {}],
    [
      () => {
        unlinkSync(file);
        mkdirSync(file);
      },
      /Cannot read the configuration: .*(?:folder|directory)/,
      () => rmdirSync(file),
    ],
    [() => unlinkSync(file), /No configuration: there is no toolcrib\.yaml/, () => {}],
    [
      () => {
        rmSync(file);
        symlinkSync("toolcrib.json", file);
      },
      /No configuration|Cannot read the configuration/,
      () => unlinkSync(file),
    ],
  ];
  for (const [at, [breakIt, expected, repair]] of broken.entries()) {
    await running.refuses(expected, breakIt);
    repair();
    // As some editors do: the old file is removed, and the new one is written in its place.
    rmSync(file, { force: true });
    writeFileSync(file, textOf(`t${at + 1}`));
    await running.lists(`t${at + 1}`);
  }
});

/** Whether the process has an inotify watch of the folder: its descriptors list the numbers of the folders. */
function isWatching(pid: number, folder: string): boolean {
  const number = ` ino:${statSync(folder).ino.toString(16)} `;
  return readdirSync(`/proc/${pid}/fdinfo`).some((name) => {
    try {
      const lines = readFileSync(`/proc/${pid}/fdinfo/${name}`, "utf8").split("\n");
      return lines.some((line) => line.startsWith("inotify ") && line.includes(number));
    } catch {
      return false;
    }
  });
}

test("a folder that is removed and created again is watched again, also where it gets the same number", {
  skip: process.platform !== "linux" && "watches of a process are listed only on Linux",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("conf");
  const write = (tool: string) => writeFileSync(directory.join("conf/toolcrib.json"), textOf(tool));
  mkdirSync(folder);
  write("t0");
  await using running = await start(directory, ["--config", "conf/toolcrib.json"]);
  await running.lists("t0");
  const watches = () =>
    waitUntil(() => isWatching(running.gateway.pid, folder), { what: "the folder is watched" });
  await watches();
  // At once, as a program does that writes all of its files anew.
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  write("t1");
  await running.lists("t1");
  await watches();
  write("t2");
  await running.lists("t2");
  // With time in between, in which the gateway finds out that it is missing.
  await running.refuses(/toolcrib\.json/, () => rmSync(folder, { recursive: true }));
  mkdirSync(folder);
  await watches();
  write("t3");
  await running.lists("t3");
});

/** Starts programs in a copy of the mounts of this machine. */
const privateMounts = [
  ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]),
  ...["--mount", "--propagation", "private", "sh", "-c"],
];
const canMount =
  process.platform === "linux" &&
  (await runProcess("unshare", [...privateMounts, "mount -t tmpfs tmpfs /mnt"])).code === 0;

test("a file that is mounted alone: what is written to its source is polled each second", {
  skip: !canMount && "this machine gives no namespace of mounts",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const source = directory.join("source.json");
  const tools = ["t0", "t1", "t2", "t3"];
  const servers = [smallServer("a", "t0", { more: tools.slice(1) })];
  /** A configuration in which one tool is allowed: no server is started again for another one. */
  const allowing = (tool: string) => {
    const deny = tools.filter((one) => one !== tool).map((one) => `a:${one}`);
    return JSON.stringify({ tool_servers: servers, serve: { listen: "127.0.0.1:0" }, policy: { deny } });
  };
  writeFileSync(source, allowing("t0"));
  mkdirSync(directory.join("with space"));
  writeFileSync(directory.join("with space/toolcrib.json"), "");
  const args = [...["serve", "--auth", "none", "--config", "with space/toolcrib.json"]];
  const mounted = 'mount --bind source.json "with space/toolcrib.json" && exec "$0" "$@"';
  await using gateway = await startServerProcess(
    "unshare",
    [...privateMounts, mounted, process.execPath, ...commandLine, ...args],
    {
      cwd: directory.path,
      env: cleanEnvironment(directory.path),
      urlPattern: /http:\/\/127\.0\.0\.1:\d+(?=\/mcp)/,
    },
  );
  await using client = await HttpClient.open(gateway.url);
  // Once a change is seen, the next poll of all files is ten seconds away: only the one of each second sees the next change
  // earlier. A busy machine can delay some of them, not all.
  const tookMs: number[] = [];
  do {
    const tool = tools[(tookMs.length + 1) % tools.length] as string;
    const writtenAt = performance.now();
    writeFileSync(source, allowing(tool));
    await waitUntil(async () => (await client.tools()).join() === `a__${tool}`, {
      timeoutMs: 30_000,
      what: `the list has a__${tool}`,
    });
    tookMs.push(performance.now() - writtenAt);
  } while (tookMs.length < 2 || (tookMs.slice(1).every((one) => one > 8000) && tookMs.length < 5));
  assert.ok(
    tookMs.slice(1).some((one) => one <= 8000),
    `changes were seen after ${tookMs.map(Math.round).join(", ")} ms`,
  );
});
