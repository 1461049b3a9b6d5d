/**
 * A manifest and its toolspec as a source of tools: a call is planned, sent,
 * and its response mapped. It reaches no network but through `send`, follows no
 * address that a response names beyond the same host, and holds no secret but
 * what `tokenOf` hands it for one call.
 */

import { isCodedError, nearestName } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import {
  type CallContext,
  failedResult,
  type Health,
  normalizeTags,
  type Tool,
  type ToolResult,
  type ToolSource,
  toToolId,
} from "@toolcrib/tool";
import {
  argumentName,
  egressPatterns,
  type FilledCredential,
  type HttpResponse,
  type Manifest,
  mapResponse,
  nextPage,
  type PageAnswer,
  placedCredentials,
  planRequest,
  type RequestPlan,
  selectionPaths,
  type Toolspec,
  ToolspecError,
  type ToolspecTool,
  toolDefinitions,
  toParamNames,
} from "@toolcrib/toolspec";
import { type ExchangeDeps, exchange } from "./exchange.ts";
import { type CompiledPath, compilePath, createSelect } from "./json-path.ts";
import { notePage, type PageNote } from "./page-note.ts";
import { ToolpackError } from "./toolpack-error.ts";

/** What is served, and under which name. */
export interface ToolpackSettings {
  /** Namespace of the tools, and id of the source. @default the name of the manifest */
  readonly id?: string;
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
  /** Values of the variables of base URLs and paths. @default the defaults in the toolspec */
  readonly variables?: { readonly [name: string]: string };
  /** Path parameters whose slashes are kept, as `tool.parameter`. @default none */
  readonly reserved?: readonly string[];
  /** Names of the tools that are served. @default those that the manifest has with `default: true` */
  readonly tools?: readonly string[];
  /** What stands for a credential in requests: a placeholder, or the secret itself. It is asked for each call. */
  tokenOf(credentialId: string): string;
}

/** What a source takes from its surroundings. */
export interface ToolpackDeps extends ExchangeDeps {
  /** Version of Toolcrib, for `User-Agent`. */
  readonly version: string;
}

/** Milliseconds that a call may take, with all that it sends again. */
const callTimeoutMs = 30_000;

/** Faults of the arguments: a model mends them, so that they are results. */
const argumentFaults: ReadonlySet<string> = new Set([
  "TOOLSPEC_ARGUMENT_INVALID",
  "TOOLSPEC_REQUEST_TOO_LARGE",
  "TOOLSPEC_VALUE_HOSTILE",
]);

/**
 * Create the source of one toolspec. It is ready at once.
 *
 * @throws {ToolpackError} `TOOLPACK_TOOL_UNKNOWN`, `TOOLPACK_PATH_INVALID`
 */
