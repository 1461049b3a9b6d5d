/**
 * Starts real client programs with the entries that `toolcrib connect` writes, as a step of `npm run verify` that runs
 * where it is named: the pinned packages of `real-clients/` are installed, and everything else happens in a network of
 * its own, which has nothing but loopback, and in homes of its own. For each client:
 *
 * - the command of its page says that it is connected, and says something else where no gateway listens;
 * - in a session with a model on loopback it offers the tools of the gateway, and calls one, over HTTP, with a gateway
 *   that it starts itself (`--stdio`) and through `toolcrib bridge`; the audit trail has each call with its name;
 * - `toolcrib disconnect` restores its file byte for byte, and leaves the file that the client alone would have written
 *   where its own command added a server in between;
 * - `toolcrib import` reads the servers that its own commands added.
 *
 * The commands of `docs/migrate/supergateway.md` run with pinned packages, too.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { clientPrograms, withServer } from "@toolcrib/clients";
import { freePort } from "@toolcrib/testing";
import { ranElsewhere } from "../packages/cli/test/pages/not-run.ts";
import { installPinned } from "./pinned-packages.ts";
import { notStarted, type RealClient, realClients } from "./real-clients/clients.ts";
import { type ScriptedModel, startScriptedModel } from "./real-clients/scripted-model.ts";
import { runSupergateway } from "./real-clients/supergateway.ts";
import { publishedPackages } from "./release/published-packages.ts";
import { writePackage } from "./release/write-package.ts";
import { check, counts, end } from "./verify-cases.ts";

const root = join(import.meta.dirname, "..");
const packages = join(import.meta.dirname, "real-clients");
/** Milliseconds for one command of a client or of Toolcrib. */
const commandMs = 120_000;
/** Milliseconds after the end of a command in which its output is still read: a process that it left can hold its pipes. */
const outputMs = 5000;
/** Milliseconds until the gateway and its server are ready. */
const startMs = 120_000;

/** Installs the packages, and starts this program again where no other network can be reached. @returns the exit code */
function installAndEnter(): number {
  if (process.platform !== "linux" || process.arch !== "x64") {
    console.log("skipped: the programs are pinned for Linux on x64\n0 passed, 0 failed, 1 skipped");
    return 0;
  }
  const { dependencies } = JSON.parse(readFileSync(join(packages, "package.json"), "utf8"));
  if (!installPinned(packages, dependencies, "scripts/real-clients/", console.log)) {
    console.log("FAILED npm ci in scripts/real-clients\n0 passed, 1 failed");
    return 1;
  }
  const namespaces = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const user = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  const inside = (script: string, ...words: readonly string[]) =>
    spawnSync("unshare", [...user, ...namespaces, "sh", "-c", script, "sh", ...words], { stdio: "inherit" });
  // The shell stays, and takes the end of processes that a client leaves behind.
  const up = "ip link set lo up || exit 9";
  if (inside(up).status !== 0) {
    console.log(
      "skipped: this machine gives no network of its own (unshare, ip)\n0 passed, 0 failed, 1 skipped",
    );
    return 0;
  }
  const words = ["--conditions=toolcrib-source", import.meta.filename, "--inside", ...process.argv.slice(2)];
  return inside(`${up}; "$@"; exit $?`, process.execPath, ...words).status ?? 1;
}

/** The parts that all cases share. */
interface Place {
  /** Not below /tmp, where Codex refuses to keep programs. */
  readonly base: string;
  readonly home: string;
  /** The folder in which all programs start. */
  readonly work: string;
  readonly model: ScriptedModel;
  readonly closedPort: number;
}

/** Clients to try; all where none is named. */
const chosen = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const tried = realClients.filter(({ id }) => chosen.length === 0 || chosen.includes(id));

if (process.argv.includes("--inside")) await verifyInside();
else process.exitCode = installAndEnter();

