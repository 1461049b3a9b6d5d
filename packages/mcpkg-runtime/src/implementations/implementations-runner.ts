/**
 * Runs a tool by the best of its implementations. One that cannot be started gives way to the next
 * one; one that started and failed is the result. Each run reports which implementation it was, and
 * which ones gave way.
 */

import { join } from "node:path";
import type { JsonObject } from "@toolcrib/json";
import { parseCommand } from "@toolcrib/mcpkg";
import type { CallContext, ToolResult } from "@toolcrib/tool";
import { type EndpointRunner, NotStarted } from "../endpoint-runner.ts";
import { createHttpRunner, type HttpRunnerDeps } from "../http/http-runner.ts";
import { createLocalRunner, type LocalRunnerDeps } from "../local/local-runner.ts";
import { McpkgRuntimeError } from "../runtime-error.ts";
import { createStarlarkRunner, type StarlarkRunnerDeps } from "../starlark/starlark-runner.ts";
import type { Verdict } from "./select.ts";

/** The implementation that ran a call. */
export interface ImplementationRun {
  readonly callId: string;
  /** Id of the implementation that ran; undefined where none could be started. */
  readonly implementation: string | undefined;
  /** Those that could not be started before it. */
  readonly passedOver: readonly { readonly id: string; readonly reason: string }[];
}

/** Dependencies of the implementations of one package. */
export interface ImplementationsDeps {
  readonly toolId: string;
  /** Folder of the package. */
  readonly folder: string;
  readonly http: (endpointUrl: string) => HttpRunnerDeps;
  readonly local: LocalRunnerDeps;
  readonly starlark: StarlarkRunnerDeps;
  /** Called for each run of a package that has implementations. */
  readonly onRun: ((run: ImplementationRun) => void) | undefined;
}

/** Creates the runner of `verdicts`, of which only those that can be used run. */
export function createImplementationsRunner(
  verdicts: readonly Verdict[],
  deps: ImplementationsDeps,
): EndpointRunner {
  const usable = verdicts
    .filter(({ isUsable }) => isUsable)
    .map((verdict) => ({ id: verdict.candidate.id, runner: runnerOf(verdict, deps) }));
  return {
    async run(args, context) {
      const passedOver: { id: string; reason: string }[] = [];
      for (const { id, runner } of usable) {
        context.signal.throwIfAborted();
        if (passedOver.length > 0) context.recheck?.();
        const result = await tryRun(runner, args, context);
        if (!(result instanceof NotStarted)) {
          deps.onRun?.({ callId: context.callId, implementation: id, passedOver });
          return result;
        }
        passedOver.push({ id, reason: result.message });
      }
      deps.onRun?.({ callId: context.callId, implementation: undefined, passedOver });
      throw notStarted(deps.toolId, passedOver);
    },
  };
}

async function tryRun(
  runner: EndpointRunner,
  args: JsonObject,
  context: CallContext,
): Promise<ToolResult | NotStarted> {
  try {
    return await runner.run(args, context);
  } catch (error) {
    if (error instanceof NotStarted) return error;
    throw error;
  }
}

function notStarted(toolId: string, passedOver: ImplementationRun["passedOver"]): McpkgRuntimeError {
  const [only] = passedOver;
  const message =
    passedOver.length === 1 && only !== undefined
      ? `"${toolId}" could not be started: ${only.reason}`
      : `"${toolId}" could not be started: ${passedOver.map(({ id, reason }) => `${id}: ${reason}`).join("; ")}`;
  return new McpkgRuntimeError("PACKAGE_NOT_STARTED", message, {
    hint: `toolcrib info ${toolId} --why explains what it needs`,
  });
}

function runnerOf({ candidate, program }: Verdict, deps: ImplementationsDeps): EndpointRunner {
  const { endpoint } = candidate;
  const { toolId, folder } = deps;
  switch (endpoint.type) {
    case "http":
      return createHttpRunner(toolId, endpoint, deps.http(endpoint.url));
    case "local": {
      const command = parseCommand(endpoint.command);
      if (command.kind === "invalid") throw unusable(toolId, command.reason);
      const start =
        command.kind === "file"
          ? { command: join(folder, command.path), args: command.args }
          : { command: program ?? command.runtime, args: command.args };
      return createLocalRunner(endpoint, start, deps.local);
    }
    case "starlark":
      return createStarlarkRunner(toolId, endpoint, deps.starlark);
  }
}

function unusable(toolId: string, reason: string): McpkgRuntimeError {
  return new McpkgRuntimeError("PACKAGE_UNUSABLE", `"${toolId}" cannot run: ${reason}`);
}
