/**
 * A source of tools from a manifest and its toolspec: plans a call, sends it, and
 * maps the response. Accesses the network only through `send`, follows URLs of a
 * response on the same host only, and never keeps a token of `tokenOf` beyond one
 * call.
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

/** The tools to serve, and their namespace. */
export interface ToolpackSettings {
  /** Namespace of the tools, and id of the source. @default the name of the manifest */
  readonly id?: string;
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
  /** Values for the variables of base URLs and paths. @default the defaults in the toolspec */
  readonly variables?: { readonly [name: string]: string };
  /** Path parameters that keep their slashes, as `tool.parameter`. @default none */
  readonly reserved?: readonly string[];
  /** Names of the tools to serve. @default those with `default: true` in the manifest */
  readonly tools?: readonly string[];
  /** Returns the text for a credential in requests: a placeholder, or the secret itself. Called for each call. */
  tokenOf(credentialId: string): string;
}

/** The dependencies of a source. */
export interface ToolpackDeps extends ExchangeDeps {
  /** Version of Toolcrib, for `User-Agent`. */
  readonly version: string;
}

/** Milliseconds of a call, including its retries. @limit client */
const callTimeoutMs = 30_000;

/** Errors in the arguments. They become results, since a model can correct its arguments. */
const argumentFaults: ReadonlySet<string> = new Set([
  "TOOLSPEC_ARGUMENT_INVALID",
  "TOOLSPEC_REQUEST_TOO_LARGE",
  "TOOLSPEC_VALUE_HOSTILE",
]);

/**
 * Creates the source of one toolspec. It is ready at once.
 *
 * @throws {ToolpackError} `TOOLPACK_TOOL_UNKNOWN`, `TOOLPACK_PATH_INVALID`
 */
export function createToolpackSource(settings: ToolpackSettings, deps: ToolpackDeps): ToolSource {
  return new ToolpackSource(settings, deps);
}

/** A tool of the toolspec, and its entry in the list of tools. */
interface ServedTool {
  readonly tool: ToolspecTool;
  readonly listed: Tool;
}

class ToolpackSource implements ToolSource {
  readonly id: string;
  readonly origin = "toolspec";
  /** Texts that are exact numbers count as numbers, which the schema of an argument would refuse. */
  readonly checksArguments = true;
  readonly #settings: ToolpackSettings;
  readonly #deps: ToolpackDeps;
  /** The tools to serve, whose definitions are made when they are first listed. */
  readonly #chosen: readonly ToolspecTool[];
  #made: ReadonlyMap<string, ServedTool> | undefined;
  #tools: readonly Tool[] | undefined;
  readonly #paths: Paths;
  readonly #health: Health;
  readonly #placed: ReturnType<typeof placedCredentials>;
  readonly #egress: ReturnType<typeof egressPatterns>;

  constructor(settings: ToolpackSettings, deps: ToolpackDeps) {
    const { manifest, toolspec } = settings;
    const id = settings.id ?? manifest.name;
    this.id = id;
    this.#settings = settings;
    this.#deps = deps;
    this.#chosen = chosenTools(settings);
    this.#paths = compilePaths(this.#chosen);
    this.#health = { state: "ready", since: deps.now() };
    this.#placed = placedCredentials(manifest, toolspec);
    this.#egress = egressPatterns(manifest);
  }

  deadlineMs(): number {
    return callTimeoutMs;
  }

  async start(): Promise<void> {}

  tools(): readonly Tool[] {
    this.#tools ??= [...this.#served.values()].map(({ listed }) => listed);
    return this.#tools;
  }

  onChange(): () => void {
    return () => {};
  }

  health(): Health {
    return this.#health;
  }

