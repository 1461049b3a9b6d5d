/**
 * `npm run conformance`: the server scenarios that revisions of MCP require, run by
 * the official suite against the conformance fixture directly, and through the
 * gateway with the fixture as a server of each transport and era, and as one whose
 * eras the gateway finds out. The revision of the requirements is that of the client,
 * so the table has all combinations of eras. The columns `v1` are a fixture on the first
 * generation of the SDK, for the revision that it supports.
 *
 *     npm run conformance -- [--requirements 2026-07-28] [--column direct] [--output-dir DIR]
 *
 * Exits with 1 when a scenario fails that `conformance-expected.json` does not
 * list, or when one passes that it lists; a scenario without a successful check
 * fails. `--requirements` and `--column` (repeatable) restrict the run;
 * `--output-dir` keeps the suite's own result files.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  conformanceHttpPath,
  conformanceStdioPath,
  conformanceV1Path,
  fixtureCommand,
  makeTemporaryDirectory,
  runProcess,
  startServerProcess,
} from "@toolcrib/testing";

const root = fileURLToPath(new URL("..", import.meta.url));
const suitePath = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const gatewayPath = join(root, "packages/cli/src/bin.ts");
const expectedPath = join(root, "scripts/conformance-expected.json");
/** Time limit for one run of the suite in milliseconds; each scenario has 30 seconds. */
const suiteTimeoutMs = 600_000;

const columns = [
  "direct",
  "stdio legacy",
  "stdio modern",
  "http legacy",
  "http modern",
  "http auto",
  "direct v1",
  "stdio v1",
  "http v1",
] as const;
type Column = (typeof columns)[number];

/** Whether a column has the tools that the scenarios of a revision call: the server on the first SDK has those of its own. */
function hasScenarios(column: Column, revision: string): boolean {
  return !column.endsWith("v1") || revision === "2025-11-25";
}

/** A scenario that is known to fail, with the reason. */
interface ExpectedFailure {
  readonly scenario: string;
  readonly column: Column;
  readonly reason: string;
  /** The revision that it applies to. @default "2025-11-25" */
  readonly requirements?: string;
}

/** The used fields of a check in the suite's results. */
interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  readonly errorMessage?: string;
}

/** The result of one scenario, which passed if it has no failures. */
interface ScenarioResult {
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
}

type ColumnResult = ReadonlyMap<string, ScenarioResult>;

const revisions = ["2025-11-25", "2026-07-28"] as const;

const { values } = parseArgs({
  options: {
    requirements: { type: "string", multiple: true, default: [...revisions] },
    column: { type: "string", multiple: true, default: [...columns] },
    "output-dir": { type: "string" },
  },
});
const selected = columns.filter((column) => values.column.includes(column));
if (selected.length < new Set(values.column).size) {
  console.error(`Unknown --column among ${values.column.join(", ")}: use ${columns.join(", ")}`);
  process.exit(2);
}
process.exitCode = await main(values.requirements, selected, values["output-dir"]);

