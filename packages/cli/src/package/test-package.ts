/**
 * `toolcrib test`: runs the tests of a package through a gateway of this command, so that its calls
 * are authorized, contained and recorded as all others. The results of an installed package go to the
 * history of the home and to `metadata.json` beside its folder.
 */

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { loadConfig } from "@toolcrib/config";
import { CodedError, isCodedError } from "@toolcrib/diagnostics";
import { replaceFile } from "@toolcrib/files";
import { type Gateway, recordTestRun, startGateway } from "@toolcrib/gateway";
import { SchemaValidator } from "@toolcrib/json";
import { runPackageTests, type TestResult, type TestResults } from "@toolcrib/mcpkg-runtime";
import { createTestHistory } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type LoadedConfig, loadCliConfig } from "../config/load-cli-config.ts";
import { toLoadConfigDeps } from "../config/load-config-deps.ts";
import { projectFolderOf } from "../config/project-folder.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { version } from "../version.ts";
import { toJunit } from "./junit.ts";
import { refuseCalls } from "./test-calls.ts";
import { defaultsHint, settingsNote } from "./test-settings.ts";
import { openTestTarget, type TestTarget } from "./test-target.ts";

/** Options of the command. */
export interface TestFlags {
  /** Milliseconds. */
  readonly timeout?: number;
  readonly junit?: string;
  readonly useConfig?: boolean;
  readonly allowCalls?: boolean;
}

const identity = localIdentity("cli", "test");

/** Runs the command. */
export async function testPackage(context: CliContext, text: string, flags: TestFlags): Promise<ExitCode> {
  await using target = await openTestTarget(context, text);
  const { found, trial } = target;
  const { toolId } = trial;
  if (found.tests.size === 0) {
    throw new CliError("CLI_PACKAGE_UNTESTED", `The package ${toolId} ${trial.version} has no tests`, {
      hint: "write tests/NAME.test.json and name it in tests of the manifest",
    });
  }
  if (!target.isSameAsInstalled && flags.allowCalls !== true) await refuseCalls(context, found.manifest);
  const loaded = await loadConfigOrDefaults(context);
  const usesConfig = target.isSameAsInstalled || flags.useConfig === true;
  if (!target.isSameAsInstalled)
    context.output.note(...settingsNote(loaded.config, found.manifest, usesConfig));
  const at = new Date(context.now()).toISOString();
  const results = await runTests(context, target, { flags, loaded, usesConfig });
  if (target.isInstalled) await keep(context, target, results, at);
  if (flags.junit !== undefined) {
    await replaceFile({ randomBytes }, resolve(context.directory, flags.junit), toJunit(results, at), {
      mode: 0o644,
      keepPermissions: true,
      followSymlink: true,
    });
  }
  print(context, results, usesConfig);
  if (results.failed > 0 && !usesConfig) context.output.note(defaultsHint(toolId));
  return results.failed === 0 ? exitCodes.done : exitCodes.failed;
}

/** How the tests run. */
interface TestSettings {
  readonly flags: TestFlags;
  readonly loaded: Pick<LoadedConfig, "config" | "files">;
  readonly usesConfig: boolean;
}

async function runTests(
  context: CliContext,
  { found, trial }: TestTarget,
  { flags, loaded, usesConfig }: TestSettings,
): Promise<TestResults> {
  await using gateway = await startTestGateway(context, loaded, { ...trial, usesConfig });
  const { output } = context;
  return await runPackageTests(
    found,
    {
      call: (args, signal) => callTool(gateway, trial.toolId, args, signal),
      validator: new SchemaValidator(),
      monotonicMs: () => performance.now(),
      signal: context.signal,
    },
    {
      totalTimeoutMs: flags.timeout,
      onResult: (result) => {
        if (!output.isJson) printResult(context, result);
      },
    },
  );
}

/** Starts a gateway that offers the package and the installed ones, which chains call. */
export async function startTestGateway(
  context: CliContext,
  { config, files }: TestSettings["loaded"],
  trial: TestTarget["trial"] & { readonly usesConfig: boolean },
): Promise<Gateway> {
  const gateway = await startGateway(
    { ...config, toolServers: [], toolspecs: [] },
    {
      home: context.options.home,
      env: context.env,
      directory: context.directory,
      projectFolder: projectFolderOf(context),
      wrap: context.wrap,
      logger: createCommandLogger(context, "silent"),
      version,
      configFiles: files,
      trialPackages: [trial],
    },
  );
  try {
    await gateway.ready();
  } catch (error) {
    await gateway[Symbol.asyncDispose]();
    throw error;
  }
  return gateway;
}

/** Loads the configuration; the defaults where there is none, because a package can be tested without one. */
export async function loadConfigOrDefaults(
  context: CliContext,
): Promise<Pick<LoadedConfig, "config" | "files">> {
  try {
    return await loadCliConfig(context);
  } catch (error) {
    if (!isCodedError(error) || error.code !== "CLI_CONFIG_NOT_FOUND") throw error;
    const overrides = [{ name: "defaults", text: "{}" }];
    const { value } = await loadConfig([], toLoadConfigDeps(context), { overrides });
    if (value === undefined) throw error;
    return { config: value, files: [] };
  }
}

/** Calls a tool as the operator who tests it. @throws {CodedError} when the call is denied or fails */
export async function callTool(
  gateway: Gateway,
  toolId: string,
  args: Parameters<Gateway["call"]>[2],
  signal: AbortSignal,
) {
  const outcome = await gateway.call(identity, toolId, args, { signal });
  if (outcome.kind === "result") return outcome.result;
  if (outcome.kind === "failed") throw outcome.error;
  throw new CodedError(outcome.code, outcome.reason, { hint: outcome.hint });
}

/** Adds the run to the history, and writes what the history says beside the package. */
async function keep(
  context: CliContext,
  target: TestTarget,
  results: TestResults,
  at: string,
): Promise<void> {
  const history = createTestHistory(context.options.home, { randomBytes });
  try {
    await recordTestRun({ history, randomBytes }, target.trial, { results, at, by: "command" });
  } catch (error) {
    if (!isCodedError(error)) throw error;
    context.output.note(`The results were not kept: ${error.message}`);
  }
}

const marks = { passed: "✓", failed: "✗", error: "✗" } as const;

function printResult({ output }: CliContext, { name, path, outcome, failures, latencyMs }: TestResult): void {
  const mark = output.style(outcome === "passed" ? "green" : "red", marks[outcome]);
  const time = output.style("dim", `${latencyMs} ms`);
  output.print(`${mark} ${safeLine(name)}  ${output.style("dim", safeLine(path))}  ${time}`);
  for (const failure of failures) output.print(`    ${safeLine(failure)}`);
}

function print({ output }: CliContext, results: TestResults, usesConfig: boolean): void {
  const { toolId, version: tested, passed, failed, durationMs } = results;
  const latencies = results.results.map(({ latencyMs }) => latencyMs).toSorted((one, other) => one - other);
  const median = latencies[Math.floor((latencies.length - 1) / 2)] ?? 0;
  const slowest = latencies.at(-1) ?? 0;
  output.json({ ...results, usesConfig, latencyMs: { p50: median, max: slowest } });
  output.print(
    `${toolId} ${tested}: ${passed} passed, ${failed} failed in ${durationMs} ms (calls: median ${median} ms, slowest ${slowest} ms)`,
  );
}
