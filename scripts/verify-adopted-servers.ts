/**
 * Adds servers that the catalog adopts as a user does, as a step of `npm run verify` that runs where it is named: those
 * of the pages, with their commands, and a small one of Go. Each is fetched or built as its manifest records it, runs
 * contained, and has to complete calls of an official SDK client through the gateway, after its tools were approved.
 *
 * The commands are those of the pages but for three things: folders below /srv are folders of this run, `--yes` answers
 * the questions, and a secret that a command asks for comes from its standard input.
 *
 * All other adopted servers of the catalog are then compared with their manifests by `toolcrib lint-manifests --live`
 * where `--all` is given: the recorded lock or checksum of each is fetched or built, so that it is checked, too.
 * A server whose runner is missing here is skipped with the reason.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ranElsewhere } from "../packages/cli/test/pages/not-run.ts";
import { type CommandOutcome, runCommand } from "./run-command.ts";

interface Call {
  readonly tool: string;
  readonly arguments: { readonly [name: string]: unknown };
  /** Pattern of the result as JSON. */
  readonly expected: RegExp;
}

interface Server {
  readonly name: string;
  readonly runner: string;
  /** The command of a page that adds it. @default toolcrib add NAME */
  readonly command?: string;
  /** The secret that the command asks for. */
  readonly secret?: string;
  /** Egress that its manifest gives it. @default "deny" */
  readonly networkEgress?: string;
  readonly calls: readonly Call[];
}

const root = join(import.meta.dirname, "..");
const catalog = join(root, "catalog/manifests");
/** Not below /tmp: a sandbox has one of its own there. */
const base = mkdtempSync("/var/tmp/toolcrib-adopted-servers-");
const work = join(base, "work");
const home = join(base, "home");
const configFile = join(work, "toolcrib.yaml");
/** The folders of the pages, and those of this run. */
const folders: readonly (readonly [ofPage: string, ofRun: string])[] = [
  ["/srv/docs", join(base, "srv/docs")],
  ["/srv/memory", join(base, "srv/memory")],
];
/** Milliseconds for one command, which can compile a server, and for the gateway to be ready. */
const limits = { commandMs: 2_400_000, readyMs: 300_000 } as const;

/** The servers, with what each has to do. */
const known: readonly Server[] = [
  {
    name: "memory-go",
    runner: "go",
    calls: [
      {
        tool: "create_entities",
        arguments: { entities: [{ name: "crib", entityType: "place", observations: ["keeps tools"] }] },
        expected: /crib/,
      },
      { tool: "search_nodes", arguments: { query: "tools" }, expected: /keeps tools/ },
    ],
  },
  {
    name: "filesystem",
    runner: "npx",
    calls: [
      { tool: "list_directory", arguments: { path: placed("/srv/docs") }, expected: /notes\.txt/ },
      { tool: "read_text_file", arguments: { path: placed("/srv/docs/notes.txt") }, expected: /a line/ },
    ],
  },
  {
    name: "memory",
    runner: "npx",
    calls: [
      {
        tool: "create_entities",
        arguments: { entities: [{ name: "shelf", entityType: "place", observations: ["holds drills"] }] },
        expected: /shelf/,
      },
      { tool: "search_nodes", arguments: { query: "drills" }, expected: /shelf/ },
    ],
  },
  {
    name: "time",
    runner: "uvx",
    calls: [
      {
        tool: "convert_time",
        arguments: { source_timezone: "UTC", time: "12:00", target_timezone: "Asia/Tokyo" },
        expected: /21:00/,
      },
      { tool: "get_current_time", arguments: { timezone: "UTC" }, expected: /datetime/ },
    ],
  },
  {
    name: "grafana",
    runner: "go",
    secret: "token-of-ada",
    networkEgress: "scoped",
    calls: [
      {
        tool: "generate_deeplink",
        arguments: { resourceType: "dashboard", dashboardUid: "drills" },
        expected: /https:\/\/acme\.grafana\.net\/d\/drills/,
      },
    ],
  },
];
/** A small server of Go, and those of the pages. */
const servers: readonly Server[] = ["toolcrib add memory-go", ...commandsOfPages()].map(toServer);