  /** Waits for nothing before it first sends a request. */
  async call(
    { definition }: Tool,
    args: JsonObject,
    context: CallContext,
    beforeSend?: () => void,
  ): Promise<ToolResult> {
    const served = this.#served.get(definition.name);
    if (served === undefined)
      throw unknownTool(definition.name, [...this.#served.keys()], this.#settings.toolspec);
    try {
      return await this.#call(served.tool, args, context, beforeSend);
    } catch (error) {
      if (context.signal.aborted) throw context.signal.reason;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** The definitions of the served tools only: a toolspec can have a thousand tools. */
  get #served(): ReadonlyMap<string, ServedTool> {
    if (this.#made !== undefined) return this.#made;
    const { manifest, toolspec } = this.#settings;
    const definitions = toolDefinitions({ ...toolspec, tools: this.#chosen }, manifest);
    this.#made = new Map(
      definitions.map(({ definition, tool }) => [
        definition.name,
        { tool, listed: toTool(this.id, manifest, definition, tool) },
      ]),
    );
    return this.#made;
  }

  async #call(
    tool: ToolspecTool,
    given: JsonObject,
    context: CallContext,
    beforeRepeat: (() => void) | undefined,
  ): Promise<ToolResult> {
    const { signal, callId } = context;
    const deadline = Math.min(context.deadline, this.#deps.now() + callTimeoutMs);
    const credentials = this.#placed.map((one) => ({ ...one, token: this.#settings.tokenOf(one.id) }));
    const planned = tryPlan(() => this.#plan(tool, given, credentials), callId);
    if (planned.kind === "refused") return planned.result;
    const args = toParamNames(tool, given);
    const request = { tool, plan: planned.plan, credentials, signal, deadline, callId, beforeRepeat };
    const { response, url, refusal } = await exchange(request, this.#deps);
    const paths = this.#paths;
    const { result, note } = mapSelected(tool, response, `toolspec:${this.id}/${tool.name}`, paths);
    const isDone = result.isError !== true;
    const page = isDone ? pageNoteOf(tool, { args, url, response }, paths) : undefined;
    const notes = [refusal === undefined ? undefined : `[${refusal}]`, note, page?.text].filter(
      (text) => text !== undefined,
    );
    const content = [...result.content, ...notes.map((text) => ({ type: "text", text }))];
    return page?.meta === undefined ? { ...result, content } : { ...result, content, _meta: page.meta };
  }

  #plan(tool: ToolspecTool, args: JsonObject, credentials: readonly FilledCredential[]): RequestPlan {
    const { toolspec, reserved, variables } = this.#settings;
    return planRequest(tool, toolspec, args, {
      egress: this.#egress,
      credentials,
      reserved,
      variables,
      userAgent: `toolcrib/${this.#deps.version}`,
    });
  }
}

/** @throws {ToolpackError} `TOOLPACK_TOOL_UNKNOWN` */
function chosenTools({ manifest, toolspec, tools }: ToolpackSettings): readonly ToolspecTool[] {
  const names = toolspec.tools.map(({ name }) => name);
  const known = new Set(names);
  const unknown = tools?.find((name) => !known.has(name));
  if (unknown !== undefined) throw unknownTool(unknown, names, toolspec);
  const defaults = (manifest.tools ?? []).filter((tool) => tool.default === true);
  const served = new Set(tools ?? defaults.map(({ name }) => name));
  return toolspec.tools.filter(({ name }) => served.has(name));
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

/** Converts a definition. The id has no version: the namespace names the API, and there is one version of it. */
function toTool(id: string, { category }: Manifest, definition: Definition, tool: ToolspecTool): Tool {
  const examples = exampleTextsOf(tool);
  return {
    id: toToolId(id, definition.name),
    namespace: id,
    tags: normalizeTags(category === undefined ? [] : [category]),
    origin: "toolspec",
    sourceId: id,
    definition,
    ...(examples.length === 0 ? {} : { examples }),
  };
}

/** Maximum number of texts and of characters of each. */
const exampleTextsMax = 50;
const exampleTextMaxChars = 500;

/** Returns what the examples of a tool are about, and the texts among their arguments that have words: not ids and dates. */
function exampleTextsOf({ examples = [] }: ToolspecTool): readonly string[] {
  const texts = examples.flatMap(({ description = "", args }) => [description, ...Object.values(args)]);
  return texts
    .filter((text) => typeof text === "string")
    .filter((text) => text.length <= exampleTextMaxChars && /^[^\d/]*\p{L}{2}[^\d/]*\s[^\d/]*$/u.test(text))
    .slice(0, exampleTextsMax);
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

/** @throws {ToolspecError} for an error that is not in the arguments */
function tryPlan(plan: () => RequestPlan, callId: string): Planned {
  try {
    return { kind: "planned", plan: plan() };
  } catch (error) {
    if (!(error instanceof ToolspecError) || !argumentFaults.has(error.code)) throw error;
    return { kind: "refused", result: failedResult(error, callId) };
  }
}

/** Maps a response; maps the whole response, with a note, if the selection takes too many steps. */
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
    // The service has carried out the request, so its answer must not be lost.
    return {
      result: mapResponse(tool, response, { uri }).result,
      note: `[the whole response: ${error.message}]`,
    };
  }
}

/** Returns the note about the next page; a note that it is unknown, if finding it takes too many steps. */
function pageNoteOf(tool: ToolspecTool, answer: PageAnswer, paths: Paths): PageNote | undefined {
  try {
    const next = nextPage(tool, answer, createSelect(paths));
    return next === undefined ? undefined : notePage(answer.args, next, (param) => argumentName(tool, param));
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return { text: `[there may be more results: ${error.message}]`, meta: undefined };
  }
}
