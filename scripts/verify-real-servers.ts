/**
 * Runs real MCP servers of npm, PyPI and the Go proxy as a user does, as a step of `npm run verify` that runs where it
 * is named: the servers of `real-servers.json` are configured by `npx`, `uvx` and `go run` with exact versions, without
 * a word about containment, so they are unverified and get no network and no file to write. The gateway fetches them,
 * the operator approves their tools, and each has to complete three calls.
 *
 * A server that needs more must fail first, and its error must print the lines that allow it (`printed`); with these
 * lines, and nothing else, it has to complete the calls. A server whose runner or program is missing here is skipped
 * with the reason.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type CommandOutcome, runCommand } from "./run-command.ts";

interface Call {
  readonly tool: string;
  readonly arguments: { readonly [name: string]: unknown };
  /** Pattern of the result. */
  readonly expected: string;
}

interface Server {
  readonly id: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** A program that it runs. */
  readonly needs?: string;
  /** Whether another entry runs the same server with its defaults. */
  readonly isFurther?: boolean;
  /** The package whose integrity is compared. */
  readonly package: string;
  readonly integrity: string;
  /** The texts that its errors have to print, one after the other: a line of the configuration, or an argument. @default nothing */
  readonly printed?: readonly string[];
  readonly calls: readonly Call[];
}

const root = join(import.meta.dirname, "..");
/** Not below /tmp: a sandbox has one of its own there. */
const base = mkdtempSync("/var/tmp/toolcrib-real-servers-");
const work = join(base, "work");
const home = join(base, "home");
const configFile = join(base, "toolcrib.yaml");
const callsCount = 3;
/** Servers that have to pass, and those of them with the defaults of their trust state. */
const goals = { all: 12, byDefault: 8 } as const;
/** Milliseconds for all fetches, and for one command. */
const limits = { fetchMs: 1_500_000, commandMs: 120_000 } as const;

const servers = JSON.parse(
  readFileSync(join(import.meta.dirname, "real-servers.json"), "utf8").replaceAll("{work}", work),
) as readonly Server[];

process.exitCode = await verifyServers().finally(() => rmSync(base, { recursive: true, force: true }));

async function verifyServers(): Promise<number> {
  const tier = tierOfSandboxes();
  if (tier === undefined) {
    console.log("skipped: no sandbox works here (toolcrib sandbox check)\n0 passed, 0 failed, 1 skipped");
    return 0;
  }
  prepareWork();
  const skipped = servers.flatMap((server) => {
    const missing = [server.command, server.needs].find((name) => name !== undefined && !exists(name));
    return missing === undefined ? [] : [{ server, missing }];
  });
  for (const { server, missing } of skipped) console.log(`skipped ${server.id}: ${missing} is not installed`);
  const tried = servers.filter((server) => !skipped.some((one) => one.server === server));
  /** Lines that errors printed, by server. */
  const added = new Map<string, string[]>();
  const outcomes = new Map<string, string | undefined>();
  // Each round starts a gateway; the servers whose error printed a line are tried again with it.
  for (let round = 0, waiting = tried; waiting.length > 0 && round <= 2; round++) {
    writeFileSync(configFile, await configOf(waiting, added));
    await using gateway = await startGateway();
    await gateway.ready(waiting);
    const next: Server[] = [];
    for (const server of waiting) {
      const outcome = await tryServer(server, added.get(server.id) ?? []);
      if (outcome.kind === "line") {
        added.set(server.id, [...(added.get(server.id) ?? []), outcome.line]);
        next.push(server);
      } else outcomes.set(server.id, outcome.problem);
    }
    waiting = next;
  }
  return report(tried, outcomes, added, skipped.length, tier);
}

type Outcome =
  | { readonly kind: "done"; readonly problem: string | undefined }
  | { readonly kind: "line"; readonly line: string };