// Where scripts/runners/install.sh has put uv; the user's own comes first.
process.env["PATH"] = [process.env["PATH"], join(root, "node_modules/.cache/toolcrib-uv/bin")].join(
  delimiter,
);
process.exitCode = await verifyServers().finally(() => rmSync(base, { recursive: true, force: true }));

async function verifyServers(): Promise<number> {
  const tier = tierOfSandboxes();
  if (tier === undefined) {
    console.log("skipped: no sandbox works here (toolcrib sandbox check)\n0 passed, 0 failed, 1 skipped");
    return 0;
  }
  for (const folder of [work, home, ...folders.map(([, ofRun]) => ofRun)])
    mkdirSync(folder, { recursive: true });
  writeFileSync(placed("/srv/docs/notes.txt"), "a line\n");
  writeFileSync(configFile, await firstConfig());
  const problems: string[] = [];
  const skipped = servers.filter(({ name, runner }) => {
    const isMissing = !exists(runner);
    if (isMissing) console.log(`skipped ${name}: ${runner} is not installed`);
    return isMissing;
  });
  const added: Server[] = [];
  for (const server of servers.filter((one) => !skipped.includes(one))) {
    const [, ...words] = placed(server.command ?? "").split(" ");
    const { code, output } = await toolcrib([...words, "--yes"], server.secret);
    if (code === 0) added.push(server);
    else problems.push(`${server.command}: ${output.trim().slice(0, 1_500)}`);
  }
  // The calls of a client, which no operator approves one by one.
  writeFileSync(
    configFile,
    readFileSync(configFile, "utf8").replaceAll(/^( *)- id: /gm, "$1- trust_state: verified\n$1  id: "),
  );
  if (added.length > 0) problems.push(...(await callAll(added, tier)));
  const compared = process.argv.includes("--all") ? await compareAll(problems) : 0;
  for (const problem of problems) console.log(`FAILED ${problem}`);
  const passed = servers.length + compared - skipped.length - problems.length;
  console.log(`${Math.max(0, passed)} passed, ${problems.length} failed, ${skipped.length} skipped`);
  return problems.length === 0 ? 0 : 1;
}

/** Calls the tools of all servers through one gateway. @returns problems, at most one for each server */
async function callAll(added: readonly Server[], tier: string): Promise<string[]> {
  await using gateway = await startGateway();
  const status = await gateway.ready(added);
  const client = new Client({ name: "verify", version: "1.0.0" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(status.url), {
      requestInit: {
        headers: { authorization: `Bearer ${readFileSync(join(home, "tokens/default"), "utf8").trim()}` },
      },
    }),
  );
  const problems: string[] = [];
  for (const { name, command, calls, networkEgress = "deny" } of added) {
    const server = status.servers.find(({ id }) => id === name);
    const { containment, manifest, health } = server ?? {};
    const differences = [...(manifest?.missingTools ?? []), ...(manifest?.undeclaredTools ?? [])];
    const contained = containment?.tier === tier && containment.networkEgress === networkEgress;
    let problem =
      health?.state !== "ready"
        ? `it is ${health?.state}: ${health?.reason}`
        : !contained
          ? `it is not contained by ${tier} with network_egress ${networkEgress}: ${JSON.stringify(containment)}`
          : differences.length > 0
            ? `its manifest differs in ${differences.join(", ")}`
            : undefined;
    for (const call of problem === undefined ? calls : []) {
      const result = JSON.stringify(
        await client
          .callTool({ name: `${name}__${call.tool}`, arguments: { ...call.arguments } })
          .catch(String),
      );
      if (!call.expected.test(result)) problem ??= `${call.tool}: ${result.slice(0, 500)}`;
    }
    if (problem === undefined)
      console.log(`${command}: ${manifest?.package}, ${calls.length} calls contained by ${tier}`);
    else problems.push(`${name}: ${problem}`);
  }
  await client.close();
  return problems;
}

