/**
 * `toolcrib test`: runs the tests of a package through a gateway of this command, so that its calls
 * are authorized, contained and recorded as all others. The results of an installed package go to the
 * history of the home and to `metadata.json` beside its folder.
 */

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { CodedError, isCodedError } from "@toolcrib/diagnostics";
import { replaceFile } from "@toolcrib/files";
import { type Gateway, startGateway } from "@toolcrib/gateway";
import { SchemaValidator } from "@toolcrib/json";
import { reachOf } from "@toolcrib/mcpkg";
import {
  recordTestRun,
  runPackageTests,
  TestReplies,
  type TestResult,
  type TestResults,
  type TrialPackage,
} from "@toolcrib/mcpkg-runtime";
import { createTestHistory } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import { gatewayDepsOf } from "../access/gateway-deps.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type LoadedConfig, loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { withHome } from "../output/with-home.ts";
import { withProgress } from "../progress/progress.ts";
import { judgeInstalled } from "./explain-implementations.ts";
import { toJunit } from "./junit.ts";
import { requireRecordable, writeRecordings } from "./record-tests.ts";
import { refuseCalls, refuseWriters } from "./test-calls.ts";
import { defaultsHint, settingsNote } from "./test-settings.ts";
import { openTestTarget, type TestTarget } from "./test-target.ts";

/** Options of the command. */
export interface TestFlags {
  /** Milliseconds. */
  readonly timeout?: number;
  readonly junit?: string;
  readonly useConfig?: boolean;
  readonly allowCalls?: boolean;
  /** Id of the only implementation to test. */
  readonly implementation?: string;
  /** Whether what is received is written into the tests. */
  readonly record?: boolean;
  /** Whether what the tests recorded answers in place of real calls. */
  readonly replay?: boolean;
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
  if (flags.record === true && flags.replay === true)
    throw new CliError("CLI_USAGE", "--record makes real calls and --replay makes none: give one of them");
  const folder = flags.record === true ? requireRecordable(target) : undefined;
  // A replay makes no calls of others.
  const mayCall = flags.allowCalls === true || flags.replay === true;
  if (!target.isSameAsInstalled && !mayCall) await refuseCalls(context, found.manifest);
  const loaded = await loadConfigOrDefaults(context);
  const usesConfig = target.isSameAsInstalled || flags.useConfig === true;
  if (!target.isSameAsInstalled)
    context.output.note(...settingsNote(loaded.config, found.manifest, usesConfig));
  const at = new Date(context.now()).toISOString();
  const [first = undefined, ...others] = await implementationsOf(context, target, flags);
  const run = (implementation: typeof first) => {
    const title = `Testing ${text}${implementation === undefined ? "" : ` as ${implementation}`}`;
    const settings = { flags, loaded, usesConfig, implementation };
    return withProgress(context, title, () => runTests(context, target, settings));
  };
  const results = await run(first);
  const runs = [{ implementation: first, results }];
  for (const implementation of others) {
    runs.push({ implementation, results: await run(implementation) });
  }
  // The time and the shape of replayed results say nothing about the tool.
  if (target.isInstalled && flags.replay !== true)
    for (const run of runs) await keep(context, target, run, at);
  if (folder !== undefined) await writeRecordings(context, folder, found, results.results);
  if (flags.junit !== undefined) {
    await replaceFile(
      { randomBytes },
      resolve(context.directory, flags.junit),
      toJunit(together(runs, results), at, modeOf(flags)),
      {
        mode: 0o644,
        keepPermissions: true,
        followSymlink: true,
      },
    );
  }
  print(context, runs, { usesConfig, mode: modeOf(flags) });
  // A replay uses none of what the hint names.
  if (results.failed > 0 && !usesConfig && modeOf(flags) !== "replay")
    context.output.note(withHome(defaultsHint(toolId), context.options.homeFlag));
  return runs.every((run) => run.results.failed === 0) ? exitCodes.done : exitCodes.failed;
}

