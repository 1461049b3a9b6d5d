/**
 * Does what a newcomer does on the first day, as a step of `npm run verify` that runs where it is named: the commands of
 * `docs/guides/first-day.md` in an empty folder, with the packed command alone, and a new home with the files of five
 * clients that name twenty servers of npm and PyPI. What the commands print must be what the page shows.
 *
 * All servers have to be ready and contained; clients of the official SDK then call a tool, started as the entry in
 * Claude Desktop's file says, and with the address and headers in Cursor's. Cursor rewrites its file, and the clients
 * are disconnected. It does so twice: the first run downloads the packages, and the second has a limit of time.
 *
 *     node scripts/verify-first-day.ts [--packed]
 *
 * `--packed` takes the archive that is in `release/`. It fetches packages as npm and uv are configured for the machine,
 * not for the user, whose home it does not use.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { clientFiles, serverIds, writeNewcomer } from "./first-day-clients.ts";
import { check, counts, end } from "./verify-cases.ts";

interface Command {
  readonly line: string;
  /** The text that the page shows. */
  readonly shown: string;
}

interface Status {
  readonly servers: readonly {
    readonly id: string;
    /** Undefined before the gateway is there. */
    readonly health?: { readonly state: string; readonly reason?: string };
    readonly containment?: {
      readonly tier?: string;
      readonly networkEgress: string;
      readonly filesystemWrite: string;
    };
  }[];
}

interface ClientEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
}

const root = join(import.meta.dirname, "..");
/** Not below /tmp: a sandbox has one of its own there. */
const base = mkdtempSync("/var/tmp/toolcrib-first-day-");
const home = join(base, "home");
const project = join(base, "project");
/** Milliseconds: for a command, for all servers when nothing is downloaded yet, and from the first command on after that. */
const limits = { commandMs: 120_000, coldMs: 900_000, warmMs: 60_000 } as const;
/** Commands besides approvals, which are decisions. */
const commandsMaxCount = 5;
const env = newcomerEnvironment();
const children: ChildProcess[] = [];

try {
  const missing = ["npx", "uvx", "git"].find((name) => spawnSync(name, ["--version"], { env }).status !== 0);
  if (missing === undefined) await verify();
  else console.log(`skipped: ${missing} is not installed\n0 passed, 0 failed, 1 skipped`);
} finally {
  for (const child of children) await end(child);
  rmSync(base, { recursive: true, force: true });
}

async function verify(): Promise<void> {
  if (!process.argv.includes("--packed")) {
    const { status, stdout, stderr } = spawnSync("npm", ["run", "release", "--", "--dry-run"], {
      cwd: root,
      encoding: "utf8",
    });
    await check("the command is packed", () => assert.equal(status, 0, `${stdout}${stderr}`));
  }
  const commands = commandsOfPage();
  await check(`the page has at most ${commandsMaxCount} commands, besides approvals`, () => {
    const counted = commands.filter(({ line }) => !/^toolcrib (?:approve|disconnect) /.test(line));
    assert.ok(counted.length <= commandsMaxCount, counted.map(({ line }) => line).join("\n"));
  });
  const coldMs = await firstDay(commands, "cold", limits.coldMs);
  const warmMs = await firstDay(commands, "warm", limits.warmMs);
  console.log(`${serverIds.length} servers ready after ${seconds(coldMs)} cold, ${seconds(warmMs)} warm`);
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}