/** Approves the tools of a server and makes its calls. @param lines what earlier errors printed */
async function tryServer(server: Server, lines: readonly string[]): Promise<Outcome> {
  const { id, printed = [] } = server;
  const approval = await toolcrib("approve", id, "--yes");
  let text = approval.code === 0 ? "" : approval.output;
  if (text === "") {
    for (const call of server.calls) {
      const made = await toolcrib("call", `${id}__${call.tool}`, JSON.stringify(call.arguments));
      const isExpected = made.code === 0 && new RegExp(call.expected, "m").test(made.output);
      if (!isExpected) {
        text = `${call.tool}: ${made.output}`;
        break;
      }
    }
  }
  const expected = printed[lines.length];
  if (text === "") {
    const problem = expected === undefined ? undefined : `it works without "${expected}"`;
    return { kind: "done", problem: problem ?? integrityProblem(server) };
  }
  // The reason of a server that does not start is in the status.
  const { output } = await toolcrib("status", "--json");
  if (expected !== undefined && (text.includes(expected) || reasonOf(output, id).includes(expected)))
    return { kind: "line", line: expected };
  return { kind: "done", problem: `${text.trim()} ${reasonOf(output, id)}`.slice(0, 1_500) };
}

function report(
  tried: readonly Server[],
  outcomes: ReadonlyMap<string, string | undefined>,
  added: ReadonlyMap<string, readonly string[]>,
  skippedCount: number,
  tier: string,
): number {
  const passed = tried.filter(({ id }) => outcomes.has(id) && outcomes.get(id) === undefined);
  for (const server of tried) {
    const lines = added.get(server.id) ?? [];
    const how =
      lines.length === 0 ? "with its defaults" : `with what its errors printed: ${lines.join(" and ")}`;
    const problem = outcomes.has(server.id)
      ? outcomes.get(server.id)
      : "it still fails with all that its errors printed";
    console.log(
      problem === undefined
        ? `${server.id}: ${callsCount} calls contained by ${tier}, ${how}`
        : `FAILED ${server.id} ${server.args.join(" ")}: ${problem}`,
    );
  }
  const distinct = passed.filter(({ isFurther }) => isFurther !== true);
  const byDefault = distinct.filter(({ id }) => !added.has(id));
  const isShort = distinct.length < goals.all || byDefault.length < goals.byDefault;
  if (isShort && skippedCount === 0) {
    console.log(
      `FAILED ${distinct.length} servers, ${byDefault.length} by default; the goals are ${goals.all} and ${goals.byDefault}`,
    );
  }
  console.log(
    `${distinct.length} different servers, ${byDefault.length} of them with the defaults of their trust state`,
  );
  const failed = tried.length - passed.length + (isShort && skippedCount === 0 ? 1 : 0);
  console.log(`${passed.length} passed, ${failed} failed, ${skippedCount} skipped`);
  return failed === 0 ? 0 : 1;
}

/** The configuration of `chosen`, with the lines that errors printed. */
async function configOf(
  chosen: readonly Server[],
  added: ReadonlyMap<string, readonly string[]>,
): Promise<string> {
  const entries = chosen.flatMap((server) => {
    const lines = added.get(server.id) ?? [];
    const args = [...server.args, ...lines.filter((line) => line.startsWith("--"))];
    const cwd = server.cwd === undefined ? "" : `, cwd: ${JSON.stringify(server.cwd)}`;
    return [
      `  - id: ${server.id}`,
      `    transport: { kind: stdio, command: ${server.command}, args: ${JSON.stringify(args)}${cwd} }`,
      ...lines.filter((line) => !line.startsWith("--")).map((line) => `    ${line}`),
    ];
  });
  // Where the index has an address of the own network, as behind a mirror, the operator says so.
  const addresses = await lookup("pypi.org", { all: true }).catch(() => []);
  const ranges = addresses.map(({ address, family }) => `${address}/${family === 6 ? 128 : 32}`);
  const egress = `egress: { internal_ranges: ${JSON.stringify(ranges)} }`;
  return ["tool_servers:", ...entries, 'serve: { listen: "127.0.0.1:0" }', egress, ""].join("\n");
}

