/** The official conformance suite: its scenarios, and its results as files. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProcess } from "@toolcrib/testing";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const suitePath = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
/** Time limit for one run of the suite in milliseconds. */
export const suiteTimeoutMs = 600_000;

/** The result of one scenario, which passed if it has no failures. */
export interface ScenarioResult {
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
  /** False for a scenario that the revision runs and does not require. @default true */
  readonly isScored?: boolean;
}

export type ColumnResult = ReadonlyMap<string, ScenarioResult>;

/** The used fields of a check in the suite's results. */
interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  readonly description?: string;
  readonly errorMessage?: string;
}

/** The scenarios of one revision. */
export interface ListedScenarios {
  readonly server: readonly string[];
  readonly client: readonly string[];
  /** Scenarios for clients that run and do not count. */
  readonly unscoredClient: readonly string[];
}

/** Returns the scenarios of `requirements`, as listed by the suite. */
export async function listScenarios(requirements: string): Promise<ListedScenarios> {
  const args = [suitePath, "list", "--requirements", requirements];
  const { code, stdout, stderr } = await runProcess(process.execPath, args);
  const section = (title: string) =>
    new RegExp(`^${title}[^\\n]*\\n((?: {2}- .*\\n)+)`, "m")
      .exec(stdout)?.[1]
      ?.trim()
      .split("\n")
      .map((line) => line.replace(/^\s*- /, ""));
  const server = section("Server scenarios");
  const client = section("Client scenarios");
  if (code !== 0 || server === undefined || client === undefined)
    throw new Error(`The suite lists no scenarios\n${stdout}${stderr}`);
  const unscoredClient = [...stdout.matchAll(/^ +- (\S+) \[client\]$/gm)].map(([, name = ""]) => name);
  return { server, client, unscoredClient };
}

/**
 * Reads the suite's result files: `<prefix><scenario>-<time>/checks.json`. A scenario
 * that threw has written none; one without a single success proves nothing.
 */
export function readResults(
  directory: string,
  prefix: "" | "server-",
  scenarios: readonly string[],
  output: string,
): ColumnResult {
  const places = new Map<string, string>();
  const names = existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: "utf8" }) : [];
  for (const name of names.sort()) {
    const scenario = /^(.*)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/.exec(name)?.[1];
    if (scenario?.startsWith(prefix))
      places.set(scenario.slice(prefix.length), join(directory, name, "checks.json"));
  }
  return new Map(
    scenarios.map((scenario) => {
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
    .map(
      (check) => `${check.id}: ${(check.errorMessage ?? check.description ?? "no message").slice(0, 500)}`,
    );
}

/** Returns how many of the required scenarios passed, and how many there are. */
export function countScored(results: ColumnResult): { readonly passed: number; readonly all: number } {
  const scored = [...results.values()].filter(({ isScored }) => isScored !== false);
  return { passed: scored.filter(({ failures }) => failures.length === 0).length, all: scored.length };
}