async function main(
  requirements: readonly string[],
  chosen: readonly Column[],
  outputDirectory?: string,
): Promise<number> {
  await using temporary = await makeTemporaryDirectory();
  const lines: string[] = [];
  let passed = 0;
  let failed = 0;
  for (const revision of requirements) {
    const required = await listRequired(revision);
    const results = new Map<Column, ColumnResult>();
    for (const column of chosen.filter((one) => hasScenarios(one, revision))) {
      const directory = join(outputDirectory ?? temporary.path, `${revision}-${column.replace(/\W+/g, "-")}`);
      results.set(column, await runColumn(column, revision, required, directory));
    }
    console.log(`Server scenarios that MCP ${revision} requires`);
    const counts = report(results, readExpected(revision, chosen));
    passed += counts.passed;
    failed += counts.failed;
    for (const [column, result] of results)
      lines.push(`${revision}  ${column.padEnd(12)}  ${countPassed(result)}/${required.length}`);
  }
  console.log(`Client       Server        Passed\n${lines.join("\n")}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/** Returns the scenarios of `requirements`, as listed by the suite. */
async function listRequired(requirements: string): Promise<string[]> {
  const { code, stdout, stderr } = await runProcess(process.execPath, [
    suitePath,
    "list",
    "--requirements",
    requirements,
  ]);
  const section = /^Server scenarios[^\n]*\n((?: {2}- .*\n)+)/m.exec(stdout)?.[1];
  if (code !== 0 || section === undefined)
    throw new Error(`The suite lists no scenarios\n${stdout}${stderr}`);
  return section
    .trim()
    .split("\n")
    .map((line) => line.replace(/^\s*- /, ""));
}

async function runColumn(
  column: Column,
  requirements: string,
  required: readonly string[],
  directory: string,
): Promise<ColumnResult> {
  let url = "";
  try {
    // Removes the results of an earlier run with --output-dir, so that they are not mistaken for new ones.
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true });
    await using target = await startTarget(column);
    url = target.url;
    const suite = await runProcess(
      process.execPath,
      [suitePath, "server", "--url", url, "--requirements", requirements, "--output-dir", directory],
      { timeoutMs: suiteTimeoutMs },
    );
    await writeFile(join(directory, "target.log"), target.log());
    const results = readResults(directory, required, suite.stdout + suite.stderr);
    // The suite's exit code must agree with its results.
    if (suite.code === 0 || countPassed(results) < required.length) return results;
    throw new Error(`The suite exited with ${suite.code} although every scenario passed\n${suite.stdout}`);
  } catch (error) {
    const reason = `${url === "" ? "the target did not start" : "the run failed"}: ${String(error)}`;
    return new Map(required.map((scenario) => [scenario, { failures: [reason], warnings: [] }]));
  }
}

interface Target extends AsyncDisposable {
  readonly url: string;
  /** Its output so far, for `target.log` next to the results. */
  log(): string;
}

/** Starts the server of the column: the fixture, or the gateway in front of it. */
async function startTarget(column: Column): Promise<Target> {
  await using stack = new AsyncDisposableStack();
  const [kind, variant] = column.split(" ");
  const isV1 = variant === "v1";
  const http = isV1 ? fixtureCommand(conformanceV1Path, "--http") : fixtureCommand(conformanceHttpPath);
  if (kind === "direct") {
    const fixture = await startServerProcess(http.command, http.args);
    return {
      url: fixture.url,
      log: fixture.stderr,
      [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
    };
  }
  if (!existsSync(gatewayPath)) throw new Error(`${gatewayPath} does not exist`);

  const home = stack.use(await makeTemporaryDirectory());
  const stdio = fixtureCommand(isV1 ? conformanceV1Path : conformanceStdioPath);
  let transport: object = { kind: "stdio", ...stdio };
  if (kind === "http") {
    const fixture = stack.use(await startServerProcess(http.command, http.args));
    transport = { kind: "streamable_http", url: fixture.url };
  }
  transport = { ...transport, protocol: isV1 ? "auto" : variant };
  // JSON is YAML.
  const config = home.join("toolcrib.yaml");
  // The scenarios expect that the first question of a server is passed on.
  const server = { id: "fixture", transport, trust_state: "certified", interactive: true };
  await writeFile(config, JSON.stringify({ tool_servers: [server] }));
  const args = [
    "--conditions=toolcrib-source",
    gatewayPath,
    "serve",
    "--config",
    config,
    "--home",
    home.join("home"),
  ];
  const gateway = stack.use(
    await startServerProcess(process.execPath, [...args, "--listen", "127.0.0.1:0", "--auth", "none"], {
      cwd: root,
      urlPattern: /http:\/\/127\.0\.0\.1:\d+\/mcp/,
    }),
  );
  const owned = stack.move();
  return {
    url: `${gateway.url}/s/fixture`,
    log: () => gateway.stdout() + gateway.stderr(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * The suite's result files: `server-<scenario>-<time>/checks.json`. A scenario
 * that threw has written none; one without a single success proves nothing.
 */
function readResults(directory: string, required: readonly string[], output: string): ColumnResult {
  const places = new Map<string, string>();
  for (const name of existsSync(directory) ? readdirSync(directory).sort() : []) {
    const scenario = /^server-(.*)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/.exec(name)?.[1];
    if (scenario !== undefined) places.set(scenario, join(directory, name, "checks.json"));
  }
  return new Map(
    required.map((scenario) => {
      const place = places.get(scenario);
      if (place === undefined || !existsSync(place)) {
        const thrown = output
          .split("\n")
          .find((line) => line.startsWith(`Failed to run scenario ${scenario}:`));
        return [scenario, { failures: [thrown ?? "the suite wrote no result"], warnings: [] }];
      }
      const checks = JSON.parse(readFileSync(place, "utf8")) as readonly Check[];
      const failures = describe(checks, "FAILURE");
      if (!checks.some((check) => check.status === "SUCCESS")) failures.push("no check succeeded");
      return [scenario, { failures, warnings: describe(checks, "WARNING") }];
    }),
  );
}

function describe(checks: readonly Check[], status: Check["status"]): string[] {
  return checks
    .filter((check) => check.status === status)
    .map((check) => `${check.id}: ${(check.errorMessage ?? "no message").slice(0, 500)}`);
}

function countPassed(results: ColumnResult): number {
  return [...results.values()].filter((result) => result.failures.length === 0).length;
}

function readExpected(requirements: string, chosen: readonly Column[]): ExpectedFailure[] {
  const entries = JSON.parse(readFileSync(expectedPath, "utf8")) as readonly ExpectedFailure[];
  return entries.filter(
    (entry) => (entry.requirements ?? "2025-11-25") === requirements && chosen.includes(entry.column),
  );
}

/** Prints every difference from the expected results; returns the number of results as expected, and of others. */
function report(
  results: ReadonlyMap<Column, ColumnResult>,
  expected: readonly ExpectedFailure[],
): { readonly passed: number; readonly failed: number } {
  let passed = 0;
  let failed = 0;
  const unused = new Set(expected);
  for (const [column, scenarios] of results) {
    const printed = new Set<string>();
    for (const [scenario, { failures, warnings }] of scenarios) {
      const entry = expected.find((known) => known.column === column && known.scenario === scenario);
      if (entry !== undefined) unused.delete(entry);
      if (failures.length > 0 && entry !== undefined) {
        console.log(`${column} ${scenario} fails as expected: ${entry.reason}`);
      } else if (failures.length > 0) {
        failed += 1;
        // One failure, such as a gateway that does not start, can be the cause in every scenario.
        for (const failure of failures) {
          if (!printed.has(failure)) console.log(`${column} ${scenario} fails: ${failure}`);
          printed.add(failure);
        }
      } else if (entry !== undefined) {
        failed += 1;
        console.log(`${column} ${scenario} passes and is listed as failing: remove it from ${expectedPath}`);
      } else passed += 1;
      const direct = results.get("direct")?.get(scenario)?.warnings ?? [];
      for (const warning of warnings) {
        if (column.startsWith("direct") || !direct.includes(warning))
          console.log(`${column} ${scenario} warns: ${warning}`);
      }
    }
  }
  for (const entry of unused) {
    failed += 1;
    console.log(`${entry.column} ${entry.scenario} is listed as failing and is no required scenario`);
  }
  return { passed, failed };
}
