/**
 * Runs the Starlark programs of packages: within the limits of composites, which share memory and turns with
 * saved tools, and with the tools that the package declares and no others. Each inner call is a call of the
 * host, whose parent is the call of the package, with the permissions of its caller.
 */

import type { JsonObject } from "@toolcrib/json";
import type { CallContext, Identity, ToolId } from "@toolcrib/tool";
import type { MetatoolDeps, MetatoolOptions } from "../core/metatool.ts";
import type { Catalog } from "../run/catalog.ts";
import { toolsById } from "../run/catalog-index.ts";
import { toArgumentsError } from "../run/composite-error.ts";
import type { CompositeError, CompositeOutcome } from "../run/outcome.ts";
import { prepareArguments } from "../run/prepare-arguments.ts";
import { type CompositeDeps, runComposite } from "../run/run-composite.ts";
import { declaredCatalog } from "./declared-catalog.ts";
import { type ProgramRecording, replayProgram } from "./replay-program.ts";

/** A program of a package. */
export interface PackageProgram {
  readonly toolId: string;
  readonly code: string;
  readonly inputSchema: JsonObject;
  /** Ids of the only tools that it can call, which the operator approved. */
  readonly tools: readonly ToolId[];
  /** Longest time of a run in milliseconds, where it is shorter than that of composites. @default that of composites */
  readonly timeoutMs?: number | undefined;
  /** Replies to its calls, and its time (`TestCase.now`), of a test that is replayed. @default its calls are made */
  readonly recorded?: ProgramRecording | undefined;
}

/** Dependencies of the runner. */
export type PackageRunnerDeps = CompositeDeps &
  Pick<MetatoolDeps, "wholeCatalog" | "validator" | "wireNameOf">;

/** Most catalogues of declared tools that are kept for one catalogue of all tools. */
const catalogsMaxCount = 1000;
/** Most missing tools in one message. */
const shownMax = 10;

/** Runs programs of packages. */
export class PackageRunner {
  readonly #deps: PackageRunnerDeps;
  readonly #options: MetatoolOptions;
  readonly #catalogs = new WeakMap<Catalog, Map<string, Catalog>>();

  constructor(deps: PackageRunnerDeps, options: MetatoolOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Runs a program to its end. Errors of the program are outcomes. @param args the arguments of the call, which the schema need not allow */
  async run(program: PackageProgram, args: JsonObject, context: CallContext): Promise<CompositeOutcome> {
    const { toolId: name, code, inputSchema, tools, timeoutMs = Number.POSITIVE_INFINITY } = program;
    const { host, validator } = this.#deps;
    await host.untilListed?.(context, `${code}\n${tools.join("\n")}`);
    const prepared = prepareArguments(validator, inputSchema, args);
    if (prepared.kind === "invalid") return failure(toArgumentsError(prepared.problems));
    const missing = this.#missing(tools, context.identity);
    if (missing !== undefined) return failure(missing);
    const { execution } = this.#options;
    const options = { ...execution, timeoutMs: Math.min(execution.timeoutMs, timeoutMs) };
    const catalog = this.#catalogOf(tools);
    const run = { name, code, params: prepared.params, catalog, context, options };
    if (program.recorded === undefined) return await runComposite(run, this.#deps);
    return await replayProgram(run, program.recorded, this.#deps);
  }

  /** Returns the error for tools that the caller does not find: to it, those that it may not call do not exist. */
  #missing(tools: readonly ToolId[], identity: Identity): CompositeError | undefined {
    const own = this.#deps.host.catalog(identity);
    const byId = toolsById(own);
    const absent = tools.filter((id) => !byId.has(id));
    const [first] = absent;
    if (first === undefined) return undefined;
    const shown = absent.slice(0, shownMax).map((id) => {
      const reason = own.explain?.(id);
      return reason === undefined ? id : `${id} (${reason})`;
    });
    const more = absent.length > shownMax ? ` and ${absent.length - shownMax} more` : "";
    const what = absent.length === 1 ? "a tool that does not exist" : "tools that do not exist";
    return {
      type: "tool_error",
      message: `It was not started: it needs ${what} here: ${shown.join(", ")}${more}`,
      details: {
        tool: first,
        absent: absent.slice(0, shownMax),
        hint: "add the servers or packages of these tools, and check that they are ready: toolcrib status",
      },
    };
  }

  #catalogOf(tools: readonly ToolId[]): Catalog {
    const { wholeCatalog, wireNameOf } = this.#deps;
    const whole = wholeCatalog();
    const known = this.#catalogs.get(whole) ?? new Map<string, Catalog>();
    this.#catalogs.set(whole, known);
    const key = tools.join("\n");
    const found = known.get(key);
    if (found !== undefined) return found;
    const catalog = declaredCatalog(tools, wireNameOf, whole);
    if (known.size >= catalogsMaxCount) known.clear();
    known.set(key, catalog);
    return catalog;
  }
}

function failure(error: CompositeError): CompositeOutcome {
  return { kind: "error", error, logs: [], executionTime: 0, toolCalls: [], steps: 0 };
}
