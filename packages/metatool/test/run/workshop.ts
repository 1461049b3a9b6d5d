/**
 * A small host for composites: a catalogue of functions as tools, and inner calls that
 * run them one level deeper, as a gateway does.
 */

import type { EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { CodedError } from "@toolcrib/diagnostics";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { type Catalog, type CatalogTool, CompositeCache, runComposite } from "@toolcrib/metatool";
import { clientCall } from "@toolcrib/testing";
import {
  type CallContext,
  type ToolAnnotations,
  type ToolResult,
  textResult,
  toToolId,
} from "@toolcrib/tool";

type CompositeRequest = Parameters<typeof runComposite>[0];

type CompositeDeps = Parameters<typeof runComposite>[1];

/** The outcome of one run. */
export type CompositeOutcome = Awaited<ReturnType<typeof runComposite>>;

/** The function of a tool. Its value becomes `structuredContent`; a `ToolResult` is returned unchanged. */
export type Work = (
  args: JsonObject,
  context: CallContext,
) => JsonValue | ToolResult | Promise<JsonValue | ToolResult>;

/** One tool of a workshop. */
export interface WorkshopTool {
  readonly work: Work;
  readonly inputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  readonly labels?: Readonly<Record<string, string>>;
  readonly isComposite?: boolean;
}

/** Tools that return, fail, are denied, and wait. @param waiting emits `call` for each call of the tool `a.wait` */
export function sampleTools(waiting: EventEmitter): { readonly [id: string]: Work | WorkshopTool } {
  return {
    "github.searchIssues": {
      work: ({ query }) => [{ id: 7, title: String(query) }],
      inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    },
    "my-server.list": () => [1, 2],
    "sad.fail": () => textResult("no such issue", true),
    "sad.denied": () => {
      throw new CodedError("POLICY_DENIED", "You may not");
    },
    "a.wait": async ({ n }) => {
      waiting.emit("call");
      // A cancelled tool is not waited for.
      await delay(Number(n), undefined, { ref: false });
      return n as JsonValue;
    },
  };
}

/** A host over functions, by `namespace.name`. */
export interface Workshop {
  readonly catalog: Catalog;
  readonly deps: CompositeDeps;
  /** Ids of the tools that were called, in order. */
  readonly called: string[];
  run(code: string, request?: RunRequest, more?: Partial<CompositeDeps>): Promise<CompositeOutcome>;
}

/** Options of a run. */
export interface RunRequest extends Partial<Omit<CompositeRequest, "code" | "options">> {
  readonly options?: Partial<CompositeRequest["options"]>;
}

/** Default options. */
export const defaultOptions: CompositeRequest["options"] = {
  timeoutMs: 30_000,
  memoryBytes: 128 * 1024 * 1024,
  steps: 10_000_000,
  callDepth: 200,
  toolCalls: 100,
  parallelWidth: 8,
  logBytes: 65_536,
  resultBytes: 1_048_576,
  debug: false,
  isolation: "none",
};

/** Creates a workshop. */
export function setUpWorkshop(tools: { readonly [name: string]: Work | WorkshopTool }): Workshop {
  const called: string[] = [];
  const works = new Map<string, Work>();
  const catalog: Catalog = {
    generation: 1,
    tools: Object.entries(tools).map(([name, given]) => {
      const tool = typeof given === "function" ? { work: given } : given;
      const listed = toCatalogTool(name, tool);
      works.set(listed.id, tool.work);
      return listed;
    }),
  };
  const deps: CompositeDeps = {
    host: {
      catalog: () => catalog,
      isNameTaken: () => false,
      async callTool(context, id, args) {
        called.push(id);
        const work = works.get(id);
        if (work === undefined) throw new CodedError("TOOL_NOT_FOUND", `No tool has the id "${id}"`);
        const inner = { ...context, parentId: context.callId, depth: context.depth + 1 };
        return toResult(await work(args, inner));
      },
    },
    monotonicMs: () => performance.now(),
    nowNs: () => 1_700_000_000_000_000_000n,
    nextTurn: () => delay(0),
    startTimer(delayMs, callback) {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
    cache: new CompositeCache(),
  };
  return {
    catalog,
    deps,
    called,
    run: (code, { options, ...request } = {}, more = {}) =>
      runComposite(
        {
          name: "test",
          code,
          params: {},
          catalog,
          context: clientCall(),
          options: { ...defaultOptions, ...options },
          ...request,
        },
        { ...deps, ...more },
      ),
  };
}

function toCatalogTool(dotted: string, tool: WorkshopTool): CatalogTool {
  const dot = dotted.indexOf(".");
  const namespace = dot === -1 ? "" : dotted.slice(0, dot);
  const name = dotted.slice(dot + 1);
  const isBare = namespace === "" || tool.isComposite === true;
  return {
    id: toToolId(namespace, name),
    namespace,
    name,
    wireName: isBare ? name : `${namespace}__${name}`,
    isComposite: tool.isComposite === true,
    inputSchema: tool.inputSchema ?? { type: "object" },
    annotations: tool.annotations,
    labels: tool.labels ?? {},
  };
}

function toResult(done: JsonValue | ToolResult): ToolResult {
  if (isToolResult(done)) return done;
  return { ...textResult(JSON.stringify(done)), structuredContent: done };
}

function isToolResult(done: JsonValue | ToolResult): done is ToolResult {
  return typeof done === "object" && done !== null && "content" in done && Array.isArray(done["content"]);
}
