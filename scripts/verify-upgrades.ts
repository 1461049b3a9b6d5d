/**
 * Counts false alarms about definitions over real upgrades of MCP servers, as a step of `npm run verify`:
 * a definition that is held back although it did not change. npm fetches the versions of
 * `server-upgrades.json` into `node_modules/.cache` without running their scripts, and their integrity is
 * compared; each server runs in a sandbox without network, and is asked for what it lists. Without the
 * registry of npm or a sandbox, the step is skipped with the reason.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { JsonObject } from "@toolcrib/json";
import { SecretScrubber } from "@toolcrib/redaction";
import { DefinitionPins, type ListedDefinition, type PinRules } from "@toolcrib/store";

const root = join(import.meta.dirname, "..");
const cache = join(root, "node_modules/.cache/server-upgrades");

/** Versions of one server, oldest first, each with its integrity. */
interface Server {
  readonly package: string;
  readonly args?: readonly string[];
  readonly versions: { readonly [version: string]: string };
}

const servers = JSON.parse(
  readFileSync(join(import.meta.dirname, "server-upgrades.json"), "utf8"),
) as readonly Server[];
/** Most false alarms that are accepted, as a part of the definitions that did not change. */
const falseAlarmsMax = 0.01;
/** Milliseconds until a server has answered. */
const serverTimeoutMs = 60_000;

/** The start of a command that runs in a sandbox. */
const sandboxed = [
  "--conditions=toolcrib-source",
  join(root, "packages/cli/src/bin.ts"),
  "sandbox",
  "run",
  "--network",
  "deny",
  "--read",
  cache,
  "--read",
  dirname(process.execPath),
  "--",
];

process.exitCode = await verifyUpgrades();