/** Does everything once. @returns milliseconds from the first command until all servers are ready */
async function firstDay(
  commands: readonly Command[],
  title: string,
  readyMaxMs: number,
): Promise<number | undefined> {
  forgetAllButPackages();
  writeNewcomer(home);
  const before = readFiles();
  const startedAt = performance.now();
  let gateway: { readonly child: ChildProcess; readonly output: () => string } | undefined;
  let readyMs: number | undefined;
  for (const { line, shown } of commands) {
    if (line.startsWith("toolcrib disconnect ")) {
      await useClients(title);
      rewriteCursor();
    }
    await check(`${title}: ${line}`, async () => {
      if (line !== "toolcrib serve") return assertShown(await run(line), shown);
      gateway = serve();
      await check(`${title}: all servers become ready within ${seconds(readyMaxMs)}`, async () => {
        await allReady(startedAt + readyMaxMs);
        readyMs = performance.now() - startedAt;
      });
      // A start that downloads prints which packages are missing yet.
      if (title !== "warm") return;
      for (let tries = 0; tries < 50 && !gateway.output().includes("Press Ctrl-C"); tries += 1)
        await delay(100);
      assertShown(gateway.output(), shown);
    });
  }
  await check(`${title}: the files of the clients are as before, with the changes of Cursor`, () => {
    const { cursor, ...others } = readFiles();
    const { cursor: _, ...othersBefore } = before;
    assert.deepEqual(others, othersBefore);
    assert.equal(cursor, rewrittenCursor(before.cursor, {}));
  });
  if (gateway !== undefined) await end(gateway.child);
  return readyMs;
}

/** Waits until all servers of the configuration are ready, and checks that they are contained. */
async function allReady(until: number): Promise<void> {
  for (;;) {
    const text = await run("toolcrib status --json 2>/dev/null");
    const { servers } = (text.startsWith("{") ? JSON.parse(text) : { servers: [] }) as Status;
    const late = servers.filter(({ health }) => health?.state !== "ready");
    if (servers.length > 0 && late.length === 0) {
      assert.deepEqual(servers.map(({ id }) => id).sort(), serverIds);
      for (const { id, containment } of servers) {
        const { tier, networkEgress, filesystemWrite } = containment ?? {};
        assert.ok(tier !== undefined && tier !== "none", `${id} has no sandbox`);
        assert.deepEqual([networkEgress, filesystemWrite], ["deny", "deny"], id);
      }
      return;
    }
    const states = late.map(({ id, health }) => `${id}: ${health?.state}, ${health?.reason ?? ""}`);
    assert.ok(performance.now() < until, `after the limit:\n${states.join("\n") || text}`);
    await delay(500);
  }
}

/** Calls a tool as the clients do. */
async function useClients(title: string): Promise<void> {
  await check(`${title}: a client starts the bridge of Claude Desktop's file and calls a tool`, async () => {
    const { command, args } = entryOf(clientFiles.claudeDesktop);
    // As a program with windows, it has another PATH, and starts in another folder.
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      cwd: home,
      env: { HOME: home, PATH: "/usr/bin:/bin" },
      stderr: "ignore",
    });
    await callAs("claude-desktop", transport);
  });
  await check(`${title}: a client connects with the entry in Cursor's file and calls a tool`, async () => {
    const { url, headers } = entryOf(clientFiles.cursor);
    await callAs("cursor", new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  });
}

type Transport = Parameters<Client["connect"]>[0];

/** The first call waits for the operator; after the approval, the client repeats it. */
async function callAs(name: string, transport: Transport): Promise<void> {
  const client = new Client({ name, version: "1.0.0" });
  await client.connect(transport);
  try {
    const call = async () =>
      JSON.stringify(
        await client
          .callTool({ name: "documents__list_directory", arguments: { path: join(home, "Documents") } })
          .catch(String),
      );
    const first = await call();
    const [id] = /call:[0-9a-f]{16}/.exec(first) ?? [];
    assert.ok(id !== undefined, `a call of an unverified server needs no approval: ${first}`);
    assert.match(await run(`toolcrib approve ${id} --yes`), /^Approved for one call/m);
    assert.match(await call(), /\[FILE\] welcome\.txt/);
  } finally {
    await client.close();
  }
}

/** The entry of the gateway in a file of JSON with comments and trailing commas. */
function entryOf(file: string): ClientEntry {
  const entry = parseCommented(readFileSync(join(home, file), "utf8")).mcpServers["toolcrib"];
  assert.ok(entry !== undefined, `${file} has no entry`);
  return entry as ClientEntry;
}

function parseCommented(text: string): { readonly mcpServers: { readonly [id: string]: object } } {
  return JSON.parse(text.replace(/(^|\s)\/\/.*$/gm, "").replace(/,(?=\s*[\]}])/g, "")) as never;
}