/** Starts a gateway. */
async function startGateway() {
  const child = spawn(process.execPath, commandWords("serve", "--log-level", "error"), {
    cwd: work,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const gateway = {
    /** Waits until each server is ready, or is not available for another reason than a fetch. */
    async ready(chosen: readonly Server[]): Promise<void> {
      const until = Date.now() + limits.fetchMs;
      for (;;) {
        if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`);
        const { output } = await toolcrib("status", "--json");
        const states = chosen.map(({ id }) => stateOf(output, id));
        if (states.every((state) => state === "ready" || state === "failed")) return;
        if (Date.now() > until) return;
        await delay(2_000);
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await end(child);
    },
  };
  return gateway;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

function statusOf(
  text: string,
  id: string,
): { readonly state?: string; readonly reason?: string } | undefined {
  try {
    const { servers: all } = JSON.parse(text) as {
      readonly servers?: readonly {
        readonly id: string;
        readonly health: { readonly state: string; readonly reason?: string };
      }[];
    };
    return all?.find((one) => one.id === id)?.health;
  } catch {
    // The gateway is not there yet.
    return undefined;
  }
}

function stateOf(text: string, id: string): "ready" | "failed" | "waiting" {
  const { state, reason = "" } = statusOf(text, id) ?? {};
  if (state === "ready") return "ready";
  const isFetching = /still being fetched|could not be fetched|index does not answer/.test(reason);
  return state === "unavailable" && !isFetching ? "failed" : "waiting";
}

function reasonOf(text: string, id: string): string {
  return statusOf(text, id)?.reason ?? "";
}

/** Compares the integrity of a fetched package with the one that is known. */
function integrityProblem(server: Server): string | undefined {
  const words = commandWords("fetched", "list", "--json");
  const { stdout } = spawnSync(process.execPath, words, { cwd: work, encoding: "utf8" });
  const packages = JSON.parse(stdout) as readonly {
    readonly locked: readonly { readonly name: string; readonly integrity: string }[];
  }[];
  const found = packages.flatMap(({ locked }) => locked).filter(({ name }) => name === server.package);
  if (found.some(({ integrity }) => integrity === server.integrity)) return undefined;
  return `"${server.package}" has the integrity ${found.map(({ integrity }) => `"${integrity}"`).join(", ")}`;
}

/** Runs a command of Toolcrib. */
function toolcrib(...args: readonly string[]): Promise<CommandOutcome> {
  return runCommand(commandWords(...args), { directory: work, timeoutMs: limits.commandMs });
}

function commandWords(...args: readonly string[]): string[] {
  const program = join(root, "packages/cli/src/bin.ts");
  const config = args[0] === "serve" ? ["--config", configFile] : [];
  return ["--conditions=toolcrib-source", program, "--home", home, ...config, ...args];
}

/** Files that servers read and a repository. */
function prepareWork(): void {
  const project = join(work, "project");
  const repository = join(work, "repository");
  for (const folder of [project, repository]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(project, "main.js"), "var x = 1;\n");
  writeFileSync(join(project, "other.js"), "export const x = 1;\n");
  writeFileSync(join(project, "eslint.config.mjs"), 'export default [{ rules: { "no-var": "error" } }];\n');
  if (!exists("git")) return;
  writeFileSync(join(repository, "file"), "a line\n");
  const git = (...args: readonly string[]) => spawnSync("git", args, { cwd: repository, encoding: "utf8" });
  git("init", "-q");
  git("add", "file");
  git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "the first commit");
}

function exists(program: string): boolean {
  return spawnSync(program, [program === "go" ? "version" : "--version"], { cwd: homedir() }).status === 0;
}

/** The strongest tier that works here. */
function tierOfSandboxes(): string | undefined {
  const words = [
    "--conditions=toolcrib-source",
    join(root, "packages/cli/src/bin.ts"),
    "sandbox",
    "check",
    "--json",
  ];
  const { stdout } = spawnSync(process.execPath, words, { encoding: "utf8" });
  const { tier } = JSON.parse(stdout) as { readonly tier?: string | null };
  return tier ?? undefined;
}