/** Compares every adopted server of the catalog with its manifest. @returns their number */
async function compareAll(problems: string[]): Promise<number> {
  const adopted = readdirSync(catalog).flatMap((name) => {
    const [file = ""] = readdirSync(join(catalog, name)).toSorted().reverse();
    const builder = /^ {2}builder: (\S+)$/m.exec(readFileSync(join(catalog, name, file), "utf8"))?.[1];
    const runner = { "go-static": "go", node: "npx", python: "uvx" }[builder ?? ""];
    return runner === undefined || !exists(runner) ? [] : [name];
  });
  for (const name of adopted) {
    const args = name === "filesystem" ? ["--server-arg", "/tmp"] : [];
    const { code, output } = await toolcrib(["lint-manifests", "--live", name, ...args]);
    if (code === 0) console.log(`${name}: ${output.trim().split("\n").at(-1)}`);
    else problems.push(`${name}: ${output.trim().slice(0, 1_500)}`);
  }
  return adopted.length;
}

interface Status {
  readonly url: string;
  readonly servers: readonly {
    readonly id: string;
    readonly health: { readonly state: string; readonly reason?: string };
    readonly containment?: { readonly tier?: string; readonly networkEgress: string };
    readonly manifest?: {
      readonly package: string;
      readonly missingTools?: readonly string[];
      readonly undeclaredTools?: readonly string[];
    };
  }[];
}

/** Starts the gateway of the configuration that `toolcrib add` wrote. */
async function startGateway() {
  const child = spawn(
    process.execPath,
    commandWords("serve", "--listen", "127.0.0.1:0", "--log-level", "error"),
    {
      cwd: work,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  return {
    /** Waits until each server is ready, or the time is up. */
    async ready(wanted: readonly Server[]): Promise<Status> {
      const until = Date.now() + limits.readyMs;
      for (;;) {
        if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`);
        const { code, output } = await toolcrib(["status", "--json"]);
        const status = code === 0 ? (JSON.parse(output) as Status) : undefined;
        const isReady = wanted.every(({ name }) =>
          status?.servers.some(({ id, health }) => id === name && health.state === "ready"),
        );
        if (status !== undefined && (isReady || Date.now() > until)) {
          return { ...status, url: `${status.url.replace(/\/mcp$/, "")}/mcp` };
        }
        if (Date.now() > until) throw new Error(`the gateway is not ready: ${output}`);
        await delay(1_000);
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await end(child);
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

/** The commands that the pages add servers with, each once. */
function commandsOfPages(): readonly string[] {
  const lines = Object.entries(ranElsewhere).flatMap(([, commands]) =>
    Object.entries(commands).filter(([, file]) => file === "scripts/verify-adopted-servers.ts"),
  );
  return [...new Set(lines.map(([line]) => line))];
}

/** Finds what the server of a command has to do. @throws where a page adds a server that has no row in `known` */
function toServer(command: string): Server {
  const [, name = ""] = /^toolcrib add (\S+)/.exec(command) ?? [];
  const server = known.find((one) => one.name === name);
  if (server === undefined) throw new Error(`"${command}": say in "known" which calls this server completes`);
  return { ...server, command };
}

/** Puts the folders of this run in the place of those of the pages. */
function placed(text: string): string {
  return folders.reduce((now, [ofPage, ofRun]) => now.replaceAll(ofPage, ofRun), text);
}

/** Runs a command of Toolcrib. @param input its standard input @default none */
function toolcrib(args: readonly string[], input?: string): Promise<CommandOutcome> {
  return runCommand(commandWords(...args), { directory: work, timeoutMs: limits.commandMs, input });
}

function commandWords(...args: readonly string[]): string[] {
  const program = join(root, "packages/cli/src/bin.ts");
  return ["--conditions=toolcrib-source", program, "--home", home, ...args];
}

/** Where an index has an address of the own network, as behind a mirror, the operator says so. */
async function firstConfig(): Promise<string> {
  const addresses = await lookup("pypi.org", { all: true }).catch(() => []);
  const ranges = addresses.map(({ address, family }) => `${address}/${family === 6 ? 128 : 32}`);
  return `egress: { internal_ranges: ${JSON.stringify(ranges)} }\n`;
}

function exists(program: string): boolean {
  return spawnSync(program, [program === "go" ? "version" : "--version"], { cwd: homedir() }).status === 0;
}

/** The strongest tier that works here. */
function tierOfSandboxes(): string | undefined {
  const { stdout } = spawnSync(process.execPath, commandWords("sandbox", "check", "--json"), {
    encoding: "utf8",
  });
  const { tier } = JSON.parse(stdout) as { readonly tier?: string | null };
  return tier ?? undefined;
}
