/**
 * The names of tools in a composite: `github.searchIssues` and `tools["…"]`. A
 * namespace or tool whose name is not an identifier of the language gets one
 * (`my-server` → `my_server`, `time` → `time_`), unless several would share it; those
 * are available through `tools` only. Pure.
 */

import { toolDialect, universeFor } from "@toolcrib/starlark";
import type { ToolId } from "@toolcrib/tool";
import type { Catalog, CatalogTool } from "./catalog.ts";

/** The properties of a tool that the language uses. */
export type CallableTool = Pick<
  CatalogTool,
  "id" | "namespace" | "name" | "wireName" | "isComposite" | "inputSchema"
>;

/** The tools of one namespace. */
export interface ToolNamespace<T extends CallableTool = CallableTool> {
  /** Its name in the catalogue, such as `my-server`. */
  readonly name: string;
  /** By the name after the dot. */
  readonly tools: ReadonlyMap<string, T>;
}

/** All names of the tools of a catalogue. */
export interface ToolDirectory<T extends CallableTool = CallableTool> {
  /** By identifier: the part before the dot. */
  readonly namespaces: ReadonlyMap<string, ToolNamespace<T>>;
  /** By every key of `tools[…]`: names on the wire, ids, `namespace.name`. */
  readonly byName: ReadonlyMap<string, T>;
  /** Sorted names on the wire: the iteration order of `tools`. */
  readonly wireNames: readonly string[];
  /** Returns why a name that exists is not in the directory. */
  readonly explain?: Catalog["explain"];
}

/** The namespace of saved tools in composites. */
export const savedNamespace = "saved";

/** The predeclared names of every composite besides tools and the universe of the language. */
export const reservedNames: ReadonlySet<string> = new Set(["params", "tools", "json", "math", "time"]);

/** Words that no identifier can be, in Starlark or in Python. */
export const keywords: ReadonlySet<string> = new Set(
  (
    "and break continue def elif else for if in lambda load not or pass return while " +
    "as assert async await class del except finally from global import is nonlocal raise try with yield"
  ).split(" "),
);

/** Names of the builtins of the language. */
export const universalNames: ReadonlySet<string> = new Set(universeFor(toolDialect).keys());

/** Index the tools of a catalogue by the names that programs use. */
export function toToolDirectory<T extends CallableTool>(
  tools: readonly T[],
  explain?: Catalog["explain"],
): ToolDirectory<T> {
  const byNamespace = Map.groupBy(tools, namespaceOf);
  const names = [...byNamespace.keys()].filter((name) => name !== "");
  const namespaces = new Map<string, ToolNamespace<T>>();
  for (const [identifier, name] of nameUniquely(names, namespaceIdentifier)) {
    const members = byNamespace.get(name)!;
    const byOwnName = new Map<string, T>();
    for (const tool of members) if (!byOwnName.has(tool.name)) byOwnName.set(tool.name, tool);
    const attributes = nameUniquely([...byOwnName.keys()], attributeIdentifier);
    const reachable = new Map([...attributes].map(([attribute, own]) => [attribute, byOwnName.get(own)!]));
    namespaces.set(identifier, { name, tools: reachable });
  }
  const wireNames = tools.map((tool) => tool.wireName).sort();
  return { namespaces, byName: indexNames(tools), wireNames, explain };
}

/** Returns the display name of a tool: `namespace.name`, or its name on the wire when it has no namespace. */
export function displayName(tool: CallableTool): string {
  const namespace = namespaceOf(tool);
  return namespace === "" ? tool.wireName : `${namespace}.${tool.name}`;
}

/** Returns, by id, the expression that calls each tool: `my_server.list_all`, or `tools["…"]` for tools without such a name. */
export function callNames(directory: ToolDirectory): ReadonlyMap<ToolId, string> {
  const names = new Map<ToolId, string>();
  for (const [identifier, { tools }] of directory.namespaces) {
    for (const [attribute, tool] of tools) names.set(tool.id, `${identifier}.${attribute}`);
  }
  for (const tool of directory.byName.values()) {
    if (!names.has(tool.id)) names.set(tool.id, `tools[${JSON.stringify(tool.wireName)}]`);
  }
  return names;
}

function namespaceOf(tool: CallableTool): string {
  return tool.namespace === "" && tool.isComposite ? savedNamespace : tool.namespace;
}

/** Indexes tools by name. The first tool of a name wins; names on the wire precede ids, and ids precede `namespace.name`. */
function indexNames<T extends CallableTool>(tools: readonly T[]): ReadonlyMap<string, T> {
  const byName = new Map<string, T>();
  const add = (name: string, tool: T): void => {
    if (!byName.has(name)) byName.set(name, tool);
  };
  for (const tool of tools) add(tool.wireName, tool);
  for (const tool of tools) add(tool.id, tool);
  for (const tool of tools) add(displayName(tool), tool);
  for (const tool of tools) if (tool.isComposite) add(`${savedNamespace}__${tool.name}`, tool);
  return byName;
}

/** Maps unshared identifiers to `names`. A name that is its own identifier has precedence. */
function nameUniquely(names: readonly string[], toIdentifier: (name: string) => string): Map<string, string> {
  const taken = new Map<string, string>();
  const shared = new Set<string>();
  for (const name of names) if (toIdentifier(name) === name) taken.set(name, name);
  for (const name of names) {
    const identifier = toIdentifier(name);
    const owner = taken.get(identifier);
    if (owner === undefined) taken.set(identifier, name);
    else if (owner !== name && owner !== identifier) shared.add(identifier);
  }
  for (const identifier of shared) taken.delete(identifier);
  return taken;
}

/** A namespace is a global name of the program, so it must not hide a predeclared name. */
function namespaceIdentifier(name: string): string {
  const identifier = attributeIdentifier(name);
  return reservedNames.has(identifier) || universalNames.has(identifier) ? `${identifier}_` : identifier;
}

function attributeIdentifier(name: string): string {
  const letters = name.replace(/[^A-Za-z0-9_]/g, "_");
  const identifier = /^[0-9]/.test(letters) ? `_${letters}` : letters;
  return keywords.has(identifier) ? `${identifier}_` : identifier;
}
