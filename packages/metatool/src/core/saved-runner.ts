/**
 * One call of a saved tool: its arguments prepared, its approval looked at, its
 * program run with the authority of the caller. The program is given the tools
 * that it was approved for and no others, whatever has come to bear their names
 * since; whether its caller may call each of them is judged at each call.
 */

import type { JsonObject } from "@toolcrib/json";
import type { CallContext, ToolResult } from "@toolcrib/tool";
import type { Catalog } from "../run/catalog.ts";
import { toolsById } from "../run/catalog-index.ts";
import type { CompositeCache } from "../run/composite-cache.ts";
import { toArgumentsError } from "../run/composite-error.ts";
import type { CompositeError } from "../run/outcome.ts";
import { prepareArguments } from "../run/prepare-arguments.ts";
import { type CompositeDeps, type CompositeRequest, runComposite } from "../run/run-composite.ts";
import type { SavedTool } from "../saved/saved-tool.ts";
import { createDryRun, takeDryRun } from "../test/dry-run.ts";
import { askForApproval, grantApproval, notFound, pendingError } from "./approval.ts";
import { toErrorResponse, toResponse } from "./envelope.ts";
import type { MetatoolDeps, MetatoolOptions } from "./metatool.ts";
import { createAssessment, type SavedEntry } from "./saved-entries.ts";

/** Runs saved tools. */
export interface SavedRunner {
  /** Answer a call. @throws {MetatoolError} `METATOOL_NOT_FOUND` */
  execute(name: string, args: JsonObject, context: CallContext): Promise<ToolResult>;
  /** Why a tool may not be run now; asks for its approval where there is somebody to ask. */
  refusal(saved: SavedTool, context: CallContext): Promise<CompositeError | undefined>;
  /** The tools that a program finds. */
  catalogFor(saved: SavedTool, context: CallContext): Catalog;
}

/** Create the runner. */
export function createSavedRunner(
  deps: MetatoolDeps,
  { execution }: MetatoolOptions,
  cache: CompositeCache,
): SavedRunner {
  const narrow = createNarrowCatalogs();
  const compositeDeps: CompositeDeps = { ...deps, cache };

  const entryOf = (saved: SavedTool) => createAssessment(deps.wholeCatalog(), [])(saved);

  function catalogOf({ reach }: SavedEntry, context: CallContext): Catalog {
    const whole = deps.wholeCatalog();
    if (!reach.dynamic) return narrow(whole, reach.tools);
    const own = deps.host.catalog(context.identity);
    const ownById = toolsById(own);
    const missing = reach.tools.filter((id) => !ownById.has(id));
    // What it names it may name, and is then told that its caller may not call it.
    return missing.length === 0 ? own : narrow(whole, [...own.tools.map(({ id }) => id), ...missing]);
  }

  async function refusalOf(entry: SavedEntry, context: CallContext): Promise<CompositeError | undefined> {
    const { growth, saved } = entry;
    if (growth.length > 0) {
      const isApproved = context.depth === 0 && (await askForApproval(context, saved.name, growth));
      if (!isApproved) return pendingError(saved.name, growth);
      await grantApproval(deps, entry, context);
    }
    return absentTools(entry, deps.wholeCatalog());
  }

  async function dryRun(entry: SavedEntry, params: JsonObject, context: CallContext): Promise<ToolResult> {
    const { saved } = entry;
    const catalog = catalogOf(entry, context);
    const { replies, nowNs } = createDryRun(saved, params, context, deps);
    const request: CompositeRequest = { ...saved, params, catalog, context, options: execution, replies };
    const outcome = await runComposite(
      request,
      nowNs === undefined ? compositeDeps : { ...compositeDeps, nowNs: () => nowNs },
    );
    return toResponse(outcome);
  }

  return {
    async execute(name, given, context) {
      const saved = await deps.saved.get(name);
      if (saved === undefined) throw notFound(name);
      const { isDryRun, args } = takeDryRun(saved.inputSchema, given, context.meta);
      const prepared = prepareArguments(deps.validator, saved.inputSchema, args);
      if (prepared.kind === "invalid") return toErrorResponse(toArgumentsError(prepared.problems));
      const { params } = prepared;
      const entry = entryOf(saved);
      if (isDryRun) return dryRun(entry, params, context);
      const refusal = await refusalOf(entry, context);
      if (refusal !== undefined) return toErrorResponse(refusal);
      deps.saved.recordExecution(name, deps.now());
      const catalog = catalogOf(entry, context);
      const { code } = saved;
      const request: CompositeRequest = { name, code, params, catalog, context, options: execution };
      return toResponse(await runComposite(request, compositeDeps));
    },
    refusal: (saved, context) => refusalOf(entryOf(saved), context),
    catalogFor: (saved, context) => catalogOf(entryOf(saved), context),
  };
}

/** The error for a program that cannot be compiled because its tools are not all there. */
function absentTools({ reach, saved }: SavedEntry, whole: Catalog): CompositeError | undefined {
  const there = toolsById(whole);
  const absent = reach.tools.filter((id) => !there.has(id));
  const [first] = absent;
  if (first === undefined) return undefined;
  return {
    type: "tool_error",
    message: `"${saved.name}" calls what is not there now: ${absent.slice(0, 10).join(", ")}`,
    details: {
      tool: first,
      absent,
      hint: "the server may be starting or down, or the tool is gone: try again, or save a program without it",
    },
  };
}

/** Most narrow catalogues kept for one whole one. */
const maxNarrow = 1000;

/** Makes catalogues of some of the tools; the same object while nothing changes, so that names are ordered once. */
function createNarrowCatalogs(): (whole: Catalog, ids: readonly string[]) => Catalog {
  const kept = new WeakMap<Catalog, Map<string, Catalog>>();
  return (whole, ids) => {
    const known = kept.get(whole) ?? new Map<string, Catalog>();
    kept.set(whole, known);
    const key = ids.join("\n");
    const found = known.get(key);
    if (found !== undefined) return found;
    const byId = toolsById(whole);
    const tools = ids.flatMap((id) => byId.get(id) ?? []);
    const narrow = { generation: whole.generation, tools };
    if (known.size >= maxNarrow) known.clear();
    known.set(key, narrow);
    return narrow;
  };
}
