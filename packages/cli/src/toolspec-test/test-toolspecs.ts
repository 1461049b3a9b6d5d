/**
 * `toolcrib toolspec test`: runs the examples of toolspecs as tests. Each goes
 * through the engine and the egress pipeline to a mock service on loopback, which
 * receives the exact request. With `--live`, examples that only read call the API
 * itself.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { createEgress, createPlaceholder } from "@toolcrib/egress";
import { createToolpackSource } from "@toolcrib/toolpack";
import {
  annotationsOf,
  type CatalogPair,
  egressPatterns,
  exampleVariables,
  lintCatalog,
  placedCredentials,
  type Toolspec,
  type ToolspecExample,
  type ToolspecTool,
} from "@toolcrib/toolspec";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine, safeText } from "../output/output.ts";
import { openToolpackEgress, readSecretNames } from "../toolpack/open-toolpack-egress.ts";
import { readCatalog } from "../toolspec/catalog-files.ts";
import { version } from "../version.ts";
import { startMockApi } from "./mock-api.ts";
import { callExample, checkRequest, checkResponse, type ExampleOutcome, toFailure } from "./run-example.ts";

/** Options of the command. */
export interface ToolspecTestFlags {
  readonly live?: boolean;
  readonly tool?: readonly string[];
  readonly secret?: readonly string[];
}

/** One example and its outcome. */
interface Row {
  readonly toolspec: string;
  readonly tool: string;
  /** From 1. */
  readonly example: number;
  readonly outcome: ExampleOutcome;
}

/** Runs the command. */
export async function testToolspecs(
  context: CliContext,
  path: string,
  flags: ToolspecTestFlags,
): Promise<ExitCode> {
  const pairs = await readPairs(context, path);
  const wanted = flags.tool;
  const chosen = pairs.map((pair): CatalogPair => {
    if (wanted === undefined) return pair;
    return {
      ...pair,
      toolspec: { ...pair.toolspec, tools: pair.toolspec.tools.filter(({ name }) => wanted.includes(name)) },
    };
  });
  const rows: Row[] = [];
  const done = (row: Row) => {
    rows.push(row);
    printRow(context, row);
  };
  if (flags.live === true) await runLive(context, chosen, flags.secret ?? [], done);
  else await runMocked(context, chosen, done);
  return summarize(context, chosen, rows);
}

/** @throws {CliError} `CLI_CONFIG_INVALID` with the findings, if a file has an error */
async function readPairs(context: CliContext, path: string): Promise<readonly CatalogPair[]> {
  const { output } = context;
  const { files } = await readCatalog(context.directory, path, "toolspec");
  // This command checks the examples itself.
  const report = lintCatalog(files, { subject: "toolspecs", needsToolspecs: false, checksExamples: false });
  const errors = report.diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length > 0 || report.pairs.length === 0) {
    const message =
      errors.length > 0
        ? `The toolspecs have ${errors.length === 1 ? "an error" : `${errors.length} errors`}`
        : `"${path}" has no toolspec`;
    throw new CliError("CLI_CONFIG_INVALID", message, { data: { diagnostics: errors } });
  }
  const warnings = report.diagnostics.filter(({ severity }) => severity === "warning");
  if (warnings.length > 0 && !output.isJson) output.note(formatDiagnostics(warnings), "");
  return report.pairs;
}

type Done = (row: Row) => void;

/** Returns every example of a toolspec, in order. */
function examplesOf({
  tools,
}: Toolspec): { readonly tool: ToolspecTool; readonly example: ToolspecExample; readonly number: number }[] {
  return tools.flatMap((tool) =>
    (tool.examples ?? []).map((example, index) => ({ tool, example, number: index + 1 })),
  );
}