async function verifyInside(): Promise<void> {
  const base = mkdtempSync("/var/tmp/toolcrib-real-clients-");
  try {
    await using model = await startScriptedModel("echo__echo", { text: "hello" });
    const [port, closedPort] = [await freePort(), await freePort()];
    const place = { base, home: join(base, "home"), work: join(base, "work"), model, closedPort };
    await prepare(place, port);
    await check("every client of toolcrib connect is started, or has a reason", () => {
      const ids = [...realClients.map(({ id }) => id), ...Object.keys(notStarted)];
      assert.deepEqual(
        ids.sort(),
        clientPrograms.map(({ id }) => id),
      );
    });
    {
      await using gateway = await startGateway(place);
      for (const client of tried) await verifyClient(client, place);
      await check("supergateway: the commands of its page", () =>
        runSupergateway({
          lines: linesOfPage("migrate/supergateway.md"),
          folder: join(packages, "node_modules"),
          work: place.work,
          env: environment(place.home),
          gateway: { url: gateway.url, token: gateway.token },
        }),
      );
    }
    for (const client of tried) await verifyImport(client, place);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
  for (const [id, reason] of Object.entries(notStarted)) console.log(`not started: ${id}: ${reason}`);
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}

/** Writes the command as npm installs it, the configuration of the gateway, and a folder with all programs. */
async function prepare({ base, home, work }: Place, port: number): Promise<void> {
  for (const folder of [home, work, join(base, "bin")]) mkdirSync(folder, { recursive: true });
  const installed = join(base, "toolcrib");
  await writePackage(root, publishedPackages.find(({ name }) => name === "toolcrib")!, installed, undefined);
  const programs = [
    ...realClients.map(({ command, program }) => [command, join(packages, "node_modules", program)] as const),
    ["toolcrib", join(installed, "bin/toolcrib.js")] as const,
  ];
  for (const [command, program] of programs) symlinkSync(program, join(base, "bin", command));
  const words = ["--conditions=toolcrib-source", join(root, "packages/testing/src/echo-stdio.ts")];
  writeFileSync(
    join(work, "toolcrib.yaml"),
    `serve: { listen: "127.0.0.1:${port}" }
tool_servers:
  - id: echo
    trust_state: verified
    containment: { network_egress: allow, filesystem_write: allow }
    transport: { kind: stdio, command: ${JSON.stringify(process.execPath)}, args: ${JSON.stringify(words)} }
`,
  );
}

/** Connects a client in each way, uses it, and disconnects it. */
async function verifyClient(client: RealClient, place: Place): Promise<void> {
  const { id, file } = client;
  const { home, model } = place;
  const path = join(home, file);
  const before = client.before(model.url);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, before);
  const words = client.prepare?.(model.url);
  if (words !== undefined) await runClient(client, place, words);

  await check(`${id}: toolcrib connect and its own list of servers`, () => verifyList(client, place));
  await check(`${id}: it calls a tool over HTTP`, () => verifyCall(client, place, id));
  await check(`${id}: toolcrib disconnect restores its file`, async () => {
    const used = readFileSync(path, "utf8");
    await toolcrib(place, "disconnect", id);
    const left = readFileSync(path, "utf8");
    if (client.writesAtStart !== true) assert.equal(left, before);
    else assert.deepEqual(serversApart(left), { ...serversApart(used), servers: {} });
  });
  await check(`${id}: it starts a gateway itself, and calls a tool`, async () => {
    await toolcrib(place, "connect", id, "--stdio", "--yes");
    await verifyCall(client, place, "stdio");
    await toolcrib(place, "disconnect", id);
  });
  writeFileSync(path, before);
  await check(`${id}: it calls a tool through a bridge`, async () => {
    await addBridge(client, place);
    await verifyCall(client, place, "claude-desktop", "bridge");
  });
  if (client.addLocal === undefined) return;
  await check(`${id}: a server that it added itself stays when toolcrib disconnects`, () =>
    verifyDisconnect(client, place),
  );
}

/**
 * Adds the words of the bridge, as `toolcrib connect` writes them for clients that only start programs, by the client's
 * own command, or where it has none to its file.
 */
async function addBridge(client: RealClient, place: Place): Promise<void> {
  const { id, addLocal, refusesBridge } = client;
  await toolcrib(place, "connect", "claude-desktop", "--yes");
  const written = readFileSync(join(place.home, ".config/Claude/claude_desktop_config.json"), "utf8");
  const { command, args } = JSON.parse(written).mcpServers.toolcrib as {
    readonly command: string;
    readonly args: readonly string[];
  };
  const words = addLocal?.("bridge", [command, ...args]);
  if (words !== undefined && refusesBridge === undefined) {
    await runClient(client, place, words);
    return;
  }
  if (words !== undefined && refusesBridge !== undefined) {
    const { code, output } = await run(client.command, words, place, client.env(place.model.url));
    assert.notEqual(code, 0, `it adds the bridge, although ${refusesBridge.reason}\n${output}`);
    assert.match(output, refusesBridge.prints);
  }
  const program = clientPrograms.find((one) => one.id === id)!;
  const path = join(place.home, client.file);
  const entry = program.local({ command, args });
  writeFileSync(path, withServer(readFileSync(path, "utf8"), program, "bridge", entry));
}

