/**
 * One call of a saved tool: its arguments prepared, its approval looked at, its
 * program run with the authority of the caller. The program is given the tools
 * that it was approved for and no others, whatever has come to bear their names
 * since; whether its caller may call each of them is judged at each call.
 */

import type { JsonObject } from "@toolcrib/json";
import type { CallContext, ToolResult } from "@toolcrib/tool";
import type { Catalog } from "../run/catalog.ts";
import type { CompositeCache } from "../run/composite-cache.ts";
import { toArgumentsError } from "../run/composite-error.ts";
import type { CompositeError } from "../run/outcome.ts";
import { prepareArguments } from "../run/prepare-arguments.ts";
import { runComposite } from "../run/run-composite.ts";
import { askForApproval, grantApproval, notFound, pendingError } from "./approval.ts";
import { toErrorResponse, toResponse } from "./envelope.ts";
import type { MetatoolDeps, MetatoolOptions } from "./metatool.ts";
import { createAssessment, type SavedEntry } from "./saved-entries.ts";

/** Runs saved tools by name. */
export type ExecuteSaved = (name: string, args: JsonObject, context: CallContext) => Promise<ToolResult>;

/** Create the runner of saved tools. */
export function createExecuteSaved(
  deps: MetatoolDeps,
  { execution }: MetatoolOptions,
  cache: CompositeCache,
): ExecuteSaved {
  const narrow = createNarrowCatalogs();

  function catalogFor({ reach }: SavedEntry, whole: Catalog, context: CallContext): Catalog {
    if (!reach.dynamic) return narrow(whole, reach.tools);
    const own = deps.host.catalog(context.identity);
    const missing = new Set(reach.tools);
    for (const { id } of own.tools) missing.delete(id);
    // What it names it may name, and is then told that its caller may not call it.
    return missing.size === 0 ? own : narrow(whole, [...own.tools.map(({ id }) => id), ...missing]);
  }

  return async (name, args, context) => {
    const saved = await deps.saved.get(name);
    if (saved === undefined) throw notFound(name);
    const whole = deps.wholeCatalog();
    const entry = createAssessment(whole, [])(saved);
    if (entry.growth.length > 0) {
      const isApproved = context.depth === 0 && (await askForApproval(context, name, entry.growth));
      if (!isApproved) return toErrorResponse(pendingError(name, entry.growth));
      await grantApproval(deps, entry, context);
    }
    const prepared = prepareArguments(deps.validator, saved.inputSchema, args);
    if (prepared.kind === "invalid") return toErrorResponse(toArgumentsError(prepared.problems));
    const absent = absentTools(entry, whole);
    if (absent !== undefined) return toErrorResponse(absent);
    deps.saved.recordExecution(name, deps.now());
    const outcome = await runComposite(
      {
        name,
        code: saved.code,
        params: prepared.params,
        catalog: catalogFor(entry, whole, context),
        context,
        options: execution,
      },
      { ...deps, cache },
    );
    return toResponse(outcome);
  };
}

/** The error for a program whose tools are not all there, for none of which it can be compiled. */
function absentTools({ reach, saved }: SavedEntry, whole: Catalog): CompositeError | undefined {
  const there = new Set(whole.tools.map(({ id }) => id));
  const absent = reach.tools.filter((id) => !there.has(id));
  if (absent.length === 0) return undefined;
  return {
    type: "tool_error",
    message: `"${saved.name}" calls what is not there now: ${absent.slice(0, 10).join(", ")}`,
    details: {
      tool: absent[0] as string,
      absent,
      hint: "the server may be starting or down, or the tool is gone: try again, or save a program without it",
    },
  };
}

/** Most narrow catalogues kept for one whole one. */
const maxNarrow = 1000;

/** Catalogues of some of the tools; the same object as long as nothing changes, so that names are ordered once. */
function createNarrowCatalogs(): (whole: Catalog, ids: readonly string[]) => Catalog {
  const kept = new WeakMap<Catalog, Map<string, Catalog>>();
  return (whole, ids) => {
    const known = kept.get(whole) ?? new Map<string, Catalog>();
    kept.set(whole, known);
    const key = ids.join("\n");
    let narrow = known.get(key);
    if (narrow === undefined) {
      const wanted = new Set(ids);
      narrow = { generation: whole.generation, tools: whole.tools.filter(({ id }) => wanted.has(id)) };
      if (known.size >= maxNarrow) known.clear();
      known.set(key, narrow);
    }
    return narrow;
  };
}