export function createToolpackSource(settings: ToolpackSettings, deps: ToolpackDeps): ToolSource {
  const { manifest, toolspec } = settings;
  const id = settings.id ?? manifest.name;
  const entries = new Map(
    servedTools(settings).map(({ definition, tool }) => [
      definition.name,
      { tool, listed: toTool(id, manifest, definition) },
    ]),
  );
  const paths = compilePaths([...entries.values()].map(({ tool }) => tool));
  const tools = [...entries.values()].map(({ listed }) => listed);
  const health: Health = { state: "ready", since: deps.now() };
  const placed = placedCredentials(manifest, toolspec);
  const egress = egressPatterns(manifest);

  function plan(tool: ToolspecTool, args: JsonObject, credentials: readonly FilledCredential[]): RequestPlan {
    return planRequest(tool, toolspec, args, {
      egress,
      credentials,
      reserved: settings.reserved,
      variables: settings.variables,
      userAgent: `toolcrib/${deps.version}`,
    });
  }

  async function call(tool: ToolspecTool, given: JsonObject, context: CallContext): Promise<ToolResult> {
    const { signal, callId } = context;
    const deadline = Math.min(context.deadline, deps.now() + callTimeoutMs);
    const credentials = placed.map((one) => ({ ...one, token: settings.tokenOf(one.id) }));
    const planned = tryPlan(() => plan(tool, given, credentials), callId);
    if (planned.kind === "refused") return planned.result;
    const args = toParamNames(tool, given);
    const request = { tool, plan: planned.plan, credentials, signal, deadline, callId };
    const { response, url, refusal } = await exchange(request, deps);
    const { result, note } = mapSelected(tool, response, `toolspec:${id}/${tool.name}`, paths);
    const isDone = result.isError !== true;
    const page = isDone ? pageNoteOf(tool, { args, url, response }, paths) : undefined;
    const notes = [refusal === undefined ? undefined : `[${refusal}]`, note, page?.text].filter(
      (text) => text !== undefined,
    );
    const content = [...result.content, ...notes.map((text) => ({ type: "text", text }))];
    return page?.meta === undefined ? { ...result, content } : { ...result, content, _meta: page.meta };
  }

  return {
    id,
    origin: "toolspec",
    // Texts that are exact numbers count as numbers, which their schema would refuse.
    checksArguments: true,
    deadlineMs: () => callTimeoutMs,
    start: async () => {},
    tools: () => tools,
    onChange: () => () => {},
    health: () => health,
    async call({ definition }, args, context) {
      const entry = entries.get(definition.name);
      if (entry === undefined) throw unknownTool(definition.name, [...entries.keys()], toolspec);
      try {
        return await call(entry.tool, args, context);
      } catch (error) {
        if (context.signal.aborted) throw context.signal.reason;
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}

/**
 * Definitions of what is served and of nothing else: of a thousand tools a test serves one at a time.
 *
 * @throws {ToolpackError} `TOOLPACK_TOOL_UNKNOWN`
 */
function servedTools({ manifest, toolspec, tools }: ToolpackSettings): ReturnType<typeof toolDefinitions> {
  const names = toolspec.tools.map(({ name }) => name);
  const known = new Set(names);
  const unknown = tools?.find((name) => !known.has(name));
  if (unknown !== undefined) throw unknownTool(unknown, names, toolspec);
  const defaults = (manifest.tools ?? []).filter((tool) => tool.default === true);
  const served = new Set(tools ?? defaults.map(({ name }) => name));
  return toolDefinitions(
    { ...toolspec, tools: toolspec.tools.filter(({ name }) => served.has(name)) },
    manifest,
  );
}

function unknownTool(name: string, names: readonly string[], { name: spec }: Toolspec): ToolpackError {
  const near = nearestName(name, names);
  return new ToolpackError(
    "TOOLPACK_TOOL_UNKNOWN",
    `The toolspec "${spec}" has no tool ${JSON.stringify(name)}`,
    {
      hint: near === undefined ? "the names are in its manifest" : `did you mean ${near}?`,
    },
  );
}

type Definition = ReturnType<typeof toolDefinitions>[number]["definition"];

/** Without a version: the namespace says which API, and there is one of it. */
function toTool(id: string, { category }: Manifest, definition: Definition): Tool {
  return {
    id: toToolId(id, definition.name),
    namespace: id,
    tags: normalizeTags(category === undefined ? [] : [category]),
    origin: "toolspec",
    sourceId: id,
    definition,
  };
}

/** Compiled paths by their texts. */
type Paths = ReadonlyMap<string, CompiledPath>;

/** @throws {ToolpackError} `TOOLPACK_PATH_INVALID` */
function compilePaths(tools: readonly ToolspecTool[]): Paths {
  const texts = tools.flatMap(({ response = {}, pagination }) => [
    ...selectionPaths(response),
    ...[pagination?.next, pagination?.total].filter((text) => text !== undefined),
  ]);
  return new Map([...new Set(texts)].map((text) => [text, compilePath(text)]));
}

type Planned =
  | { readonly kind: "planned"; readonly plan: RequestPlan }
  | { readonly kind: "refused"; readonly result: ToolResult };

/** @throws {ToolspecError} where the fault is not that of the arguments */
function tryPlan(plan: () => RequestPlan, callId: string): Planned {
  try {
    return { kind: "planned", plan: plan() };
  } catch (error) {
    if (!(error instanceof ToolspecError) || !argumentFaults.has(error.code)) throw error;
    return { kind: "refused", result: failedResult(error, callId) };
  }
}

/** The response mapped; as a whole, with a note, where the selection of its part takes too long. */
function mapSelected(
  tool: ToolspecTool,
  response: HttpResponse,
  uri: string,
  paths: Paths,
): { readonly result: ReturnType<typeof mapResponse>["result"]; readonly note: string | undefined } {
  try {
    const select = createSelect(paths);
    return { result: mapResponse(tool, response, { uri, select }).result, note: undefined };
  } catch (error) {
    if (!isCodedError(error)) throw error;
    // What the service did, it did: its answer is not lost for want of a selection.
    return {
      result: mapResponse(tool, response, { uri }).result,
      note: `[the whole response: ${error.message}]`,
    };
  }
}

/** What is said of the next page; that nothing is known of it, where finding it takes too long. */
function pageNoteOf(tool: ToolspecTool, answer: PageAnswer, paths: Paths): PageNote | undefined {
  try {
    const next = nextPage(tool, answer, createSelect(paths));
    return next === undefined ? undefined : notePage(answer.args, next, (param) => argumentName(tool, param));
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return { text: `[there may be more results: ${error.message}]`, meta: undefined };
  }
}
