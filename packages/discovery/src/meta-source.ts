/**
 * Toolcrib's own tools: find a tool, describe it, call it. With them a client
 * needs three definitions instead of thousands. They show and call only the
 * tools that their caller may use. One more reads the rest of a long result, and one is offered while tools wait
 * for the operator's approval: it explains why they are missing.
 */

import type { WaitingServer } from "@toolcrib/admission";
import type { JsonObject } from "@toolcrib/json";
import { ListenerSet } from "@toolcrib/lifecycle";
import {
  type CallContext,
  type Health,
  type Identity,
  metaToolNames,
  normalizeTags,
  type SourceChange,
  type Tool,
  type ToolDefinition,
  type ToolResult,
  type ToolSource,
  textResult,
  toToolId,
  type Unsubscribe,
} from "@toolcrib/tool";
import { readMoreDefinition } from "./read-more.ts";

/** A tool that a search found. */
export interface FoundTool {
  readonly name: string;
  readonly score: number;
  /** The words of the query that matched and the fields. */
  readonly why: readonly string[];
  readonly description?: string | undefined;
  /** The tool in one line (`signatureOf`). */
  readonly signature: string;
}

/** Operations of the gateway that the meta-tools use. */
export interface MetaSourceDeps {
  /** Searches for the client of a call. */
  search(
    context: CallContext,
    query: string,
    limit: number,
  ): readonly FoundTool[] | Promise<readonly FoundTool[]>;
  /** The tool that `identity` may see under `name`, as it is on the wire. @throws {GatewayError} the reason why there is none */
  describe(identity: Identity, name: string): ToolDefinition;
  /** Makes an inner call of the meta-tool's call. @throws {CodedError} when it does not exist or fails */
  callTool(context: CallContext, name: string, args: JsonObject): Promise<ToolResult>;
  /** Waits until the lists of the sources are known; undefined when there is nothing to wait for. */
  untilListed(context: CallContext): Promise<unknown> | undefined;
  /** Whether an endpoint cuts results, so that `read_more` is of use. */
  readonly cutsResults: boolean;
  /** Returns the part of a long result that `cursor` names. @throws {CodedError} when there is none */
  readMore(context: CallContext, cursor: string): ToolResult;
  /** The servers with definitions that wait for approval, as far as `identity` may see them. */
  waiting(identity: Identity): readonly WaitingServer[];
  /** The command by which the operator approves. */
  readonly approveCommand: string;
  readonly now: () => number;
}

const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const definitions: readonly ToolDefinition[] = [
  {
    name: metaToolNames.search,
    title: "Search tools",
    description:
      "Find tools by what they do. Returns signatures with short descriptions, best first: name(argument: type, optional?: type) -> result. Describe a tool where its signature leaves a question open.",
    inputSchema: {
      type: "object",
      properties: {
        query: {
          type: "string",
          minLength: 1,
          maxLength: 2000,
          description: "What the tool should do, in a few words",
        },
        limit: { type: "integer", minimum: 1, maximum: 50, default: 10, description: "Most results" },
      },
      required: ["query"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        tools: {
          type: "array",
          items: {
            type: "object",
            properties: {
              name: { type: "string" },
              signature: { type: "string" },
              description: { type: "string" },
              score: { type: "number" },
              why: { type: "array", items: { type: "string" } },
            },
            required: ["name", "score", "why"],
          },
        },
      },
      required: ["tools"],
    },
    annotations: { title: "Search tools", ...readOnly },
  },
  {
    name: metaToolNames.describe,
    title: "Describe a tool",
    description: "The full definition of a tool: description, input schema, output schema, annotations.",
    inputSchema: {
      type: "object",
      properties: { name: { type: "string", minLength: 1, description: "Name as search_tools gives it" } },
      required: ["name"],
      additionalProperties: false,
    },
    annotations: { title: "Describe a tool", ...readOnly },
  },
  {
    name: metaToolNames.call,
    title: "Call a tool",
    description: "Call a tool by name with its arguments. The result is the tool's own.",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1, description: "Name as search_tools gives it" },
        arguments: { type: "object", description: "Arguments that fit the tool's input schema", default: {} },
      },
      required: ["name"],
      additionalProperties: false,
    },
    annotations: { title: "Call a tool", readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
];

const waitingDefinition: ToolDefinition = {
  name: metaToolNames.waiting,
  title: "List servers that wait for approval",
  description:
    "The servers whose tools, prompts or resources are not offered yet, because the operator has not approved them, and how the operator does that. Use it when a tool that the user expects is missing.",
  inputSchema: { type: "object", properties: {}, additionalProperties: false },
  annotations: { title: "List servers that wait for approval", ...readOnly },
};

/** Longest description in a search result. */
const summaryMaxLength = 300;

