/**
 * Serves tool sources over MCP, each with a prefix of its tools' names. It applies no policy:
 * the engine is a tool server, and a gateway in front of it governs its calls.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import {
  invalidRequest,
  type McpService,
  metaOf,
  methodNotFound,
  rpcCodes,
  type ServerInfo,
  type ServiceRequest,
} from "@toolcrib/mcp";
import { type CallContext, failedResult, type Tool, type ToolSource } from "@toolcrib/tool";
import { CliError } from "../cli-error.ts";

/** A source, and what is written before the names of its tools. */
export interface ServedSource {
  readonly source: ToolSource;
  /** Empty where the tools have their own names. */
  readonly prefix: string;
}

/** Dependencies of the service. */
export interface ToolpackServiceDeps {
  readonly serverInfo: ServerInfo;
  readonly instructions: string | undefined;
  readonly sources: readonly ServedSource[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns a new unique id for a call. */
  readonly newCallId: () => string;
}

/** A tool under the name that clients see. */
interface ServedTool extends Pick<ServedSource, "source"> {
  readonly tool: Tool;
  readonly name: string;
}

/** Time limit of a call if the source has none, in milliseconds. */
const deadlineMs = 30_000;

/** Creates the service. */
export function createToolpackService(deps: ToolpackServiceDeps): McpService {
  const listTools = (): readonly ServedTool[] =>
    deps.sources.flatMap(({ source, prefix }) =>
      source.tools().map((tool) => ({ tool, source, name: `${prefix}${tool.definition.name}` })),
    );
  const findTool = (wanted: unknown) => listTools().find(({ name }) => name === wanted);

  async function callTool(request: ServiceRequest): Promise<JsonObject> {
    const { name, arguments: args = {} } = request.params;
    const found = findTool(name);
    if (found === undefined)
      throw invalidRequest(`Unknown tool: "${String(name).slice(0, 100)}"`, rpcCodes.invalidParams);
    if (!isJsonObject(args)) throw invalidRequest('"arguments" must be an object', rpcCodes.invalidParams);
    const { tool, source } = found;
    const callId = deps.newCallId();
    using deadline = startDeadline(tool, source.deadlineMs?.(tool) ?? deadlineMs);
    const signal = AbortSignal.any([request.signal, deadline.signal]);
    const context = toContext(request, callId, signal, deps.now() + deadline.ms);
    try {
      return (await source.call(tool, args, context)) as unknown as JsonObject;
    } catch (error) {
      // The caller is gone, so no result can be sent.
      if (request.signal.aborted) throw error;
      return toFailedResult(tool, error, callId);
    }
  }

  return {
    serverInfo: deps.serverInfo,
    capabilities: () => ({ tools: {} }),
    instructions: () => deps.instructions,
    async handle(request) {
      if (request.method === "tools/call") return callTool(request);
      if (request.method !== "tools/list") throw methodNotFound(request.method);
      return {
        tools: listTools().map(({ tool, name }) => ({ ...tool.definition, name }) as unknown as JsonObject),
      };
    },
    sessionOpened() {},
    sessionClosed() {},
    // The tools never change.
    listen: async () => ({}),
    toolInputSchema: (_view, _identity, name) => findTool(name)?.tool.definition.inputSchema,
  };
}

function startDeadline({ definition }: Tool, ms: number): { signal: AbortSignal; ms: number } & Disposable {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(
      new CliError("CLI_TIMEOUT", `"${definition.name}" did not answer within ${ms / 1000} s`),
    );
  }, ms);
  return { signal: controller.signal, ms, [Symbol.dispose]: () => clearTimeout(timer) };
}

function toContext(
  request: ServiceRequest,
  callId: string,
  signal: AbortSignal,
  deadline: number,
): CallContext {
  const { identity, era, session, wantsProgress } = request;
  return {
    callId,
    depth: 0,
    identity,
    era,
    signal,
    deadline,
    meta: metaOf(request.params),
    session,
    wantsProgress,
    progress: (params) => request.progress(params),
    notify: (method, params) => request.notify(method, params),
    ask: (method, params, askSignal) => request.ask(method, params, askSignal),
  };
}

/** Converts an error to a result, so that the model sees the reason and the hint. */
function toFailedResult({ definition }: Tool, error: unknown, callId: string): JsonObject {
  const failure = isCodedError(error)
    ? error
    : { code: "CLI_INTERNAL", message: `"${definition.name}" failed: ${messageOf(error)}` };
  return failedResult(failure, callId) as unknown as JsonObject;
}
