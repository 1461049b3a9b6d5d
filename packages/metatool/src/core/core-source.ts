/**
 * The core tools of document 003 as a source: save, list, show, test and delete
 * composite tools, run one once, and describe the language. They check their own
 * arguments, so that one answer reports every problem.
 */

import { messageOf, nearestName } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { SavedTool } from "@toolcrib/store";
import {
  type CallContext,
  type Health,
  type Identity,
  identityKey,
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
import { type SavedTestDeps, testSavedTool, toTestError, toTestResult } from "../test/test-saved-tool.ts";
import { retainApproval } from "./approved-reach.ts";
import { coreDefinitions, coreToolNames } from "./core-definitions.ts";
import { describeLanguage } from "./describe-language.ts";
import { toErrorResponse, toJsonResult, toResponse } from "./envelope.ts";
import type { MetatoolDeps, MetatoolOptions } from "./metatool.ts";
import { isListed, mayChange, notOwnerError, ownerOf } from "./ownership.ts";
import { ToolSaver } from "./save-tool.ts";
import { Assessment, factsToJson, toSavedId } from "./saved-entries.ts";
import type { SavedRunner } from "./saved-runner.ts";
import { digestCode } from "./tool-facts.ts";

const sourceId = "metatool";
const namespace = "toolcrib";

const tools: readonly Tool[] = coreDefinitions.map((definition) => ({
  id: toToolId(namespace, definition.name),
  namespace,
  tags: normalizeTags(["meta"]),
  origin: "meta",
  sourceId,
  definition,
}));

/** The source of the core tools. */
export class CoreSource implements ToolSource {
  readonly id = sourceId;
  readonly origin = "meta";
  readonly checksArguments = true;
  readonly #context: MetatoolDeps;
  readonly #options: MetatoolOptions;
  readonly #cache: CompositeCache;
  readonly #saver: ToolSaver;
  readonly #testDeps: SavedTestDeps;
  readonly #health: Health;

  constructor(context: MetatoolDeps, options: MetatoolOptions, cache: CompositeCache, runner: SavedRunner) {
    this.#context = context;
    this.#options = options;
    this.#cache = cache;
    this.#saver = new ToolSaver(context, cache);
    this.#health = { state: "ready", since: context.now() };
    this.#testDeps = {
      composite: { ...context, cache },
      validator: context.validator,
      saved: context.saved,
      options: options.execution,
      now: context.now,
      catalogFor: (saved, call) => runner.catalogFor(saved, call),
      contextFor: (saved, call) => runner.contextFor(saved, call),
      refusal: (saved) => runner.refusal(saved),
    };
  }

  async start(): Promise<void> {}

  tools(): readonly Tool[] {
    return tools;
  }

  onChange(): () => void {
    return () => {};
  }

  health(): Health {
    return this.#health;
  }

  async call({ definition }: Tool, given: JsonObject, context: CallContext): Promise<ToolResult> {
    const code = String(given["code"] ?? "");
    if (catalogTools.includes(definition.name)) await this.#context.host.untilListed?.(context, code);
    if (definition.name === coreToolNames.save) return this.#saver.save(given, context);
    const prepared = prepareArguments(this.#context.validator, definition.inputSchema, given);
    if (prepared.kind === "invalid") return toErrorResponse(toArgumentsError(prepared.problems));
    const args = prepared.params;
    switch (definition.name) {
      case coreToolNames.list:
        return this.#list(context);
      case coreToolNames.show:
        return this.#show(String(args["name"]), context);
      case coreToolNames.delete:
        return this.#delete(String(args["name"]), context);
      case coreToolNames.test:
        return this.#test(args, context);
      case coreToolNames.evaluate: {
        const params = isJsonObject(args["params"]) ? args["params"] : {};
        return this.#evaluate(String(args["code"]), params, context);
      }
      default: {
        const { tools: part } = args;
        const catalog = this.#context.host.catalog(context.identity);
        return textResult(describeLanguage(catalog, part?.toString()));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Returns the saved tools that the caller may see. */
  async #visible({ identity }: CallContext): Promise<readonly SavedTool[]> {
    const all = await this.#context.saved.list();
    const { approvals, mayUse } = this.#context;
    return all.filter(
      (tool) => mayUse(identity, toSavedId(tool.name), tool.name) && isListed(tool, identity, approvals),
    );
  }

  async #list(context: CallContext): Promise<ToolResult> {
    const listed = (await this.#visible(context)).map(
      ({ name, description, inputSchema, metadata }): JsonObject => {
        const { created, modified } = metadata;
        return { name, description, created, modified, inputSchema };
      },
    );
    return toJsonResult({ tools: listed }, listed);
  }

  async #show(name: string, context: CallContext): Promise<ToolResult> {
    const all = await this.#visible(context);
    const saved = all.find((one) => one.name === name);
    if (saved === undefined) return toErrorResponse(unknownName(name, all));
    const { description, inputSchema, code, metadata } = saved;
    const assessment = new Assessment(this.#context, this.#context.saved.current());
    const facts = factsToJson(assessment.entryOf(saved));
    const hidden = mayChange(saved, context.identity) ? [] : this.#hiddenFrom(context.identity, facts);
    return toJsonResult({
      version: "1.0",
      name,
      description,
      inputSchema,
      code: hidden.length === 0 ? code : "# not shown: the program calls tools that you may not use",
      metadata: { ...metadata },
      ...facts,
      ...(hidden.length === 0 ? undefined : withoutTools(facts, hidden)),
    });
  }

  /** Returns the tools in a reach that `identity` does not see. */
  #hiddenFrom(identity: Identity, { reach }: JsonObject): readonly JsonValue[] {
    const own: ReadonlySet<unknown> = new Set(this.#context.host.catalog(identity).tools.map(({ id }) => id));
    return (reach as readonly JsonValue[]).filter((id) => !own.has(id));
  }

  async #delete(name: string, context: CallContext): Promise<ToolResult> {
    const { saved, onEvent, onWarning } = this.#context;
    const all = await this.#visible(context);
    const known = all.find((one) => one.name === name);
    if (known !== undefined && !mayChange(known, context.identity))
      return toErrorResponse(notOwnerError(name));
    const deleted = known && (await saved.delete(name, { expectedModified: known.metadata.modified }));
    if (deleted === undefined) return toErrorResponse(unknownName(name, all));
    // The approval is in the store already, unless an earlier version wrote the file.
    await retainApproval(this.#context, deleted).catch((error: unknown) => {
      onWarning({ tool: name, reason: messageOf(error) }, "the approval of a deleted tool could not be kept");
    });
    const codeDigest = digestCode(deleted.code);
    onEvent({
      type: "tool.deleted",
      tool: toSavedId(name),
      context,
      owner: ownerOf(deleted.toolcrib),
      codeDigest,
      reach: [],
    });
    return toJsonResult({ name, deleted: true });
  }

  async #test(args: JsonObject, context: CallContext): Promise<ToolResult> {
    const name = String(args["name"]);
    const all = await this.#visible(context);
    const known = all.find((one) => one.name === name);
    if (known === undefined) return toErrorResponse(unknownName(name, all));
    const isChange = args["record"] === true || args["cases"] !== undefined;
    if (isChange && !mayChange(known, context.identity)) return toErrorResponse(notOwnerError(name));
    try {
      const outcome = await testSavedTool(args, context, this.#testDeps);
      return outcome.kind === "refused" ? toErrorResponse(outcome.error) : toTestResult(outcome);
    } catch (error) {
      const refused = toTestError(error);
      if (refused === undefined) throw error;
      return toErrorResponse(refused);
    }
  }

  async #evaluate(code: string, params: JsonObject, context: CallContext): Promise<ToolResult> {
    const cache = this.#cache;
    const catalog = this.#context.host.catalog(context.identity);
    const name = "eval";
    const turn = this.#context.turns?.start(identityKey(context.identity));
    if (turn !== undefined) await turn;
    const { diagnostics } = analyseComposite(code, catalog, { name, cache });
    if (diagnostics.some(({ severity }) => severity === "error")) {
      return toErrorResponse(toSyntaxError(diagnostics, { name: `${name}.star`, text: code }));
    }
    const outcome = await runComposite(
      { name, code, params, catalog, context, options: this.#options.execution },
      { ...this.#context, cache },
    );
    return toResponse(outcome);
  }
}

/** The tools whose answer depends on the tools of other sources. */
const catalogTools: readonly string[] = [
  coreToolNames.save,
  coreToolNames.test,
  coreToolNames.evaluate,
  coreToolNames.language,
];

/** Returns the facts that come from tools, without those of `hidden` tools. */
function withoutTools({ reach }: JsonObject, hidden: readonly JsonValue[]): JsonObject {
  const shown = (reach as readonly JsonValue[]).filter((id) => !hidden.includes(id));
  return { reach: shown, labels: {}, egressHosts: [] };
}

function unknownName(name: string, known: readonly SavedTool[]): CompositeError {
  const near = nearestName(
    name,
    known.map((one) => one.name),
  );
  const hint = near === undefined ? "list_saved_tools returns the names" : `did you mean ${near}?`;
  const message = `No saved tool is named ${JSON.stringify(name.slice(0, 100))}`;
  return { type: "validation_error", message, details: { name: name.slice(0, 100), hint } };
}