/** The servers in the JSON of a client, and everything else that is in it. */
function serversApart(text: string): { readonly servers: object; readonly others: object } {
  const { mcpServers: servers = {}, ...others } = JSON.parse(text);
  return { servers, others };
}

/** Runs the command of the client's page with a gateway, and where none listens. */
async function verifyList(client: RealClient, place: Place): Promise<void> {
  const { id, connected, file } = client;
  await toolcrib(place, "connect", id, "--yes");
  const lines = linesOfPage(`clients/${id}.md`);
  if (connected === undefined) {
    assert.deepEqual(lines, []);
    return;
  }
  assert.equal(lines.length, 1);
  const list = () => run("sh", ["-c", lines[0]!], place, client.env(place.model.url));
  assert.match((await list()).output, connected);
  if (!client.showsConnection) return;
  const path = join(place.home, file);
  const text = readFileSync(path, "utf8");
  const moved = text.replace(/(http:\/\/127\.0\.0\.1:)\d+(\/mcp")/, `$1${place.closedPort}$2`);
  assert.notEqual(moved, text);
  writeFileSync(path, moved);
  const { output } = await list();
  writeFileSync(path, text);
  assert.match(output, /toolcrib/);
  assert.doesNotMatch(output, connected);
}

/** Asks a question, and finds the call in the audit trail under the name `caller`. */
async function verifyCall(
  client: RealClient,
  place: Place,
  caller: string,
  server = "toolcrib",
): Promise<void> {
  const { model } = place;
  const earlier = await countCalls(place, caller);
  const isOffered = () => [...model.tools()].some((name) => name.endsWith("echo__echo"));
  let output = "";
  // Clients wait some seconds for the programs that they start, and on a busy machine begin without them.
  for (let tries = 0; tries === 0 || (tries < 4 && !isOffered()); tries += 1) {
    model.clear();
    ({ output } = await runClient(client, place, client.ask(server)));
  }
  assert.ok(isOffered(), `the model got the tools ${[...model.tools()].join(", ")}\n${output}`);
  assert.ok(model.gotResult(), `the model got no result\n${output}`);
  const now = await countCalls(place, caller);
  const trail = now === earlier + 1 ? "" : await toolcrib(place, "audit", "list");
  assert.equal(
    now,
    earlier + 1,
    `the audit trail has ${now - earlier} calls of ${caller}\n${output}\n${trail}`,
  );
}

async function countCalls(place: Place, caller: string): Promise<number> {
  const filters = ["--client", caller, "--tool", "echo:echo", "--outcome", "ok"];
  const records: readonly { readonly type: string }[] = JSON.parse(
    await toolcrib(place, "audit", "list", ...filters, "--json"),
  );
  return records.filter(({ type }) => type === "call.completed").length;
}

/** Compares the file after connect, the client's own command and disconnect with the one after that command alone. */
async function verifyDisconnect(client: RealClient, place: Place): Promise<void> {
  const path = join(place.home, client.file);
  const add = client.addLocal!("other", ["node", "other.js"]);
  const before = client.before(place.model.url);
  writeFileSync(path, before);
  await runClient(client, place, add);
  const alone = readFileSync(path, "utf8");
  assert.match(alone, /other\.js/);
  writeFileSync(path, before);
  await toolcrib(place, "connect", client.id, "--yes");
  await runClient(client, place, add);
  const both = readFileSync(path, "utf8");
  assert.match(both, /other\.js/);
  assert.match(both, /toolcrib/);
  await toolcrib(place, "disconnect", client.id);
  const left = readFileSync(path, "utf8");
  if (client.writesAtStart !== true) {
    assert.equal(left, alone);
    return;
  }
  assert.deepEqual(serversApart(left), {
    ...serversApart(both),
    servers: serversApart(alone).servers,
  });
}

/** Adds servers by the client's own commands, and compares them with what the import reads. */
async function verifyImport(client: RealClient, place: Place): Promise<void> {
  const { id, added } = client;
  if (added.length === 0) return;
  await check(`${id}: toolcrib import reads the servers that it added itself`, async () => {
    const apart = { ...place, home: join(place.base, `import-${id}`), work: join(place.base, `work-${id}`) };
    for (const folder of [apart.home, apart.work, join(apart.home, ".codex")])
      mkdirSync(folder, { recursive: true });
    for (const { words } of added) await runClient(client, apart, words);
    const { servers, leftOut, problems } = JSON.parse(
      await toolcrib(apart, "import", "clients", id, "--dry-run", "--json"),
    ) as Imported;
    const byId = (one: { readonly id: string }, other: { readonly id: string }) =>
      one.id < other.id ? -1 : 1;
    assert.deepEqual(
      servers.map(({ id: name, entry, notes }) => ({ id: name, entry, notes })).sort(byId),
      added
        .map(({ id: name, transport, further, notes = [] }) => ({
          id: name,
          entry: { id: name, transport, ...further },
          notes,
        }))
        .sort(byId),
    );
    assert.deepEqual([leftOut, problems], [[], []]);
  });
}

interface Imported {
  readonly servers: readonly {
    readonly id: string;
    readonly entry: object;
    readonly notes: readonly string[];
  }[];
  readonly leftOut: readonly unknown[];
  readonly problems: readonly unknown[];
}

/** The commands that this file takes from a page. */
function linesOfPage(page: string): readonly string[] {
  return Object.entries(ranElsewhere[page] ?? {}).flatMap(([line, file]) =>
    file === "scripts/verify-real-clients.ts" ? [line] : [],
  );
}

/** Runs a client to its end, which must be a good one. */
async function runClient(client: RealClient, place: Place, words: readonly string[]) {
  const outcome = await run(client.command, words, place, client.env(place.model.url));
  assert.equal(outcome.code, 0, `${client.command} ${words.join(" ")}\n${outcome.output}`);
  return outcome;
}

/** Runs a command of Toolcrib. @returns its standard output */
async function toolcrib(place: Place, ...words: readonly string[]): Promise<string> {
  const { code, output, stdout } = await run("toolcrib", words, place, {});
  assert.equal(code, 0, `toolcrib ${words.join(" ")}\n${output}`);
  return stdout;
}

/** Runs a program to its end. @returns its output without colors */
async function run(
  command: string,
  words: readonly string[],
  { home, work }: Place,
  further: { readonly [name: string]: string },
): Promise<{ code: number | null; output: string; stdout: string }> {
  const child = spawn(command, words, {
    cwd: work,
    env: { ...environment(home), ...further },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that what it leaves behind ends with it.
    detached: true,
  });
  let [output, stdout] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const late = setTimeout(() => {
    output += `\nended after ${commandMs / 1000} s`;
    endGroup(child);
  }, commandMs);
  let code: number | null;
  try {
    [code] = (await once(child, "exit")) as [number | null];
  } finally {
    clearTimeout(late);
  }
  await Promise.race([closed, delay(outputMs, undefined, { ref: false })]);
  endGroup(child);
  child.stdout.destroy();
  child.stderr.destroy();
  return { code, output: stripVTControlCharacters(output), stdout };
}

/** Ends all processes of a group that `run` started. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // All of them have ended.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** An environment without anything of this machine's user. */
function environment(home: string): { readonly [name: string]: string } {
  const path = [join(dirname(home), "bin"), dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"];
  return { HOME: home, PATH: path.join(delimiter), LANG: "C.UTF-8", NO_COLOR: "1" };
}

/** Starts the gateway, and waits until its server is ready. */
async function startGateway(place: Place) {
  const child = spawn("toolcrib", ["serve", "--log-level", "error"], {
    cwd: place.work,
    env: environment(place.home),
    stdio: ["ignore", "ignore", "inherit"],
  });
  const lastAt = Date.now() + startMs;
  for (;;) {
    const ending = child.exitCode ?? child.signalCode;
    if (ending !== null) throw new Error(`the gateway ended with ${ending}`);
    if (Date.now() > lastAt) {
      await end(child);
      throw new Error(`the gateway was not ready after ${startMs / 1000} s`);
    }
    const { code, stdout } = await run("toolcrib", ["status", "--json"], place, {});
    const status = code === 0 ? JSON.parse(stdout) : undefined;
    const isReady = status?.servers?.every(
      (server: { readonly health?: { readonly state: string } }) => server.health?.state === "ready",
    );
    if (isReady === true) {
      await toolcrib(place, "token", "create", "supergateway");
      return {
        url: `${String(status.url).replace(/\/mcp$/, "")}/mcp`,
        token: readFileSync(join(place.home, ".toolcrib/tokens/supergateway"), "utf8").trim(),
        [Symbol.asyncDispose]: () => end(child),
      };
    }
    await delay(500);
  }
}