async function verifyUpgrades(): Promise<number> {
  const missing = problemWithSandbox() ?? install();
  if (missing !== undefined) {
    console.log(`skipped: ${missing}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const sums = { upgrades: 0, unchanged: 0, changed: 0, added: 0, removed: 0, alarms: 0 };
  const failures: string[] = [];
  for (const server of servers) {
    let previous: Listed | undefined;
    for (const [version, integrity] of Object.entries(server.versions)) {
      const alias = aliasOf(server.package, version);
      const name = `${server.package} ${version}`;
      const found = integrityOf(alias);
      if (found !== integrity) {
        failures.push(`${name} has the integrity "${found}"`);
        continue;
      }
      const listed = await listDefinitions(alias, server.args ?? []).catch((error: unknown) => {
        failures.push(`${name} does not answer: ${(error as Error).message}`);
        return undefined;
      });
      if (listed === undefined) continue;
      if (previous !== undefined) {
        const counts = compare(previous, listed);
        sums.upgrades += 1;
        for (const key of ["unchanged", "changed", "added", "removed", "alarms"] as const)
          sums[key] += counts[key];
        console.log(
          `${name}: ${counts.unchanged} unchanged, ${counts.changed} changed, ${counts.added} new, ${counts.removed} removed, ${counts.alarms} false alarms`,
        );
      }
      previous = listed;
    }
  }
  for (const failure of failures) console.log(`FAILED ${failure}`);
  const part = sums.unchanged === 0 ? 1 : sums.alarms / sums.unchanged;
  const hasTooMany = part > falseAlarmsMax;
  console.log(
    `${sums.upgrades} upgrades: ${sums.unchanged} definitions unchanged, ${sums.changed} changed, ${sums.added} new, ${sums.removed} removed; ${sums.alarms} false alarms (${(100 * part).toFixed(2)} %)`,
  );
  const failed = failures.length + (hasTooMany ? 1 : 0);
  console.log(`${sums.upgrades} passed, ${failed} failed, 0 skipped`);
  return failed === 0 ? 0 : 1;
}

/** The definitions that a version of a server lists, by kind and name. */
type Listed = ReadonlyMap<string, ListedDefinition>;

/** Compares two versions as a gateway does that accepted the first one, and as a reader does. */
function compare(before: Listed, after: Listed) {
  const rules: PinRules = { trustState: "verified", firstContact: "pin" };
  const pins = new DefinitionPins({
    audit: { record() {} },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    scrubber: new SecretScrubber(),
    now: Date.now,
    approveCommand: "toolcrib approve",
  });
  for (const one of before.values())
    if (pins.check(one, rules) !== undefined) throw new Error(`${one.name} is not accepted`);
  const counts = { unchanged: 0, changed: 0, added: 0, removed: 0, alarms: 0 };
  for (const [key, one] of after) {
    const known = before.get(key);
    if (known === undefined) {
      counts.added += 1;
      continue;
    }
    const isHeld = pins.check(one, rules) !== undefined;
    // Equal to a reader: the order of members carries no meaning, and nothing else is forgiven.
    const isSame = isDeepStrictEqual(known.definition, one.definition);
    counts[isSame ? "unchanged" : "changed"] += 1;
    if (isSame && isHeld) counts.alarms += 1;
    if (!isSame && !isHeld) throw new Error(`the change of ${one.name} was not noticed`);
  }
  for (const key of before.keys()) if (!after.has(key)) counts.removed += 1;
  return counts;
}

/** Starts an installed version in a sandbox and returns what it lists. @throws when it does not answer */
async function listDefinitions(alias: string, args: readonly string[]): Promise<Listed> {
  const folder = join(cache, "node_modules", alias);
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly bin: string | { readonly [name: string]: string };
  };
  const program = typeof bin === "string" ? bin : (Object.values(bin)[0] ?? "");
  const client = new Client({ name: "upgrades", version: "1" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...sandboxed, process.execPath, join(folder, program), ...args],
    cwd: cache,
    stderr: "ignore",
  });
  const options = { timeout: serverTimeoutMs };
  try {
    await client.connect(transport, options);
    const capabilities = client.getServerCapabilities() ?? {};
    const listed = new Map<string, ListedDefinition>();
    const add = (kind: ListedDefinition["kind"], name: string, definition: object) =>
      listed.set(`${kind} ${name}`, { sourceId: "s", kind, name, definition: plain(definition) });
    for (const tool of (await client.listTools({}, options)).tools) add("tool", tool.name, tool);
    if (capabilities.prompts !== undefined)
      for (const prompt of (await client.listPrompts({}, options)).prompts)
        add("prompt", prompt.name, prompt);
    if (capabilities.resources !== undefined) {
      const { resourceTemplates } = await client.listResourceTemplates({}, options);
      for (const one of resourceTemplates) add("resourceTemplate", one.uriTemplate, one);
    }
    const instructions = client.getInstructions();
    if (instructions !== undefined) add("instructions", "instructions", { instructions });
    return listed;
  } finally {
    await client.close();
  }
}

/** Returns a definition as it is on the wire, without members that the client adds as `undefined`. */
function plain(definition: object): JsonObject {
  return JSON.parse(JSON.stringify(definition)) as JsonObject;
}

/** Returns why no program can run in a sandbox here. */
function problemWithSandbox(): string | undefined {
  mkdirSync(cache, { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [...sandboxed, process.execPath, "--eval", "0"], {
    cwd: cache,
    encoding: "utf8",
    timeout: serverTimeoutMs,
  });
  return status === 0 ? undefined : `no sandbox for the servers: ${firstLine(stderr)}`;
}

/** Installs all versions, without scripts. @returns why that is not possible */
function install(): string | undefined {
  const dependencies = Object.fromEntries(
    servers.flatMap((server) =>
      Object.keys(server.versions).map((version) => [
        aliasOf(server.package, version),
        `npm:${server.package}@${version}`,
      ]),
    ),
  );
  writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true, dependencies }));
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  const { status, stderr, error } = spawnSync("npm", args, {
    cwd: cache,
    encoding: "utf8",
    timeout: 600_000,
  });
  return status === 0 ? undefined : `npm cannot fetch the servers: ${error?.message ?? firstLine(stderr)}`;
}

function aliasOf(name: string, version: string): string {
  return `${name.replace("@", "").replace("/", "-")}-${version}`;
}

/** Returns the integrity that npm verified. */
function integrityOf(alias: string): string | undefined {
  const { packages } = JSON.parse(readFileSync(join(cache, "node_modules/.package-lock.json"), "utf8")) as {
    readonly packages: { readonly [path: string]: { readonly integrity?: string } | undefined };
  };
  return packages[`node_modules/${alias}`]?.integrity;
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