/** The results of all runs as those of one, in which each test has the name of its implementation. */
function together(runs: readonly ImplementationRun[], first: TestResults): TestResults {
  const results = runs.flatMap((run) =>
    run.results.results.map((one) =>
      run.implementation === undefined ? one : { ...one, name: `${run.implementation}: ${one.name}` },
    ),
  );
  const sum = (count: (one: TestResults) => number) => runs.reduce((all, run) => all + count(run.results), 0);
  return {
    ...first,
    results,
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    durationMs: sum(({ durationMs }) => durationMs),
  };
}

/** A run of the tests, on one implementation where the package has several. */
interface ImplementationRun {
  readonly implementation: string | undefined;
  readonly results: TestResults;
}

/**
 * The implementations to test one after the other, the one that calls use first: all of an installed package that run
 * here, because each must pass the same tests. Undefined leaves the choice to the call.
 */
async function implementationsOf(
  context: CliContext,
  { trial, found, isInstalled }: TestTarget,
  { implementation }: TestFlags,
): Promise<readonly (string | undefined)[]> {
  const { manifest } = found;
  if (!isInstalled || manifest.implementations === undefined) {
    if (implementation === undefined) return [undefined];
    throw new CliError(
      "CLI_USAGE",
      `--implementation chooses among the implementations of an installed package, and ${trial.toolId} ${isInstalled ? "has none" : "is not installed"}`,
    );
  }
  const verdicts = await judgeInstalled(context, trial, manifest);
  const usable = verdicts.filter(({ isUsable }) => isUsable).map(({ candidate }) => candidate.id);
  if (implementation === undefined) return usable.length === 0 ? [undefined] : usable;
  if (usable.includes(implementation)) return [implementation];
  throw new CliError(
    "CLI_USAGE",
    `"${implementation}" is no implementation of ${trial.toolId} that runs here`,
    {
      hint: `those that run are ${usable.join(", ") || "none"}; toolcrib info ${trial.toolId} --why gives the reasons`,
    },
  );
}

/** Settings of the run of the tests. */
interface TestSettings {
  readonly flags: TestFlags;
  readonly loaded: Pick<LoadedConfig, "config" | "files">;
  readonly usesConfig: boolean;
  /** The only implementation that may run. */
  readonly implementation: string | undefined;
}

async function runTests(
  context: CliContext,
  { found, trial }: TestTarget,
  { flags, loaded, usesConfig, implementation }: TestSettings,
): Promise<TestResults> {
  const chosen =
    implementation === undefined ? loaded : withImplementation(loaded, trial.toolId, implementation);
  const reach = reachOf(found.manifest);
  const mode = modeOf(flags);
  const replies = mode === "live" ? undefined : new TestReplies(mode);
  await using gateway = await startTestGateway(context, chosen, { ...trial, usesConfig, replies }, reach);
  if (flags.allowCalls !== true && flags.replay !== true)
    refuseWriters(found.manifest, (id) => gateway.describe(identity, id));
  const { output } = context;
  if (implementation !== undefined)
    output.print(`${trial.toolId} as ${output.style("bold", safeLine(implementation))}`);
  return await runPackageTests(
    found,
    {
      call: (args, signal) => callTool(gateway, trial.toolId, args, signal),
      validator: new SchemaValidator(),
      monotonicMs: () => performance.now(),
      signal: context.signal,
      replies,
    },
    {
      totalTimeoutMs: flags.timeout,
      onResult: (result) => {
        if (!output.isJson) printResult(context, result);
      },
    },
  );
}

/** The configuration in which only one implementation of a package may run. */
function withImplementation(
  { config, files }: TestSettings["loaded"],
  toolId: string,
  implementation: string,
): TestSettings["loaded"] {
  const { byId, others } = config.packages;
  const own = Object.hasOwn(byId, toolId) ? (byId[toolId] ?? others) : others;
  const packages = { ...config.packages, byId: { ...byId, [toolId]: { ...own, implementation } } };
  return { config: { ...config, packages }, files };
}

