/**
 * Tools as values of the language: namespaces (`github`), the table of all tools
 * (`tools`), and the functions in both. A function takes one dict, or arguments by
 * name, or none. The caller makes the inner calls.
 */

import { nearestName } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import {
  type Deferred,
  fromStarlark,
  HostObject,
  type NamedArgument,
  Pending,
  repr,
  StarlarkDict,
  StarlarkError,
  StarlarkStruct,
  type Thread,
  typeOf,
  type Value,
  ValueIterator,
} from "@toolcrib/starlark";
import { toJsonValue } from "./json-measure.ts";
import { type CallableTool, displayName, type ToolDirectory, type ToolNamespace } from "./tool-directory.ts";

/** Makes an inner call. */
export type ToolCaller = (tool: CallableTool, params: JsonObject, thread: Thread) => Promise<Value>;

/** Returns the predeclared names of tools in a composite. */
export function toToolValues(
  directory: ToolDirectory,
  call: ToolCaller,
): (name: string) => Value | undefined {
  return (name) => {
    if (name === "tools") return new ToolTable(directory, call);
    const namespace = directory.namespaces.get(name);
    return namespace === undefined ? undefined : new NamespaceValue(name, namespace, call);
  };
}

/** A tool as a function. */
class ToolFunction extends HostObject {
  get type(): "tool" {
    return "tool";
  }
  readonly #tool: CallableTool;
  readonly #call: ToolCaller;

  constructor(tool: CallableTool, call: ToolCaller) {
    super();
    this.#tool = tool;
    this.#call = call;
  }