async function runMocked(context: CliContext, pairs: readonly CatalogPair[], done: Done): Promise<void> {
  const { options } = context;
  await using mock = await startMockApi(context.now);
  const hosts = pairs.flatMap(({ toolspec }) => examplesOf(toolspec).map(({ example }) => hostOf(example)));
  await using egress = createEgress(
    {
      internalRanges: ["127.0.0.0/8"],
      connectTo: Object.fromEntries(hosts.filter((host) => host !== "").map((host) => [host, mock.endpoint])),
      caCertificates: [mock.certificate],
    },
    { directory: join(options.home, "egress"), now: context.now, randomBytes, onEvent() {} },
  );
  for (const { manifest, toolspec } of pairs) {
    const credentials = placedCredentials(manifest, toolspec).map((one, index) => ({
      ...one,
      placeholder: createPlaceholder(randomBytes),
      token: `secret-${index + 1}-of-the-test`,
    }));
    const source = {
      id: `toolspec:${manifest.name}`,
      allow: egressPatterns(manifest),
      credentials: credentials.map(({ token, ...one }) => ({
        ...one,
        secretName: one.id,
        read: () => token,
      })),
    };
    for (const { tool, example, number } of examplesOf(toolspec)) {
      mock.take();
      await using tools = createToolpackSource(
        {
          manifest,
          toolspec,
          tools: [tool.name],
          variables: exampleVariables(tool, toolspec, example.request.url),
          tokenOf: (id) => credentials.find((one) => one.id === id)?.placeholder ?? "",
        },
        { ...engineDeps(context), send: (request) => egress.fetch(request, source) },
      );
      const outcome = await settle(async () => {
        const result = await callExample(tools, tool, example, context);
        const received = mock.take();
        // Invalid arguments give an error result, and no request is sent.
        return received.length === 0 && result.isError === true
          ? checkResponse(result)
          : checkRequest(example, received, credentials);
      });
      done({ toolspec: manifest.name, tool: tool.name, example: number, outcome });
    }
  }
}

async function runLive(
  context: CliContext,
  pairs: readonly CatalogPair[],
  secretNames: readonly string[],
  done: Done,
): Promise<void> {
  const logger = createCommandLogger(context, "error");
  for (const { manifest, toolspec } of pairs) {
    await using access = await openToolpackEgress(
      context,
      { manifest, toolspec },
      { secretNames: readSecretNames(secretNames, manifest), isPrefixed: false },
      logger,
    );
    for (const { tool, example, number } of examplesOf(toolspec)) {
      const row = { toolspec: manifest.name, tool: tool.name, example: number };
      if (annotationsOf(tool).readOnlyHint !== true) {
        done({ ...row, outcome: { kind: "skipped", reason: "it may change data" } });
        continue;
      }
      await using tools = createToolpackSource(
        {
          manifest,
          toolspec,
          tools: [tool.name],
          variables: exampleVariables(tool, toolspec, example.request.url),
          tokenOf: access.tokenOf,
        },
        { ...engineDeps(context), send: access.send },
      );
      done({
        ...row,
        outcome: await settle(async () => checkResponse(await callExample(tools, tool, example, context))),
      });
    }
  }
}

async function settle(run: () => Promise<ExampleOutcome>): Promise<ExampleOutcome> {
  try {
    return await run();
  } catch (error) {
    return toFailure(error);
  }
}

function engineDeps(context: CliContext): Omit<Parameters<typeof createToolpackSource>[1], "send"> {
  return {
    now: context.now,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    random: Math.random,
    version,
  };
}

function hostOf({ request }: ToolspecExample): string {
  return /^https:\/\/([^/?#]*)/.exec(request.url)?.[1]?.toLowerCase() ?? "";
}

function printRow({ output }: CliContext, { toolspec, tool, example, outcome }: Row): void {
  const name = safeLine(`${toolspec} ${tool} ${example}`);
  if (outcome.kind === "skipped") output.print(`${output.style("dim", "skip")} ${name}: ${outcome.reason}`);
  if (outcome.kind === "passed")
    output.print(
      `${output.style("green", "ok")}   ${name}${outcome.note === undefined ? "" : ` (${outcome.note})`}`,
    );
  if (outcome.kind !== "failed") return;
  output.print(`${output.style("red", "FAIL")} ${name}: ${safeText(outcome.reason)}`);
  for (const { part, expected, actual } of outcome.differences) {
    output.print(`  ${part}`, ...linesOf("-", expected), ...linesOf("+", actual));
  }
}

function linesOf(mark: string, text: string): string[] {
  return safeText(text)
    .split("\n")
    .map((line) => `    ${mark} ${line}`);
}

function summarize({ output }: CliContext, pairs: readonly CatalogPair[], rows: readonly Row[]): ExitCode {
  const count = (kind: ExampleOutcome["kind"]) => rows.filter(({ outcome }) => outcome.kind === kind).length;
  const bare = pairs.flatMap(({ toolspec }) =>
    toolspec.tools.filter(({ examples = [] }) => examples.length === 0),
  ).length;
  const counts = {
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    toolsWithoutExample: bare,
  };
  output.print(
    "",
    `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped${bare === 0 ? "" : `; ${bare} ${bare === 1 ? "tool has" : "tools have"} no example`}`,
  );
  output.json({
    ok: counts.failed === 0,
    ...counts,
    examples: rows.map(({ outcome, ...row }) => ({ ...row, ...outcome })),
  });
  return counts.failed === 0 ? exitCodes.done : exitCodes.failed;
}
