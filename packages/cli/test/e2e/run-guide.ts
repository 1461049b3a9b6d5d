/**
 * Runs the pages: writes the files that they show, and runs their commands in order, in a shell and with the servers of
 * the quickstart. The output of a transcript must match, and a command without output must succeed.
 */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import {
  makeTemporaryDirectory,
  type ProcessOutcome,
  runProcess,
  type ServerProcess,
  sampled,
  startServerProcess,
  waitUntil,
} from "@toolcrib/testing";
import { notRun, ranElsewhere, transcriptsElsewhere } from "../pages/not-run.ts";
import { type PageSetting, type Place, pageSettings, type Values } from "../pages/page-settings.ts";
import { matches, stepsOf } from "../pages/page-steps.ts";
import { runAnswering, skipWithoutTerminal } from "../terminal.ts";
import { cleanEnvironment, commandLine, launcherPath } from "../transcript.ts";
import { quickstartConfig } from "./gateway-process.ts";

const bin = join(import.meta.dirname, "../../../../node_modules/.bin");

/** The pages with commands, in groups that fit into the time of one test file. */
export const guideGroups = {
  tools: ["guides/first-composite-tool.md", "guides/rest-apis-as-tools.md"],
  registries: ["guides/registry.md"],
  installation: ["guides/installing-packages.md"],
  policies: ["guides/policies.md"],
  labels: ["guides/labels.md"],
  guards: ["guides/guards.md"],
  audit: ["guides/audit.md"],
  seeing: ["guides/seeing.md"],
  chains: ["guides/chains.md"],
  adding: ["guides/adding-servers.md"],
  clients: ["guides/importing.md"],
  start: ["getting-started.md"],
  tasks: ["guides/secrets.md", "guides/approvals.md", "guides/teams.md", "guides/containment.md"],
  operations: ["operations/backup.md", "operations/deployment.md"],
  migration: [
    "migrate/mcp-proxy.md",
    "migrate/supergateway.md",
    "migrate/mcp-hub.md",
    "migrate/metamcp.md",
    "migrate/mcpproxy.md",
  ],
  packages: ["guides/packages.md"],
  images: ["guides/toolpack-images.md"],
  incidents: ["operations/incidents.md", "operations/logs.md", "operations/metrics.md", "troubleshooting.md"],
  machine: ["operations/systemd.md", "operations/upgrade.md", "operations/sizing.md"],
  first: ["../README.md", "../packages/cli/README.md", "index.md", "reference/configuration.md"],
  more: [
    "guides/changing-the-configuration.md",
    "guides/connecting-clients.md",
    "guides/search.md",
    "guides/oauth.md",
    "guides/adopted-servers.md",
  ],
} as const;

/** Programs that commands of pages may start: none changes the machine. A command with another one is not run. */
const programs =
  /^(?:toolcrib|npx|node|printf|echo|cat|tar|chmod|mv|cp|cmp|mkdir|rm|ls|cd|export|curl|install|openssl|true|sed|grep|gzip|head|jq)$/;

/** Fails where a command starts a program that may change the machine. */
function assertHarmless(command: string): void {
  const substituted = [...command.matchAll(/\$\(([^)]*)\)/g)].map(([, inner = ""]) => inner);
  const plain = command.replace(/'[^']*'|"(?:[^"\\]|\\.)*"/g, "TEXT");
  for (const part of [...plain.split(/\|\|?|&&?|;/), ...substituted]) {
    const program = part.split(/\s+/).find((word) => word !== "" && !/^\w+=/.test(word)) ?? "";
    assert.match(program, programs, `"${command}" may change this machine: it needs an entry in not-run.ts`);
  }
}

/** Runs a command of a page, and returns everything that a terminal would show. */
async function run(
  command: string,
  { directory, env }: Place,
  { asks = false, folders = {} }: PageSetting,
): Promise<ProcessOutcome> {
  const script = `npx() { shift; ${quoted} "$@"; }\ntoolcrib() { ${quoted} "$@"; }\n${command}`;
  const cwd = directory.join(folders[command] ?? ".");
  mkdirSync(cwd, { recursive: true });
  return asks !== false
    ? await runAnswering(script, { cwd, env })
    : await runProcess("sh", ["-c", `{ ${script}\n} 2>&1`], { cwd, env });
}

const quoted = [process.execPath, ...commandLine].map((word) => `'${word}'`).join(" ");

/** Matches a server, which serves in another terminal while the next commands run. */
const servePattern = /^(?:npx )?toolcrib (?<words>(?:--[\w-]+ \S+ )*(?:registry )?serve\b.*)$/;