/** Starts a gateway that offers the package and the installed ones, which chains call. */
export async function startTestGateway(
  context: CliContext,
  { config, files }: TestSettings["loaded"],
  trial: TrialPackage,
  reach: readonly string[] = [],
): Promise<Gateway> {
  // Of the servers, only those start that a program of the package can call.
  const isCalled = ({ id }: { readonly id: string }) => reach.some((tool) => tool.startsWith(`${id}:`));
  const gateway = await startGateway(
    {
      ...config,
      toolServers: config.toolServers.filter(isCalled),
      toolspecs: config.toolspecs.filter(isCalled),
    },
    {
      ...gatewayDepsOf(context, { logger: createCommandLogger(context, "silent"), configFiles: files }),
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
  { results, implementation }: ImplementationRun,
  at: string,
): Promise<void> {
  const history = createTestHistory(context.options.home, { randomBytes });
  try {
    await recordTestRun({ history, randomBytes }, target.trial, {
      results,
      at,
      by: "command",
      implementation,
    });
  } catch (error) {
    if (!isCodedError(error)) throw error;
    context.output.note(`The results were not kept: ${error.message}`);
  }
}

const marks = { passed: "✓", failed: "✗", error: "✗" } as const;

/** The source of the answers to the calls of the tests. */
type TestMode = "live" | "record" | "replay";

function modeOf({ record, replay }: TestFlags): TestMode {
  return record === true ? "record" : replay === true ? "replay" : "live";
}

function printResult(
  { output }: CliContext,
  { name, path, outcome, failures, latencyMs, replayed = 0 }: TestResult,
): void {
  const mark = output.style(outcome === "passed" ? "green" : "red", marks[outcome]);
  const time = output.style("dim", `${latencyMs} ms`);
  const how = replayed === 0 ? "" : "  (recorded)";
  output.print(`${mark} ${safeLine(name)}  ${output.style("dim", safeLine(path))}  ${time}${how}`);
  for (const failure of failures) output.print(`    ${safeLine(failure)}`);
}

function print(
  { output }: CliContext,
  runs: readonly ImplementationRun[],
  { usesConfig, mode }: { readonly usesConfig: boolean; readonly mode: TestMode },
): void {
  const [first] = runs;
  if (first === undefined) return;
  const ofEach = runs.flatMap(({ implementation, results: { passed, failed, results } }) =>
    implementation === undefined ? [] : [{ implementation, passed, failed, latencyMs: latencyOf(results) }],
  );
  const { results: all, ...rest } = first.results;
  output.json({
    ...rest,
    mode,
    results: all.map(({ recording: _recording, ...result }) => result),
    usesConfig,
    latencyMs: latencyOf(first.results.results),
    ...(ofEach.length === 0 ? {} : { implementations: ofEach }),
  });
  for (const { implementation, results } of runs) {
    const { toolId, version: tested, passed, failed, durationMs } = results;
    const { p50, max } = latencyOf(results.results);
    const as = implementation === undefined ? "" : ` as ${safeLine(implementation)}`;
    output.print(
      `${toolId} ${tested}${as}: ${passed} passed, ${failed} failed in ${durationMs} ms (calls: median ${p50} ms, slowest ${max} ms)`,
    );
    if (mode === "replay") output.print(replayNote(results.results));
  }
}

/** Says what a replay shows: without requests, it cannot show that the tool works today. */
function replayNote(results: TestResults["results"]): string {
  const replayed = results.filter(({ replayed: count = 0 }) => count > 0).length;
  const others = results.length - replayed;
  const rest =
    others === 0 ? "" : `, ${others} without one: a program that ran here, or a test that made no request`;
  return `Replayed: ${counted(replayed, "test")} answered by recorded replies${rest}. No request of an http endpoint was sent, and no other tool was called`;
}

function latencyOf(results: TestResults["results"]): { readonly p50: number; readonly max: number } {
  const latencies = results.map(({ latencyMs }) => latencyMs).toSorted((one, other) => one - other);
  return { p50: latencies[Math.floor((latencies.length - 1) / 2)] ?? 0, max: latencies.at(-1) ?? 0 };
}