  override call(thread: Thread, args: readonly Value[], named: readonly NamedArgument[]): Deferred {
    const params = toParams(this.#tool, args, named, thread);
    return new Pending(this.#call(this.#tool, params, thread));
  }

  override repr(): string {
    return `<tool ${displayName(this.#tool)}>`;
  }
}

/** `github`: its tools are its attributes. */
class NamespaceValue extends HostObject {
  /** The type with its name, for the error of an unknown tool. */
  readonly type: string;
  readonly #namespace: ToolNamespace;
  readonly #call: ToolCaller;
  readonly #functions = new Map<string, ToolFunction>();

  constructor(identifier: string, namespace: ToolNamespace, call: ToolCaller) {
    super();
    this.type = `namespace ${identifier}`;
    this.#namespace = namespace;
    this.#call = call;
  }

  override attribute(name: string, thread: Thread): Value | undefined {
    return functionFor(name, this.#namespace.tools.get(name), this.#functions, this.#call, thread);
  }

  override attributeNames(): readonly string[] {
    return [...this.#namespace.tools.keys()];
  }

  override binary(operator: string, other: Value, side: "left" | "right"): Value | undefined {
    if (operator !== "[]" || side !== "left") return undefined;
    const wanted = typeof other === "string" ? other.slice(0, 80) : "NAME";
    throw new StarlarkError(`${this.type} has no elements`, {
      hint: `write tools[${JSON.stringify(`${this.#namespace.name}.${wanted}`)}]({…})`,
    });
  }
}

/** `tools`: all tools, by any of their names. */
class ToolTable extends HostObject {
  get type(): "tools" {
    return "tools";
  }
  readonly #directory: ToolDirectory;
  readonly #call: ToolCaller;
  readonly #functions = new Map<string, ToolFunction>();

  constructor(directory: ToolDirectory, call: ToolCaller) {
    super();
    this.#directory = directory;
    this.#call = call;
  }

  override attribute(name: string, thread: Thread): Value | undefined {
    return functionFor(name, this.#directory.byName.get(name), this.#functions, this.#call, thread);
  }

  override attributeNames(): readonly string[] {
    return this.#directory.wireNames;
  }

  override binary(operator: string, other: Value, side: "left" | "right", thread: Thread): Value | undefined {
    if (operator === "in" && side === "right") {
      return typeof other === "string" && this.#directory.byName.has(other);
    }
    if (operator !== "[]" || side !== "left") return undefined;
    if (typeof other !== "string") {
      throw new StarlarkError(`tools index: got ${typeOf(other)}, want the name of a tool`);
    }
    const found = this.attribute(other, thread);
    if (found !== undefined) return found;
    thread.step(this.#directory.byName.size);
    throw new StarlarkError(unknownToolMessage(other, this.#directory), {
      hint: `"name" in tools tests whether one exists`,
    });
  }

  override iterate(): ValueIterator {
    return new NameIterator(this, this.#directory.wireNames);
  }
}

class NameIterator extends ValueIterator {
  readonly subject: Value;
  readonly #names: Iterator<string>;

  constructor(subject: Value, names: readonly string[]) {
    super();
    this.subject = subject;
    this.#names = names.values();
  }

  override next(): Value | undefined {
    return this.#names.next().value as string | undefined;
  }
}

/** `No tool is named "github.serchIssues" (did you mean "github.searchIssues"?)`, or why an existing tool cannot be called. */
export function unknownToolMessage(name: string, directory: ToolDirectory): string {
  const reason = directory.explain?.(name.slice(0, 200));
  if (reason !== undefined) return `Cannot call ${JSON.stringify(name.slice(0, 200))}: ${reason}`;
  const near = nearestName(name, directory.byName.keys());
  const suggestion = near === undefined ? "" : ` (did you mean ${JSON.stringify(near)}?)`;
  return `No tool is named ${JSON.stringify(name.slice(0, 200))}${suggestion}`;
}

/** One function for each name, so that `github.a == github.a`. */
function functionFor(
  name: string,
  tool: CallableTool | undefined,
  made: Map<string, ToolFunction>,
  call: ToolCaller,
  thread: Thread,
): ToolFunction | undefined {
  const known = made.get(name);
  if (known !== undefined || tool === undefined) return known;
  thread.charge(64);
  const added = new ToolFunction(tool, call);
  made.set(name, added);
  return added;
}

/** Converts the arguments of an inner call to JSON. */
function toParams(
  tool: CallableTool,
  args: readonly Value[],
  named: readonly NamedArgument[],
  thread: Thread,
): JsonObject {
  const name = displayName(tool);
  const [first] = args;
  if (args.length > 1 || (first !== undefined && !isRecord(first))) {
    const got = args.length > 1 ? `${args.length} arguments` : typeOf(first!);
    throw new StarlarkError(`${name}: got ${got}, want one dict or arguments by name`, {
      hint: callHint(tool),
    });
  }
  if (first !== undefined && named.length > 0) {
    throw new StarlarkError(`${name}: got a dict and arguments by name, want one or the other`, {
      hint: callHint(tool),
    });
  }
  const params = first === undefined ? namedToJson(name, named, thread) : toJson(name, first, thread);
  return toJsonValue(params, `the arguments of ${name}`) as JsonObject;
}

function isRecord(value: Value): boolean {
  return value instanceof StarlarkDict || value instanceof StarlarkStruct;
}

function toJson(name: string, value: Value, thread: Thread): ReturnType<typeof fromStarlark> {
  try {
    return fromStarlark(value, thread);
  } catch (error) {
    if (!(error instanceof StarlarkError) || !error.catchable) throw error;
    throw new StarlarkError(`${name}: ${error.message}`, {
      hint: "tools take JSON data: strings, numbers, bools, None, lists and dicts",
    });
  }
}

function namedToJson(
  name: string,
  named: readonly NamedArgument[],
  thread: Thread,
): ReturnType<typeof fromStarlark> {
  const params: { [key: string]: ReturnType<typeof fromStarlark> } = Object.create(null);
  for (const [key, value] of named) {
    if (Object.hasOwn(params, key))
      throw new StarlarkError(`${name}: got multiple values for ${repr(key, thread)}`);
    params[key] = toJson(`${name}: ${key}`, value, thread);
  }
  return params;
}

/** Returns an example call with the required fields. */
function callHint(tool: CallableTool): string {
  const { required, properties } = tool.inputSchema;
  const wanted = Array.isArray(required) && required.length > 0 ? required : Object.keys(properties ?? {});
  const fields = wanted.slice(0, 5).map((field) => `${JSON.stringify(field)}: …`);
  return `write ${displayName(tool)}({${fields.join(", ")}})`;
}