/** Starts a server of a page, on a free port in place of the one that it names. */
async function serve(words: string, command: string, place: Place, setting: PageSetting) {
  const { directory, env } = place;
  const own = `${words.replace(/ --listen \S+/, "")} --listen 127.0.0.1:0`;
  const cwd = directory.join(setting.folders?.[command] ?? ".");
  const urlPattern = /http:\/\/127\.0\.0\.1:\d+/;
  const server = await startServerProcess("sh", ["-c", `exec ${quoted} ${own}`], { cwd, env, urlPattern });
  if (!words.includes("registry")) await waitUntil(async () => (await fetch(`${server.url}/readyz`)).ok);
  return server;
}

/**
 * Tests the pages of `group`.
 *
 * @param options.step a quick run tests one of this many; all by default
 * @param options.env more variables of the commands
 */
export function testGuides(
  group: keyof typeof guideGroups,
  { step = 1, env = {} }: { readonly step?: number; readonly env?: NodeJS.ProcessEnv } = {},
): void {
  describe(`the pages about ${group}`, () => {
    for (const page of sampled<string>(guideGroups[group], step)) {
      it(`${page} matches the behavior`, async (context) => {
        const { asks = false, needs } = pageSettings[page] ?? {};
        const missing = (asks === false ? false : skipWithoutTerminal) || ((await needs?.()) ?? false);
        if (missing !== false) return context.skip(missing);
        await runPage(page, env);
      });
    }
  });
}

async function runPage(page: string, more: NodeJS.ProcessEnv): Promise<void> {
  const steps = stepsOf(page);
  const setting: PageSetting = pageSettings[page] ?? {};
  const left = { ...notRun[page], ...ranElsewhere[page] };
  const usesNpx = steps.some((step) => step.kind === "command" && step.command.startsWith("npx "));
  await using directory = await makeTemporaryDirectory();
  await using resources = new AsyncDisposableStack();
  const config = readFileSync(quickstartConfig, "utf8");
  const own = config.replaceAll("/tmp/toolcrib-quickstart", directory.join("memory"));
  if (!setting.isEmpty) {
    writeFileSync(directory.join("toolcrib.yaml"), own);
    cpSync(join(dirname(quickstartConfig), "files"), directory.join("files"), { recursive: true });
  }
  // As in a project with the package, so that hints name the command as the guides do.
  mkdirSync(directory.join("node_modules/.bin"), { recursive: true });
  symlinkSync(launcherPath, directory.join("node_modules/.bin/toolcrib"));
  const env = {
    ...cleanEnvironment(directory.path),
    PATH: `${directory.join("bin")}:${bin}:${process.env["PATH"]}`,
    NO_COLOR: "1",
    npm_command: usesNpx ? "exec" : undefined,
    npm_lifecycle_event: undefined,
    // No page reaches a public registry.
    npm_config_registry: "http://127.0.0.1:9",
    npm_config_fetch_retries: "0",
    npm_config_cache: directory.join(".npm"),
    ...more,
  };
  const servers: ServerProcess[] = [];
  const place: Place = { directory, env, resources, servers, run: (line) => run(line, place, {}) };
  await setting.prepare?.(place);
  const values = setting.values?.(place) ?? {};
  let count = 0;
  const counts = new Map<string, number>();
  for (const step of steps) {
    if (step.kind === "file") {
      mkdirSync(dirname(directory.join(step.name)), { recursive: true });
      writeFileSync(directory.join(step.name), step.text);
      continue;
    }
    if (left[step.command] !== undefined) continue;
    if (step.output !== undefined && transcriptsElsewhere[page] !== undefined) continue;
    count += 1;
    const times = (counts.get(step.command) ?? 0) + 1;
    counts.set(step.command, times);
    await setting.before?.[times === 1 ? step.command : `${step.command} (${times})`]?.(place);
    const command = await replaced(step.command, values);
    assertHarmless(command);
    const words = servePattern.exec(command)?.groups?.["words"];
    if (words !== undefined) {
      servers.push(resources.use(await serve(words, step.command, place, setting)));
      continue;
    }
    const folders = { ...setting.folders, [command]: setting.folders?.[step.command] ?? "." };
    const asks = setting.asks === "always" || (setting.asks === true && step.output === undefined);
    const { code, stdout } = await run(command, place, { ...setting, folders, asks });
    if (step.output === undefined) {
      assert.equal(code, setting.codes?.[step.command] ?? 0, `${command}\n${stdout}`);
      continue;
    }
    const { output } = step;
    assert.ok(matches(stdout, output), `${command}\n--- expected\n${output}\n--- got\n${stdout}`);
  }
  assert.ok(count > 0, `no command of ${page} runs`);
}

/** Replaces what stands for something of the reader. */
async function replaced(command: string, values: Values): Promise<string> {
  let text = command;
  for (const [name, value] of Object.entries(values)) {
    if (!text.includes(name)) continue;
    text = text.replaceAll(name, typeof value === "string" ? value : await value());
  }
  return text;
}
