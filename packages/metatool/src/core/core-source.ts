/**
 * The core tools of document 003 as a source: save, list, show, test and
 * delete composite tools, run one once, and say how they are written. They check their
 * own arguments, so that everything that is wrong is told at once.
 */

import { nearestName } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import {
  type CallContext,
  type Health,
  normalizeTags,
  type Tool,
  type ToolResult,
  type ToolSource,
  textResult,
  toToolId,
} from "@toolcrib/tool";
import { analyseComposite } from "../run/analyse/analyse-composite.ts";
import type { CompositeCache } from "../run/composite-cache.ts";
import { toArgumentsError, toSyntaxError } from "../run/composite-error.ts";
import type { CompositeError } from "../run/outcome.ts";
import { prepareArguments } from "../run/prepare-arguments.ts";
import { runComposite } from "../run/run-composite.ts";
import type { SavedTool } from "../saved/saved-tool.ts";
import { type SavedTestDeps, testSavedTool, toTestError, toTestResult } from "../test/test-saved-tool.ts";
import { coreDefinitions, coreToolNames } from "./core-definitions.ts";
import { describeLanguage } from "./describe-language.ts";
import { toErrorResponse, toJsonResult, toResponse } from "./envelope.ts";
import type { MetatoolDeps, MetatoolOptions } from "./metatool.ts";
import { ToolSaver } from "./save-tool.ts";
import { createAssessment, factsToJson, toSavedId } from "./saved-entries.ts";
import type { SavedRunner } from "./saved-runner.ts";
import { digestCode } from "./tool-facts.ts";

/** Create the source of the core tools. */
export function createCoreSource(
  deps: MetatoolDeps,
  options: MetatoolOptions,
  cache: CompositeCache,
  runner: SavedRunner,
): ToolSource {
  const sourceId = "metatool";
  const namespace = "toolcrib";
  const health: Health = { state: "ready", since: deps.now() };
  const saver = new ToolSaver(deps, cache);
  const tools: readonly Tool[] = coreDefinitions.map((definition) => ({
    id: toToolId(namespace, definition.name),
    namespace,
    tags: normalizeTags(["meta"]),
    origin: "meta",
    sourceId,
    definition,
  }));

  const testDeps: SavedTestDeps = {
    composite: { ...deps, cache },
    validator: deps.validator,
    saved: deps.saved,
    options: options.execution,
    now: deps.now,
    catalogFor: runner.catalogFor,
    refusal: runner.refusal,
  };

  /** The saved tools that the caller may see. */
  async function visible({ identity }: CallContext): Promise<readonly SavedTool[]> {
    const all = await deps.saved.list();
    return all.filter(({ name }) => deps.mayUse(identity, toSavedId(name), name));
  }

  async function list(context: CallContext): Promise<ToolResult> {
    const listed = (await visible(context)).map(
      ({ name, description, inputSchema, metadata }): JsonObject => {
        const { created, modified } = metadata;
        return { name, description, created, modified, inputSchema };
      },
    );
    return toJsonResult({ tools: listed }, listed);
  }

  async function show(name: string, context: CallContext): Promise<ToolResult> {
    const all = await visible(context);
    const saved = all.find((one) => one.name === name);
    if (saved === undefined) return toErrorResponse(unknownName(name, all));
    const { description, inputSchema, code, metadata } = saved;
    return toJsonResult({
      version: "1.0",
      name,
      description,
      inputSchema,
      code,
      metadata: { ...metadata },
      ...factsToJson(createAssessment(deps.wholeCatalog(), deps.saved.current())(saved)),
    });
  }

  async function remove(name: string, context: CallContext): Promise<ToolResult> {
    const all = await visible(context);
    const known = all.find((one) => one.name === name);
    const removed = known === undefined ? undefined : await deps.saved.delete(name);
    if (removed === undefined) return toErrorResponse(unknownName(name, all));
    saver.forget(removed);
    const codeDigest = digestCode(removed.code);
    deps.onEvent({ type: "tool.deleted", tool: toSavedId(name), context, codeDigest, reach: [] });
    return toJsonResult({ name, deleted: true });
  }

  async function runTests(args: JsonObject, context: CallContext): Promise<ToolResult> {
    const name = String(args["name"]);
    const all = await visible(context);
    if (!all.some((one) => one.name === name)) return toErrorResponse(unknownName(name, all));
    try {
      const outcome = await testSavedTool(args, context, testDeps);
      return outcome.kind === "refused" ? toErrorResponse(outcome.error) : toTestResult(outcome);
    } catch (error) {
      const refused = toTestError(error);
      if (refused === undefined) throw error;
      return toErrorResponse(refused);
    }
  }

  async function evaluate(code: string, params: JsonObject, context: CallContext): Promise<ToolResult> {
    const catalog = deps.host.catalog(context.identity);
    const name = "eval";
    const { diagnostics } = analyseComposite(code, catalog, { name, cache });
    if (diagnostics.some(({ severity }) => severity === "error")) {
      return toErrorResponse(toSyntaxError(diagnostics, { name: `${name}.star`, text: code }));
    }
    const outcome = await runComposite(
      { name, code, params, catalog, context, options: options.execution },
      { ...deps, cache },
    );
    return toResponse(outcome);
  }

  return {
    id: sourceId,
    origin: "meta",
    checksArguments: true,
    start: async () => {},
    tools: () => tools,
    onChange: () => () => {},
    health: () => health,
    async call({ definition }, given, context) {
      if (definition.name === coreToolNames.save) return saver.save(given, context);
      const prepared = prepareArguments(deps.validator, definition.inputSchema, given);
      if (prepared.kind === "invalid") return toErrorResponse(toArgumentsError(prepared.problems));
      const args = prepared.params;
      switch (definition.name) {
        case coreToolNames.list:
          return list(context);
        case coreToolNames.show:
          return show(String(args["name"]), context);
        case coreToolNames.delete:
          return remove(String(args["name"]), context);
        case coreToolNames.test:
          return runTests(args, context);
        case coreToolNames.evaluate: {
          const params = isJsonObject(args["params"]) ? args["params"] : {};
          return evaluate(String(args["code"]), params, context);
        }
        default: {
          const { tools: part } = args;
          return textResult(describeLanguage(deps.host.catalog(context.identity), part?.toString()));
        }
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}

function unknownName(name: string, known: readonly SavedTool[]): CompositeError {
  const near = nearestName(
    name,
    known.map((one) => one.name),
  );
  const hint = near === undefined ? "list_saved_tools gives the names" : `did you mean ${near}?`;
  const message = `No saved tool is named ${JSON.stringify(name.slice(0, 100))}`;
  return { type: "validation_error", message, details: { name: name.slice(0, 100), hint } };
}