/** The source of the meta-tools. */
export class MetaSource implements ToolSource {
  readonly id = "toolcrib";
  readonly origin = "meta";
  readonly returnsQuestions = true;
  readonly #deps: MetaSourceDeps;
  readonly #health: Health;
  readonly #listeners = new ListenerSet<[SourceChange]>();
  #always: readonly Tool[] = [];
  #cutsResults: boolean | undefined;
  #waiting: Tool | undefined;
  #waitingState = "";

  constructor(deps: MetaSourceDeps) {
    this.#deps = deps;
    this.#health = { state: "ready", since: deps.now() };
    this.cutResults(deps.cutsResults);
  }

  /** Offers `read_more` where an endpoint cuts results. */
  cutResults(cutsResults: boolean): void {
    if (cutsResults === this.#cutsResults) return;
    this.#cutsResults = cutsResults;
    const offered = cutsResults ? [...definitions, readMoreDefinition] : definitions;
    this.#always = offered.map((definition) => this.#toTool(definition));
    this.#listeners.emit({ kind: "tools" });
  }

  /** Offers `list_waiting_servers` to the clients that see one of the servers that wait, or no longer. */
  setWaiting(servers: readonly WaitingServer[]): void {
    const state = JSON.stringify(servers);
    if (state === this.#waitingState) return;
    this.#waitingState = state;
    // Another tool each time: for whom it is listed can have changed.
    const listedFor = (identity: Identity) => this.#deps.waiting(identity).length > 0;
    this.#waiting = servers.length === 0 ? undefined : { ...this.#toTool(waitingDefinition), listedFor };
    this.#listeners.emit({ kind: "tools" });
  }

  async start(): Promise<void> {}

  tools(): readonly Tool[] {
    return this.#waiting === undefined ? this.#always : [...this.#always, this.#waiting];
  }

  onChange(listener: (change: SourceChange) => void): Unsubscribe {
    return this.#listeners.add(listener);
  }

  health(): Health {
    return this.#health;
  }

  async call(tool: Tool, args: JsonObject, context: CallContext): Promise<ToolResult> {
    const { name } = tool.definition;
    // A call waits for the server of its tool only, and what is read exists already.
    const waitsForNone = name === metaToolNames.call || name === metaToolNames.readMore;
    const waiting = waitsForNone ? undefined : this.#deps.untilListed(context);
    if (waiting !== undefined) await waiting;
    switch (name) {
      case metaToolNames.search:
        return this.#search(args, context);
      case metaToolNames.describe:
        return this.#describe(args, context.identity);
      case metaToolNames.waiting:
        return this.#listWaiting(context.identity);
      case metaToolNames.readMore:
        return this.#deps.readMore(context, String(args["cursor"]));
      default:
        return this.#deps.callTool(context, String(args["name"]), (args["arguments"] ?? {}) as JsonObject);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #toTool(definition: ToolDefinition): Tool {
    return {
      id: toToolId(this.id, definition.name),
      namespace: this.id,
      tags: normalizeTags(["meta"]),
      origin: this.origin,
      sourceId: this.id,
      definition,
    };
  }

  async #search(args: JsonObject, context: CallContext): Promise<ToolResult> {
    const hits = await this.#deps.search(context, String(args["query"]), Number(args["limit"] ?? 10));
    const found = hits.map(({ name, signature, description, score, why }) => ({
      name,
      signature,
      ...(description === undefined ? undefined : { description: summarize(description) }),
      score,
      why,
    }));
    const text =
      found.length === 0
        ? "No tool matches. Try other words."
        : found
            .map(({ signature, description }) => `${signature} — ${description ?? "(no description)"}`)
            .join("\n");
    return { ...textResult(text), structuredContent: { tools: found } };
  }

  #listWaiting(identity: Identity): ToolResult {
    const lines = this.#deps
      .waiting(identity)
      .map((server) => waitingLine(server, this.#deps.approveCommand));
    return textResult(lines.length === 0 ? "No server waits for approval." : lines.join("\n"));
  }

  #describe(args: JsonObject, identity: Identity): ToolResult {
    const definition = this.#deps.describe(identity, String(args["name"]));
    return textResult(JSON.stringify(definition, undefined, 2));
  }
}

function waitingLine({ server, new: added, changed, what }: WaitingServer, command: string): string {
  const nounFor = (count: number) => (count === 1 ? what.slice(0, -1) : what);
  const parts = [
    added === 0 ? [] : `${added} new ${nounFor(added)}`,
    changed === 0 ? [] : `${changed} changed ${nounFor(changed)}`,
  ];
  return `${server}: ${parts.flat().join(", ")}. The operator can see and approve them in a terminal: ${command} ${server}`;
}

/** The first paragraph of a description, cut at a word. */
function summarize(description: string): string {
  const paragraph = description.trim().split(/\n\s*\n/, 1)[0] ?? "";
  const line = paragraph.replace(/\s+/g, " ");
  if (line.length <= summaryMaxLength) return line;
  return `${line.slice(0, summaryMaxLength).replace(/\s+\S*$/, "")}…`;
}