/** Cursor writes its file again: without comments, in another order and layout, and with one more server. */
function rewriteCursor(): void {
  const path = join(home, clientFiles.cursor);
  const { toolcrib } = parseCommented(readFileSync(path, "utf8")).mcpServers;
  writeFileSync(path, rewrittenCursor(readFileSync(path, "utf8"), { toolcrib }));
}

function rewrittenCursor(text: string, own: object): string {
  const { toolcrib: _, ...others } = parseCommented(text).mcpServers;
  const reversed = Object.fromEntries(Object.entries(others).reverse());
  const mcpServers = { ...reversed, ...own, weather: { url: "https://weather.example.com/mcp" } };
  return JSON.stringify({ version: 2, mcpServers }, null, "\t");
}

function readFiles(): { readonly [client in keyof typeof clientFiles]: string } {
  const texts = Object.entries(clientFiles).map(([client, file]) => [
    client,
    readFileSync(join(home, file), "latin1"),
  ]);
  return Object.fromEntries(texts) as ReturnType<typeof readFiles>;
}

/** An empty folder with the archive, and an empty home but for packages that were downloaded. */
function forgetAllButPackages(): void {
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project);
  for (const [folder, kept] of [
    [home, [".npm", ".toolcrib"]],
    [join(home, ".toolcrib"), ["fetched"]],
  ] as const) {
    mkdirSync(folder, { recursive: true });
    const others = readdirSync(folder).filter((name) => !kept.some((one) => one === name));
    for (const name of others) rmSync(join(folder, name), { recursive: true, force: true });
  }
  const archive = readdirSync(join(root, "release")).find((name) => /^toolcrib-\d.*\.tgz$/.test(name));
  assert.ok(archive !== undefined, "release/ has no archive of the command");
  copyFileSync(join(root, "release", archive), join(project, archive));
}

/** The environment of a user, without what npm sets for the scripts of this repository. */
function newcomerEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|TOOLCRIB_|XDG_|NODE_OPTIONS$|INIT_CWD$)/i.test(name),
  );
  const prefix = join(home, ".local");
  const path = [
    join(prefix, "bin"),
    dirname(process.execPath),
    ...(process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules")),
    // Where scripts/runners/install.sh has put uv; the user's own comes first.
    join(root, "node_modules/.cache/toolcrib-uv/bin"),
  ];
  return {
    ...Object.fromEntries(own),
    HOME: home,
    PATH: path.join(delimiter),
    NO_COLOR: "1",
    npm_config_prefix: prefix,
    npm_config_update_notifier: "false",
  };
}

/** Reads the transcripts of the page. */
function commandsOfPage(): readonly Command[] {
  const page = readFileSync(join(root, "docs/guides/first-day.md"), "utf8");
  return [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, body = ""]) =>
    body
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [line = "", ...lines] = part.split("\n");
        return { line, shown: lines.join("\n") };
      }),
  );
}

/** A line `...` stands for any lines, and `…` for any text in a line, as in the other pages. */
function assertShown(printed: string, shown: string): void {
  const plain = (text: string) =>
    text
      .replace(/^\s*\n/gm, "")
      .replace(/ {2,}/g, "  ")
      .replace(/ +$/gm, "")
      .trim();
  const pattern = plain(shown)
    .split("\n")
    .map((line) =>
      line === "..."
        ? String.raw`(?:.*\n)*?`
        : `${line.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".*")}\\n`,
    );
  const isShown = new RegExp(`^${pattern.join("")}$`).test(`${plain(printed)}\n`);
  assert.ok(isShown, `--- the page shows\n${shown}\n--- printed\n${printed}`);
}

/** Runs a command line to its end. @returns what a terminal shows */
async function run(line: string): Promise<string> {
  const child = spawn("sh", ["-c", `{ ${line}\n} 2>&1`], {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: limits.commandMs,
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  await once(child, "close");
  return output;
}

/** Starts the gateway as in another terminal, on a free port. */
function serve(): { readonly child: ChildProcess; readonly output: () => string } {
  const child = spawn("toolcrib", ["serve", "--listen", "127.0.0.1:0"], {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return { child, output: () => output };
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? "no time" : `${Math.round(ms / 1000)} s`;
}
