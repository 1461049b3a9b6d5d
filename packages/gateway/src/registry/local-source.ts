/**
 * Functions of the embedding program as tools.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
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
} from "@toolcrib/tool";
import { wirePrefixOf } from "../index/wire-name.ts";
import { RegistryError } from "./registry-error.ts";

/**
 * A local tool's function. It returns a `ToolResult`, or any JSON value, which
 * becomes one: an object is structured content, a string is text, anything
 * else is JSON text. What it throws is a tool error with the message.
 */
export type LocalHandler = (args: JsonObject, context: CallContext) => unknown;

/** A local tool besides its name, description, input schema and function. */
export interface LocalToolOptions {
  /** First part of the tool's id. @default "" (the id is the name) */
  readonly namespace?: string;
  /** Normalised: lower case, unique, sorted. @default none */
  readonly tags?: readonly string[];
  /** Becomes the third part of the id, so that several versions live side by side. */
  readonly version?: string;
  readonly title?: string;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
}

/** The local tools of one registry. */
export interface LocalSource extends ToolSource {
  /** @returns the tool's id. @throws {RegistryError} `REGISTRY_INVALID_REQUEST` */
  register(
    name: string,
    description: string,
    inputSchema: JsonObject,
    handler: LocalHandler,
    options?: LocalToolOptions,
  ): ToolId;
  /** @returns whether there was such a tool. */
  unregister(id: ToolId): boolean;
}

/** Create a source without tools. @param now milliseconds since the epoch */
export function createLocalSource(now: () => number): LocalSource {
  const sourceId = "local";
  const entries = new Map<ToolId, { readonly tool: Tool; readonly handler: LocalHandler }>();
  const listeners = new Set<(change: SourceChange) => void>();
  const health: Health = { state: "ready", since: now() };
  let tools: readonly Tool[] = [];

  function changed(): void {
    tools = [...entries.values()].map(({ tool }) => tool);
    for (const listener of listeners) listener({ kind: "tools" });
  }

  return {
    id: sourceId,
    origin: "local",
    start: async () => {},
    tools: () => tools,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    health: () => health,
    register(name, description, inputSchema, handler, options = {}) {
      const { namespace = "", tags = [], version, title, outputSchema, annotations } = options;
      check(name, handler, namespace, version);
      const id = toToolId(namespace, name, version);
      if (entries.has(id)) throw invalid(`A local tool with the id "${id}" is already registered`);
      const definition = toDefinition({ name, title, description, inputSchema, outputSchema, annotations });
      const tool: Tool = {
        id,
        namespace,
        version,
        tags: normalizeTags(tags),
        origin: "local",
        sourceId,
        definition,
      };
      entries.set(id, { tool, handler });
      changed();
      return id;
    },
    unregister(id) {
      const had = entries.delete(id);
      if (had) changed();
      return had;
    },
    async call(tool, args, context) {
      const entry = entries.get(tool.id);
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
    },
    async [Symbol.asyncDispose]() {
      entries.clear();
      tools = [];
    },
  };
}

function check(name: string, handler: unknown, namespace: string, version?: string): void {
  const part = /^[A-Za-z0-9_.-]{1,128}$/;
  const allowed = 'letters, digits and "_", "-", ".", at most 128';
  if (!part.test(name)) throw invalid(`Tool name "${name}" is not allowed; allowed are ${allowed}`);
  if (namespace !== "" && (!part.test(namespace) || namespace.includes("__"))) {
    throw invalid(`Namespace "${namespace}" is not allowed; allowed are ${allowed}, without "__"`);
  }
  if (namespace !== "" && wirePrefixOf(namespace.toLowerCase()) === "") {
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

/** What a function returned as a result. It is copied: the function may go on changing what it returned. */
function toResult(value: unknown): ToolResult {
  if (value === undefined) return { content: [] };
  if (typeof value === "string") return textResult(value);
  const text = JSON.stringify(value) as string | undefined;
  // What JSON cannot say, such as a function, has no text.
  if (text === undefined) return textResult(String(value));
  const copy = JSON.parse(text) as JsonValue;
  if (isToolResult(copy)) return copy as unknown as ToolResult;
  return isJsonObject(copy) ? { ...textResult(text), structuredContent: copy } : textResult(text);
}

/** Whether an object is meant as a `ToolResult`: its content is blocks, each with its type. */
function isToolResult(value: JsonValue): boolean {
  if (!isJsonObject(value) || !Array.isArray(value["content"])) return false;
  return value["content"].every((block) => isJsonObject(block) && typeof block["type"] === "string");
}
