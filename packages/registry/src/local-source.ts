/**
 * Functions of the embedding program as tools.
 */

import { isReservedNamespace } from "@toolcrib/inventory";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { ListenerSet } from "@toolcrib/lifecycle";
import {
  type CallContext,
  checkDefinition,
  formatProblems,
  type Health,
  normalizeTags,
  type SourceChange,
  type Tool,
  type ToolAnnotations,
  type ToolId,
  type ToolResult,
  type ToolSource,
  textResult,
  toToolId,
  type Unsubscribe,
} from "@toolcrib/tool";
import { RegistryError } from "./registry-error.ts";

/**
 * A local tool's function. It returns a `ToolResult`, or any JSON value, which
 * becomes one: an object is structured content, a string is text, anything
 * else is JSON text. An exception becomes a tool error with its message.
 */
export type LocalHandler = (args: JsonObject, context: CallContext) => unknown;

/** Options of a local tool, in addition to its name, description, input schema and function. */
export interface LocalToolOptions {
  /** First part of the tool's id. @default "" (the id is the name) */
  readonly namespace?: string;
  /** Normalized: lower case, unique, sorted. @default none */
  readonly tags?: readonly string[];
  /** Becomes the third part of the id, so that several versions live side by side. */
  readonly version?: string;
  readonly title?: string;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
}

/** The local tools of one registry. */
export class LocalSource implements ToolSource {
  readonly id = "local";
  readonly origin = "local";
  readonly #entries = new Map<ToolId, { readonly tool: Tool; readonly handler: LocalHandler }>();
  readonly #listeners = new ListenerSet<[change: SourceChange]>();
  readonly #health: Health;
  #tools: readonly Tool[] = [];

  /** @param now milliseconds since the epoch */
  constructor(now: () => number) {
    this.#health = { state: "ready", since: now() };
  }

  /** Registers a tool. @returns its id. @throws {RegistryError} `REGISTRY_INVALID_REQUEST`, `REGISTRY_HANDLER_NOT_FOUND` */
  register(
    name: string,
    description: string,
    inputSchema: JsonObject,
    handler: LocalHandler,
    options: LocalToolOptions = {},
  ): ToolId {
    const { namespace = "", tags = [], version, title, outputSchema, annotations } = options;
    check(name, handler, namespace, version);
    const definition = toDefinition({ name, title, description, inputSchema, outputSchema, annotations });
    const id = toToolId(namespace, name, version);
    if (this.#entries.has(id)) throw invalid(`A local tool with the id "${id}" is already registered`);
    const tool: Tool = {
      id,
      namespace,
      version,
      tags: normalizeTags(tags),
      origin: this.origin,
      sourceId: this.id,
      definition,
    };
    this.#entries.set(id, { tool, handler });
    this.#changed();
    return id;
  }

  /** Removes a tool. @returns whether it existed */
  unregister(id: ToolId): boolean {
    const existed = this.#entries.delete(id);
    if (existed) this.#changed();
    return existed;
  }

  async start(): Promise<void> {}

  tools(): readonly Tool[] {
    return this.#tools;
  }

  onChange(listener: (change: SourceChange) => void): Unsubscribe {
    return this.#listeners.add(listener);
  }

  health(): Health {
    return this.#health;
  }

  async call(tool: Tool, args: JsonObject, context: CallContext): Promise<ToolResult> {
    const entry = this.#entries.get(tool.id);
    if (entry === undefined) {
      throw new RegistryError(
        "REGISTRY_HANDLER_NOT_FOUND",
        `The local tool "${tool.id}" has no handler any more`,
      );
    }
    try {
      return toResult(await entry.handler(args, context));
    } catch (error) {
      if (context.signal.aborted) throw context.signal.reason;
      return textResult(error instanceof Error ? error.message : String(error), true);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#entries.clear();
    this.#tools = [];
  }

  #changed(): void {
    this.#tools = [...this.#entries.values()].map(({ tool }) => tool);
    this.#listeners.emit({ kind: "tools" });
  }
}

function check(name: string, handler: unknown, namespace: string, version?: string): void {
  const part = /^[A-Za-z0-9_.-]{1,128}$/;
  const allowed = 'letters, digits and "_", "-", ".", at most 128';
  if (!part.test(name)) throw invalid(`Tool name "${name}" is not allowed; allowed are ${allowed}`);
  if (namespace !== "" && (!part.test(namespace) || namespace.includes("__"))) {
    throw invalid(`Namespace "${namespace}" is not allowed; allowed are ${allowed}, without "__"`);
  }
  if (isReservedNamespace(namespace)) {
    throw invalid(`Namespace "${namespace}" is not allowed: it belongs to Toolcrib's own tools`);
  }
  if (version !== undefined && !/^[A-Za-z0-9_.+-]{1,64}$/.test(version)) {
    throw invalid(
      `Version "${version}" is not allowed; allowed are letters, digits and "_", "-", ".", "+", at most 64`,
    );
  }
  if (typeof handler !== "function") {
    throw new RegistryError(
      "REGISTRY_HANDLER_NOT_FOUND",
      `The local tool "${name}" is registered without a handler`,
      {
        hint: "pass a function as the fourth argument",
      },
    );
  }
}

/**
 * A copy of `definition` without members that are undefined, which would stand
 * in digests and comparisons.
 *
 * @throws {RegistryError} `REGISTRY_INVALID_REQUEST` when it breaks the protocol
 */
function toDefinition(definition: { readonly [member: string]: unknown }): Tool["definition"] {
  const copy = JSON.parse(JSON.stringify(definition)) as Tool["definition"];
  const problems = checkDefinition("tool", copy);
  if (problems.length === 0) return copy;
  throw new RegistryError(
    "REGISTRY_INVALID_REQUEST",
    `The definition of the tool "${copy.name}" is malformed: ${formatProblems(problems)}`,
    { hint: 'an input schema is an object with type: "object"' },
  );
}

function invalid(message: string): RegistryError {
  return new RegistryError("REGISTRY_INVALID_REQUEST", message);
}

/** Converts the value that a function returned to a result. It is copied: the function can change the value later. */
function toResult(value: unknown): ToolResult {
  if (value === undefined) return { content: [] };
  if (typeof value === "string") return textResult(value);
  const text = JSON.stringify(value) as string | undefined;
  // A value that JSON cannot represent, such as a function, has no text.
  if (text === undefined) return textResult(String(value));
  const copy = JSON.parse(text) as JsonValue;
  if (isToolResult(copy)) return copy as unknown as ToolResult;
  return isJsonObject(copy) ? { ...textResult(text), structuredContent: copy } : textResult(text);
}

/** Whether an object is intended as a `ToolResult`: its content is blocks, each with its type. */
function isToolResult(value: JsonValue): boolean {
  if (!isJsonObject(value) || !Array.isArray(value["content"])) return false;
  return value["content"].every((block) => isJsonObject(block) && typeof block["type"] === "string");
}
