/**
 * Changes of the operator to tools of servers: names, descriptions and arguments (`tools` of the
 * configuration). The changes apply to the definition that a client is shown, after its server's definition was
 * compared with its pin: the pin, policies, approvals and the audit trail keep the server's own names.
 *
 * A fixed or hidden argument is removed from the schema, and its value inserted into each call before the call is
 * authorized, so that policies and approvals see it. A client that sends one is refused. Pure.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { ToolPatterns } from "@toolcrib/policy";
import type { ToolDefinition, ToolId } from "@toolcrib/tool";

/** The changes of one argument. */
export interface ArgumentOverride {
  /** Whether clients neither see nor send it. A fixed argument is hidden, too. @default false */
  readonly hidden?: boolean | undefined;
  /** The value in every call. */
  readonly fixed?: JsonValue | undefined;
  /** The value in a call that leaves it out; clients see it as the default. */
  readonly default?: JsonValue | undefined;
  readonly description?: string | undefined;
}

/** The changes of the tools that a pattern matches. */
export interface ToolOverride {
  readonly pattern: string;
  /** In place of the name at its server. */
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** Tokens of a result that a client receives at once; 0 for any number. @default that of the endpoint */
  readonly resultTokenBudget?: number | undefined;
  readonly arguments: { readonly [name: string]: ArgumentOverride };
}

/** The changes of one tool: those of all patterns that match it, of which a later one wins. */
export type MergedOverride = Omit<ToolOverride, "pattern">;

/** The changes of all tools. */
export class ToolOverrides {
  readonly #overrides: readonly (ToolOverride & { readonly patterns: ToolPatterns })[];

  constructor(overrides: readonly ToolOverride[]) {
    this.#overrides = overrides.map((one) => ({ ...one, patterns: new ToolPatterns([one.pattern]) }));
  }

  /** Whether nothing is changed. */
  get isEmpty(): boolean {
    return this.#overrides.length === 0;
  }

  /** Returns the changes of a tool; undefined where there are none. */
  of(id: ToolId, wireName: string): MergedOverride | undefined {
    const matching = this.#overrides.filter(({ patterns }) => patterns.find(id, wireName) !== undefined);
    if (matching.length === 0) return undefined;
    return matching.reduce<MergedOverride>(
      (below, { name, title, description, resultTokenBudget, arguments: own }) => ({
        name: name ?? below.name,
        title: title ?? below.title,
        description: description ?? below.description,
        resultTokenBudget: resultTokenBudget ?? below.resultTokenBudget,
        arguments: mergedArguments(below.arguments, own),
      }),
      { arguments: {} },
    );
  }
}

function mergedArguments(
  below: ToolOverride["arguments"],
  above: ToolOverride["arguments"],
): ToolOverride["arguments"] {
  const merged = new Map(Object.entries(below));
  for (const [name, one] of Object.entries(above)) merged.set(name, { ...merged.get(name), ...one });
  return Object.fromEntries(merged);
}

/** Returns a definition as clients are shown it. Its name is that of the server, or the one that replaces it. */
export function overriddenDefinition(definition: ToolDefinition, override: MergedOverride): ToolDefinition {
  const { name = definition.name, title, description, arguments: changed } = override;
  return {
    ...definition,
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema: overriddenSchema(definition.inputSchema, changed),
  };
}

function overriddenSchema(schema: JsonObject, changed: ToolOverride["arguments"]): JsonObject {
  const { properties, required } = schema;
  const entries = Object.entries(changed);
  if (entries.length === 0) return schema;
  const shown = new Map(isJsonObject(properties) ? Object.entries(properties) : []);
  const isOptional = new Set<JsonValue>();
  for (const [name, one] of entries) {
    if (isHidden(one)) {
      shown.delete(name);
      isOptional.add(name);
      continue;
    }
    if (one.default !== undefined) isOptional.add(name);
    const own = shown.get(name);
    if (own === undefined || own === false) continue;
    shown.set(name, {
      ...(isJsonObject(own) ? own : {}),
      ...(one.description === undefined ? {} : { description: one.description }),
      ...(one.default === undefined ? {} : { default: one.default }),
    });
  }
  const needed = Array.isArray(required) ? required.filter((name) => !isOptional.has(name)) : undefined;
  const { required: _required, ...rest } = schema;
  return {
    ...rest,
    properties: Object.fromEntries(shown),
    ...(needed === undefined || needed.length === 0 ? {} : { required: needed }),
  };
}

function isHidden({ hidden, fixed }: ArgumentOverride): boolean {
  return hidden === true || fixed !== undefined;
}

/** The names of the arguments that clients neither see nor send. */
export function hiddenNames({ arguments: changed }: MergedOverride): readonly string[] {
  return Object.entries(changed).flatMap(([name, one]) => (isHidden(one) ? [name] : []));
}

/**
 * Returns the arguments of a call with those that the operator sets, or the name of an argument that a client may
 * not send. Many servers read names without regard to case: another spelling is the same argument.
 *
 * @param schema the input schema of the tool as its server declares it, in which two spellings can be two arguments
 */
export function completedArguments(
  { arguments: changed }: MergedOverride,
  args: JsonObject,
  schema: JsonObject | undefined,
): { readonly args: JsonObject } | { readonly refused: string } {
  const completed = { ...args };
  for (const [name, one] of Object.entries(changed)) {
    const isSent = Object.hasOwn(args, name);
    if (isHidden(one) && (isSent || hasOtherSpelling(args, name, schema))) return { refused: name };
    const value = one.fixed === undefined ? one.default : one.fixed;
    if (value === undefined || isSent) continue;
    // Not an assignment: a name can be "__proto__".
    Object.defineProperty(completed, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return { args: completed };
}

/** Whether arguments have `name` in other case, as no argument that the schema declares. */
function hasOtherSpelling(args: JsonObject, name: string, schema: JsonObject | undefined): boolean {
  const folded = name.toLowerCase();
  const properties = schema?.["properties"];
  return Object.keys(args).some((sent) => {
    if (sent === name || sent.toLowerCase() !== folded) return false;
    return !isJsonObject(properties) || !Object.hasOwn(properties, sent);
  });
}

/** Returns why calls of a tool with these changes cannot succeed: it needs an argument that nothing gives; undefined for none. */
export function overrideFault(
  { inputSchema }: ToolDefinition,
  { arguments: changed }: MergedOverride,
): string | undefined {
  const { required } = inputSchema;
  for (const [name, one] of Object.entries(changed)) {
    const isGiven = one.fixed !== undefined || one.default !== undefined;
    if (isHidden(one) && !isGiven && Array.isArray(required) && required.includes(name)) {
      return `its argument "${name}" is hidden and required: give it a fixed value or a default`;
    }
  }
  return undefined;
}
