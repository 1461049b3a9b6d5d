/**
 * `npm run conformance`: the scenarios that revisions of MCP require, run by the official suite.
 *
 * The scenarios for servers run against the conformance fixture directly, and through the
 * gateway with the fixture as a server of each transport and era, and as one whose
 * eras the gateway finds out. The revision of the requirements is that of the client,
 * so the table has all combinations of eras. The columns `v1` are a fixture on the first
 * generation of the SDK, for the revision that it supports.
 *
 * The column `as client` has the scenarios for clients: the suite is the server, and the gateway its
 * client, with OAuth where the scenario is about it. Scenarios that the suite runs and does not score are checked in
 * the same way, and do not count in the table.
 *
 *     npm run conformance -- [--requirements 2026-07-28] [--column direct] [--output-dir DIR]
 *
 * Exits with 1 when a scenario fails that `conformance-expected.json` does not
 * list, or when one passes that it lists; a scenario without a successful check
 * fails. `--requirements` and `--column` (repeatable) restrict the run;
 * `--output-dir` keeps the suite's own result files.
 */

import { existsSync, readFileSync } from "node:fs";
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
import { runClientSuite } from "./conformance/client-suite.ts";
import {
  type ColumnResult,
  countScored,
  type ListedScenarios,
  listScenarios,
  readResults,
  suitePath,
  suiteTimeoutMs,
} from "./conformance/suite.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const gatewayPath = join(root, "packages/cli/src/bin.ts");
const expectedPath = join(root, "scripts/conformance-expected.json");

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
  "as client",
] as const;
type Column = (typeof columns)[number];

/** Whether a column has the scenarios of a revision: the server on the first SDK has the tools of its own. */
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
    const listed = await listScenarios(revision);
    const results = new Map<Column, ColumnResult>();
    for (const column of chosen.filter((one) => hasScenarios(one, revision))) {
      const directory = join(outputDirectory ?? temporary.path, `${revision}-${column.replace(/\W+/g, "-")}`);
      results.set(column, await runColumn(column, revision, listed, directory));
    }
    console.log(`Scenarios that MCP ${revision} requires`);
    const counts = report(results, readExpected(revision, chosen));
    passed += counts.passed;
    failed += counts.failed;
    for (const [column, result] of results) {
      const row = column === "as client" ? ["gateway", revision] : [revision, column];
      const { passed: count, all } = countScored(result);
      lines.push(`${row.map((cell) => cell.padEnd(12)).join(" ")} ${count}/${all}`);
    }
  }
  console.log(`Client       Server       Passed\n${lines.join("\n")}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function runColumn(
  column: Column,
  requirements: string,
  listed: ListedScenarios,
  directory: string,
): Promise<ColumnResult> {
  const required = column === "as client" ? listed.client : listed.server;
  let url = "";
  try {
    // Removes the results of an earlier run with --output-dir, so that they are not mistaken for new ones.
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true });
    if (column === "as client") return await runClientSuite(requirements, listed, directory);
    await using target = await startTarget(column);
    url = target.url;
    const suite = await runProcess(
      process.execPath,
      [suitePath, "server", "--url", url, "--requirements", requirements, "--output-dir", directory],
      { timeoutMs: suiteTimeoutMs },
    );
    await writeFile(join(directory, "target.log"), target.log());
    const results = readResults(directory, "server-", required, suite.stdout + suite.stderr);
    // The suite's exit code must agree with its results.
    if (suite.code === 0 || countScored(results).passed < required.length) return results;
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
    console.log(`${entry.column} ${entry.scenario} is listed as failing and is no scenario`);
  }
  return { passed, failed };
}
