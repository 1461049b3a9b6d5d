/**
 * `toolcrib policy test`: runs the tests of a policy. They state the facts about each
 * request, so no server is started; facts about a configured server come from the
 * configuration where a test leaves them out.
 */

import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  isNamedRule,
  type OfflinePolicy,
  openOfflinePolicy,
  type PolicyTest,
  parsePolicyTests,
  readPolicyFile,
} from "@toolcrib/cedar";
import type { GatewayConfig } from "@toolcrib/config";
import { type Diagnostic, formatDiagnostics, hasErrors, messageOf } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import type { JsonObject } from "@toolcrib/json";
import type { CallFacts, PolicyRequest, PolicyServer, PolicyTarget } from "@toolcrib/policy";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { shortPath } from "../config/find-config-files.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { printReport } from "../output/print-report.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { clientIdentity } from "./client-identity.ts";
import { explainRequest, explanationLines } from "./explain-request.ts";
import { findKnownTestNames } from "./known-test-names.ts";

/** End of the names of files with tests. */
const testFileEnd = ".policy-test.yaml";

/** The result of one test. */
interface TestResult {
  readonly file: string;
  readonly name: string;
  readonly passed: boolean;
  /** The differences; empty for a test that passed. */
  readonly lines: readonly string[];
}

/** Runs `policy test`. */
export async function testPolicies(context: CliContext, given: readonly string[]): Promise<ExitCode> {
  const { output } = context;
  const { config, files: configFiles } = await loadCliConfig(context);
  const files = given.length > 0 ? given : findTests(context, config, configFiles);
  using policy = await openOfflinePolicy(config.policy);
  const results: TestResult[] = [];
  const diagnostics: Diagnostic[] = [];
  const known = await findKnownTestNames(context, config, policy.rules);
  for (const file of files) {
    const shown = shortPath(file, context.directory);
    const { text } = await readTests(context, file);
    const parsed = parsePolicyTests({ name: shown, text }, known);
    diagnostics.push(...parsed.diagnostics);
    for (const test of parsed.value ?? [])
      results.push(await runTest(policy, config, shown, test, context.now()));
  }
  const failed = results.filter(({ passed }) => !passed);
  output.json({
    passed: results.length - failed.length,
    failed: failed.length,
    results,
    diagnostics: diagnostics.map(toJsonDiagnostic),
  });
  for (const { file, name, lines } of failed) {
    output.print(
      `${output.style("red", "failed")} ${safeLine(`${file}: ${name}`)}`,
      ...lines.map((line) => `  ${line}`),
    );
  }
  if (diagnostics.length > 0) printReport(context, formatDiagnostics(diagnostics));
  output.print(`${results.length - failed.length} passed, ${failed.length} failed`);
  if (hasErrors(diagnostics)) return exitCodes.usage;
  return failed.length === 0 ? exitCodes.done : exitCodes.failed;
}

/** Finds the tests next to the policy files and next to the configuration. */
function findTests(
  { directory }: CliContext,
  { policy }: GatewayConfig,
  configFiles: readonly string[],
): readonly string[] {
  const folders = new Set([
    ...policy.files.map(({ path }) => dirname(path)),
    ...configFiles.map((file) => dirname(resolve(directory, file))),
  ]);
  const found = [...folders]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith(testFileEnd))
        .sort()
        .map((name) => join(folder, name)),
    );
  if (found.length > 0) return found;
  throw new CliError(
    "CLI_USAGE",
    `No tests: no folder of a policy file or of the configuration has a *${testFileEnd}`,
    {
      hint: "write one with tests: [{ client: ci, tool: github:list_issues, expect: allow }], or name a file",
    },
  );
}

async function readTests({ directory }: CliContext, file: string) {
  try {
    return { name: file, text: await readPolicyFile(resolve(directory, file), readRegularFile) };
  } catch (cause) {
    throw new CliError("CLI_USAGE", `Cannot read the tests in "${file}": ${messageOf(cause)}`, { cause });
  }
}

async function runTest(
  policy: OfflinePolicy,
  config: GatewayConfig,
  file: string,
  test: PolicyTest,
  now: number,
): Promise<TestResult> {
  const request = requestOf(config, test, now);
  const { id } = request.target;
  const name = test.name ?? `${test.client} ${request.action} ${id}`;
  const { kind, rule } = policy.decide(request);
  const isRule = test.rule === undefined || isNamedRule(rule, test.rule);
  if (kind === test.expect && isRule) return { file, name, passed: true, lines: [] };
  const wanted = `expected ${test.expect}${test.rule === undefined ? "" : ` by ${test.rule}`}`;
  const isExpected = (one: string) => test.rule !== undefined && isNamedRule(one, test.rule);
  const explanation = await explainRequest(policy, request, isExpected);
  return { file, name, passed: false, lines: [safeLine(wanted), ...explanationLines(explanation)] };
}

function requestOf(config: GatewayConfig, test: PolicyTest, now: number): PolicyRequest {
  const { client, action = "call", depth = 0, time, seen_labels: seenLabels = [], labels = [] } = test;
  const identity = clientIdentity(config, client);
  const target = targetOf(config, test);
  if (action !== "call") return { identity, action, target };
  const call: CallFacts = {
    args: (test.arguments ?? {}) as JsonObject,
    depth,
    parentTool: "",
    era: "modern",
    now: time === undefined ? now : Date.parse(time),
    labels,
    seenLabels,
  };
  return { identity, action, target, call };
}

function targetOf(config: GatewayConfig, test: PolicyTest): PolicyTarget {
  const { tool, resource, prompt } = test;
  const written = tool ?? resource ?? prompt;
  if (written === undefined || [tool, resource, prompt].filter((one) => one !== undefined).length > 1) {
    throw new CliError("CLI_USAGE", `A test of "${test.client}" names no target, or several`, {
      hint: "write one of tool, resource and prompt",
    });
  }
  const [serverId = "", ...rest] = written.split(":");
  const kind = tool !== undefined ? "tool" : resource !== undefined ? "resource" : "prompt";
  const own = rest.length === 0 ? written : rest.join(":");
  const path = kind === "tool" ? own : `${kind}s/${own}`;
  const isReadOnly = test.read_only ?? kind !== "tool";
  return {
    kind,
    id: `${serverId}:${path}`,
    name: own,
    wireName: `${serverId}__${path}`,
    server: serverOf(config, serverId, test.server),
    origin: config.toolspecs.some(({ id }) => id === serverId) ? "toolspec" : "server",
    version: "",
    tags: test.tags ?? [],
    isReadOnly,
    isDestructive: test.destructive ?? !isReadOnly,
    isIdempotent: test.idempotent ?? isReadOnly,
    isOpenWorld: test.open_world ?? true,
  };
}

function serverOf(
  { toolServers, toolspecs }: GatewayConfig,
  id: string,
  stated: PolicyTest["server"] = {},
): PolicyServer {
  const server = toolServers.find((one) => one.id === id);
  const toolspec = toolspecs.find((one) => one.id === id);
  const transport = server?.transport.kind ?? (toolspec === undefined ? "none" : "https");
  return {
    id,
    transport: stated.transport ?? transport,
    trustState: (stated.trust_state ?? server?.trustState ?? "none") as PolicyServer["trustState"],
    mutabilityClass: (stated.mutability_class ??
      server?.mutabilityClass ??
      "unknown") as PolicyServer["mutabilityClass"],
    labels: stated.labels ?? server?.labels ?? toolspec?.labels ?? {},
  };
}
