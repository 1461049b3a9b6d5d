/**
 * `docs/reference/starlark.md`: the prose of `starlark-language.md`, and every builtin,
 * method and module member with its signature and documentation from the engine;
 * options, limits and codes from their declarations.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  BoundMethod,
  Builtin,
  compileProgram,
  coreDialect,
  type Dialect,
  defaultLimits,
  executeProgram,
  HostObject,
  jsonModule,
  type Limits,
  limitCeilings,
  mathModule,
  methodsFor,
  repr,
  type StarlarkModule,
  StarlarkTuple,
  Thread,
  timeModule,
  toolDialect,
  typeOf,
  universeFor,
  type Value,
} from "@toolcrib/starlark";
import { isInterfaceDeclaration, isPropertySignatureDeclaration } from "typescript/unstable/ast";
import { readErrorCodes } from "../error-codes.ts";
import { visitNodes } from "../syntax.ts";
import type { Workspace } from "../workspace.ts";

/** The prose, in which each line `<!-- name -->` is replaced by a generated part. */
const prosePath = "scripts/docs/starlark-language.md";

/** Types with methods, and their names on the page. */
const types = ["string", "bytes", "list", "dict", "set"] as const;

/** Returns the page. */
export async function starlarkPage(workspace: Workspace): Promise<string> {
  const prose = readFileSync(join(workspace.root, prosePath), "utf8");
  const parts: { readonly [name: string]: () => readonly string[] } = {
    switches: () => switchTable(membersOf(workspace, "Dialect")),
    limits: () => limitTable(membersOf(workspace, "Limits")),
    codes: () => codeTable(workspace),
  };
  const used = new Set<string>();
  const filled = prose.replaceAll(/^<!-- (\w+) -->$/gm, (_line, name: string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`${prosePath} asks for "${name}", which nobody makes`);
    used.add(name);
    return part().join("\n");
  });
  const unused = Object.keys(parts).find((name) => !used.has(name));
  if (unused !== undefined) throw new Error(`${prosePath} has no place for "${unused}"`);
  const sections = [
    section("Functions and constants", universeEntries()),
    ...types.map((type) => section(`Methods of ${type}`, methodEntries(type))),
    ...[jsonModule, mathModule, timeModule].map((module) =>
      section(`Module ${module.name}`, moduleEntries(module)),
    ),
    ...(await hostObjects()).map(([title, value]) => section(title, attributeEntries(value))),
  ];
  return `${[filled.trimEnd(), ...sections].join("\n\n")}\n`;
}

function section(title: string, entries: readonly string[]): string {
  return `### ${title}\n\n${entries.join("\n")}`;
}

// Builtins.

function builtinEntry(value: Builtin, signature: string, isTool: boolean): string {
  return `- \`${signature}\`${isTool ? " **Tool.**" : ""} ${value.doc.trimEnd().replace(/([^.])$/, "$1.")}`;
}

function byName<T>(entries: Iterable<readonly [string, T]>): readonly (readonly [string, T])[] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}

function universeEntries(): readonly string[] {
  const core = universeFor({ ...coreDialect, set: true });
  return byName(universeFor(toolDialect)).map(([name, value]) => {
    const isTool = !core.has(name);
    if (value instanceof Builtin) return builtinEntry(value, value.signature, isTool);
    return `- \`${name}\`: ${typeOf(value)}.`;
  });
}

function methodEntries(type: (typeof types)[number]): readonly string[] {
  const core = methodsFor(coreDialect)[type];
  return byName(methodsFor(toolDialect)[type]).map(([name, method]) =>
    builtinEntry(method, method.signature, !core.has(name)),
  );
}

function moduleEntries(module: StarlarkModule): readonly string[] {
  return byName(module.members).map(([name, value]) => {
    if (!(value instanceof Builtin))
      return `- \`${module.name}.${name}\`: ${typeOf(value)}, \`${show(value)}\`.`;
    const signature = value.signature.startsWith(`${module.name}.`)
      ? value.signature
      : `${module.name}.${value.signature}`;
    return builtinEntry(value, signature, false);
  });
}

