/**
 * Runs saved tools: prepares the arguments, checks the approval, and runs the
 * program with the permissions of the caller, and of its owner until the operator
 * approves it (ownership.ts). The program sees only the tools that it was approved
 * for, even when other tools have taken their names since. Each of its inner calls is
 * checked against these permissions.
 */

import type { JsonObject } from "@toolcrib/json";
import type { SavedTool } from "@toolcrib/store";
import type { CallContext, ToolResult } from "@toolcrib/tool";
import type { Catalog } from "../run/catalog.ts";
import { toolsById } from "../run/catalog-index.ts";
import type { CompositeCache } from "../run/composite-cache.ts";
import { toArgumentsError } from "../run/composite-error.ts";
import type { CompositeError } from "../run/outcome.ts";
import { prepareArguments } from "../run/prepare-arguments.ts";
import { type CompositeDeps, type CompositeRequest, runComposite } from "../run/run-composite.ts";
import { createDryRun, takeDryRun } from "../test/dry-run.ts";
import { notFound, pendingError } from "./approval.ts";
import { toErrorResponse, toResponse } from "./envelope.ts";
import type { MetatoolDeps, MetatoolOptions } from "./metatool.ts";
import { contextOf } from "./ownership.ts";
import { Assessment, type SavedEntry } from "./saved-entries.ts";

/** Runs saved tools. */
export class SavedRunner {
  readonly #context: MetatoolDeps;
  readonly #options: MetatoolOptions;
  readonly #compositeDeps: CompositeDeps;
  readonly #narrow = new NarrowCatalogs();

  constructor(context: MetatoolDeps, options: MetatoolOptions, cache: CompositeCache) {
    this.#context = context;
    this.#options = options;
    this.#compositeDeps = { ...context, cache };
  }

  /** Answers a call. @throws {MetatoolError} `METATOOL_NOT_FOUND` */
  async execute(name: string, given: JsonObject, outer: CallContext): Promise<ToolResult> {
    const { validator, now } = this.#context;
    const saved = await this.#context.saved.get(name);
    if (saved === undefined) throw notFound(name);
    await this.#context.host.untilListed?.(outer, saved.code);
    // The program that runs is the one whose approval is checked: `saved` is not read again.
    const context = await this.contextFor(saved, outer);
    const { isDryRun, args } = takeDryRun(saved.inputSchema, given, context.meta);
    const prepared = prepareArguments(validator, saved.inputSchema, args);
    if (prepared.kind === "invalid") return toErrorResponse(toArgumentsError(prepared.problems));
    const { params } = prepared;
    const entry = this.#entryOf(saved);
    if (isDryRun) return this.#dryRun(entry, params, context);
    const refusal = await this.#refusalOf(entry);
    if (refusal !== undefined) return toErrorResponse(refusal);
    this.#context.saved.recordExecution(name, now());
    const catalog = this.#catalogOf(entry, context);
    const { code } = saved;
    const request = { name, code, params, catalog, context, options: this.#options.execution };
    return toResponse(await runComposite(request, this.#compositeDeps));
  }

  /** Returns why a tool may not run now. */
  refusal(saved: SavedTool): Promise<CompositeError | undefined> {
    return this.#refusalOf(this.#entryOf(saved));
  }

  /** Returns the context in which the program runs, with the permissions that it has. */
  contextFor(saved: SavedTool, context: CallContext): Promise<CallContext> {
    return contextOf(saved, context, this.#context.approvals);
  }

  /** Returns the tools that the program can call. */
  catalogFor(saved: SavedTool, context: CallContext): Catalog {
    return this.#catalogOf(this.#entryOf(saved), context);
  }

  #entryOf(saved: SavedTool): SavedEntry {
    return new Assessment(this.#context, []).entryOf(saved);
  }

  #catalogOf({ reach }: SavedEntry, context: CallContext): Catalog {
    const whole = this.#context.wholeCatalog();
    if (!reach.dynamic) return this.#narrow.select(whole, reach.tools);
    const own = this.#sharedCatalog(whole, context);
    const ownById = toolsById(own);
    const missing = reach.tools.filter((id) => !ownById.has(id));
    if (missing.length === 0) return own;
    // The program compiles with the names that it uses; calling one of them is then denied to this caller.
    return this.#narrow.select(whole, [...own.tools.map(({ id }) => id), ...missing]);
  }

  /** Returns the tools that the caller and the owners around the call find. */
  #sharedCatalog(whole: Catalog, { identity, owners = [] }: CallContext): Catalog {
    const { host } = this.#context;
    const own = host.catalog(identity);
    if (owners.length === 0) return own;
    const others = owners.map((owner) => toolsById(host.catalog(owner)));
    const shared = own.tools.filter(({ id }) => others.every((byId) => byId.has(id)));
    return this.#narrow.select(
      whole,
      shared.map(({ id }) => id),
    );
  }

  async #refusalOf(entry: SavedEntry): Promise<CompositeError | undefined> {
    if (entry.growth.length === 0) return missingTools(entry, this.#context.wholeCatalog());
    // Another process may have approved the tool.
    await this.#context.approvals.refresh();
    const current = this.#entryOf(entry.saved);
    const { growth, saved } = current;
    if (growth.length > 0) return pendingError(this.#context, saved.name, growth);
    return missingTools(current, this.#context.wholeCatalog());
  }

  async #dryRun(entry: SavedEntry, params: JsonObject, context: CallContext): Promise<ToolResult> {
    const { saved } = entry;
    const catalog = this.#catalogOf(entry, context);
    const { replies, nowNs } = createDryRun(saved, params, context, this.#context);
    const options = this.#options.execution;
    const request: CompositeRequest = { ...saved, params, catalog, context, options, replies };
    const deps = this.#compositeDeps;
    return toResponse(
      await runComposite(request, nowNs === undefined ? deps : { ...deps, nowNs: () => nowNs }),
    );
  }
}

/** Returns the error for a program that cannot be compiled because some of its tools do not exist now. */
function missingTools({ reach, saved }: SavedEntry, whole: Catalog): CompositeError | undefined {
  const byId = toolsById(whole);
  const absent = reach.tools.filter((id) => !byId.has(id));
  const [first] = absent;
  if (first === undefined) return undefined;
  return {
    type: "tool_error",
    message: `"${saved.name}" calls tools that are not available: ${absent.slice(0, 10).join(", ")}`,
    details: {
      tool: first,
      absent,
      hint: "the server may be starting or down, or the tool was removed: try again, or save a program without it",
    },
  };
}

/** Maximum number of narrow catalogues of one whole catalogue. */
const maxNarrow = 1000;

/** Catalogues of some of the tools. Returns the same object while nothing changes, so that its names are indexed once. */
class NarrowCatalogs {
  readonly #cached = new WeakMap<Catalog, Map<string, Catalog>>();

  select(whole: Catalog, ids: readonly string[]): Catalog {
    const known = this.#cached.get(whole) ?? new Map<string, Catalog>();
    this.#cached.set(whole, known);
    const key = ids.join("\n");
    const found = known.get(key);
    if (found !== undefined) return found;
    const byId = toolsById(whole);
    const tools = ids.flatMap((id) => byId.get(id) ?? []);
    const narrow = { generation: whole.generation, tools };
    if (known.size >= maxNarrow) known.clear();
    known.set(key, narrow);
    return narrow;
  }
}