function attributeEntries(value: HostObject): readonly string[] {
  return [...value.attributeNames()].sort().map((name) => {
    const attribute = value.attribute(name, aThread());
    if (attribute === undefined) throw new Error(`${value.type} has no ${name}`);
    if (attribute instanceof BoundMethod) {
      return builtinEntry(attribute.method, attribute.method.signature, false);
    }
    return `- \`${name}\`: ${typeOf(attribute)}.`;
  });
}

/** Returns one value of each kind that has attributes and is not a module. */
async function hostObjects(): Promise<readonly (readonly [string, HostObject])[]> {
  const text = 'return time.from_timestamp(0), time.hour, attempt(fail, "x").error';
  const predeclared = new Map<string, Value>([["time", timeModule]]);
  const { program } = compileProgram(
    { name: "docs.star", text },
    { dialect: toolDialect, predeclared: predeclared.keys() },
  );
  const { value } = await executeProgram(aThread(), program!, predeclared);
  if (!(value instanceof StarlarkTuple)) throw new Error("the program gave no tuple");
  const titles = ["Attributes of time.time", "Attributes of time.duration", "Attributes of errors"];
  return value.items.map((item, index) => {
    if (!(item instanceof HostObject)) throw new Error(`${typeOf(item)} is no object with attributes`);
    return [titles[index]!, item] as const;
  });
}

function show(value: Value): string {
  return repr(value, aThread());
}

/** A thread without a clock, for evaluation without time limits. */
function aThread(): Thread {
  return new Thread({ monotonicMs: () => 0 });
}

// Options, limits and codes.

/** Returns the members of an interface of the engine with their doc comments, in order. */
function membersOf(workspace: Workspace, name: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  const files = workspace.packages.find(({ folder }) => folder === "starlark")?.src ?? [];
  for (const file of files) {
    visitNodes(file.syntax, (node) => {
      if (!isInterfaceDeclaration(node) || node.name.text !== name) return;
      for (const member of node.members) {
        if (!isPropertySignatureDeclaration(member)) continue;
        const before = file.text.slice(member.getFullStart(), member.getStart());
        const doc = /\/\*\*\s*([\s\S]*?)\s*\*\//.exec(before)?.[1] ?? "";
        members.set(member.name.getText(), doc.replaceAll(/\s*\n\s*\*\s*/g, " "));
      }
    });
  }
  if (members.size === 0) throw new Error(`the engine has no interface ${name}`);
  return members;
}

function switchTable(members: ReadonlyMap<string, string>): readonly string[] {
  const rows = [...members].map(([name, doc]) => {
    const isOn = toolDialect[name as keyof Dialect] === true;
    return `| \`${name}\` | ${isOn ? "on" : "off"} | ${cell(doc)} |`;
  });
  return ["| Option | Tool dialect | Effect |", "|---|---|---|", ...rows];
}

function limitTable(members: ReadonlyMap<string, string>): readonly string[] {
  const rows = [...members].map(([name, doc]) => {
    const meaning = doc.replace(/\s*@default.*$/, "");
    const limit = name as keyof Limits;
    return `| \`${name}\` | ${grouped(defaultLimits[limit])} | ${grouped(limitCeilings[limit])} | ${cell(meaning)} |`;
  });
  return ["| Limit | Default | At most | |", "|---|---|---|---|", ...rows];
}

function codeTable(workspace: Workspace): readonly string[] {
  const codes = readErrorCodes(workspace)
    .codes.filter(({ folder }) => folder === "starlark")
    .sort((a, b) => (a.code < b.code ? -1 : 1));
  return [
    "| Code | Meaning |",
    "|---|---|",
    ...codes.map(({ code, meaning }) => `| \`${code}\` | ${cell(meaning)} |`),
  ];
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
