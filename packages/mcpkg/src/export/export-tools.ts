/**
 * The tools of packages for a runtime of models (MCPKG document, section 8.3): `tools.json`, or what the
 * tool lists of MCP, OpenAI, Anthropic and Gemini take. Names, descriptions and schemas are legal
 * there; what is left out of a schema, and names that would be the same, are notes. Pure.
 */

import { hash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { ToolPackage } from "../parse-package.ts";
import { toGeminiSchema } from "./gemini-schema.ts";
import { fitsStrictMode } from "./openai-strict.ts";
import { type ExportFormat, type RuntimeRules, runtimeRules } from "./runtime-rules.ts";

/** A package to export. */
export interface ExportedPackage {
  readonly found: Pick<ToolPackage, "manifest" | "tests" | "files">;
  /** Result of its latest tests; undefined: they did not run. */
  readonly testSummary: JsonObject | undefined;
}

/** Options of `exportTools`. */
export interface ExportOptions {
  /** @default `tools.json`, with everything that is known */
  readonly format?: ExportFormat | undefined;
  /** Most characters of examples for each tool; 0 leaves them out. @default 2,000 */
  readonly examplesMaxLength?: number;
}

/** Exported tools. */
export interface ExportedTools {
  /** The document: the list of tools in the form of the runtime. */
  readonly document: JsonValue;
  /** The name of each tool in the document. The gateway takes a toolId, too. */
  readonly names: readonly { readonly toolId: string; readonly name: string }[];
  /** The differences from the packages, for people. */
  readonly notes: readonly string[];
}

/** Most characters of the examples of a tool where nothing else is said. */
const examplesMaxLengthDefault = 2000;

/** Exports the tools of `packages`, in their order. */
export function exportTools(
  packages: readonly ExportedPackage[],
  { format, examplesMaxLength = examplesMaxLengthDefault }: ExportOptions = {},
): ExportedTools {
  const notes: string[] = [];
  const names = nameAll(packages, runtimeRules[format ?? "mcp"], notes);
  const entries = packages.map((one, index) => {
    const { name } = names[index] as (typeof names)[number];
    const examples = examplesOf(one.found, examplesMaxLength, notes);
    return format === undefined
      ? entryOf(one, name, examples)
      : runtimeToolOf(one, { name, examples, format, notes });
  });
  return { document: documentOf(entries, format), names, notes };
}

function documentOf(entries: readonly JsonObject[], format: ExportFormat | undefined): JsonValue {
  switch (format) {
    case undefined:
    case "mcp":
      return { tools: entries };
    case "gemini":
      return [{ functionDeclarations: entries }];
    default:
      return entries;
  }
}

/** An entry of `tools.json`. */
function entryOf(
  { found: { manifest }, testSummary }: ExportedPackage,
  name: string,
  examples: readonly string[],
): JsonObject {
  const { toolId, version, description, capabilities, input_schema, output_schema } = manifest;
  return {
    name,
    toolId,
    title: manifest.name,
    version,
    description,
    input_schema,
    output_schema,
    capabilities,
    examples,
    ...(testSummary === undefined ? {} : { test_summary: testSummary }),
  };
}

interface RuntimeTool {
  readonly name: string;
  readonly examples: readonly string[];
  readonly format: ExportFormat;
  readonly notes: string[];
}

function runtimeToolOf(
  { found: { manifest } }: ExportedPackage,
  { name, examples, format, notes }: RuntimeTool,
): JsonObject {
  const rules = runtimeRules[format];
  const description = describe(manifest.description, examples, rules);
  const schema: JsonObject = { type: "object", ...manifest.input_schema };
  const leftOut = (keywords: readonly string[]) => {
    if (keywords.length === 0) return;
    notes.push(`${manifest.toolId}: the schema for ${format} has no ${keywords.join(", ")}`);
  };
  switch (format) {
    case "mcp": {
      const { output_schema: outputSchema } = manifest;
      // The protocol knows only objects as structured results.
      const hasObject = outputSchema["type"] === "object";
      return {
        name,
        title: manifest.name,
        description,
        inputSchema: schema,
        ...(hasObject ? { outputSchema } : {}),
      };
    }
    case "openai": {
      const parameters = withoutTop(schema, rules, leftOut);
      return {
        type: "function",
        function: { name, description, parameters, strict: fitsStrictMode(parameters) },
      };
    }
    case "anthropic":
      return { name, description, input_schema: withoutTop(schema, rules, leftOut) };
    case "gemini": {
      const converted = toGeminiSchema(schema);
      leftOut(converted.leftOut);
      // A function without parameters has none; an object must have properties.
      const hasParameters =
        converted.schema["properties"] !== undefined || converted.schema["anyOf"] !== undefined;
      return { name, description, ...(hasParameters ? { parameters: converted.schema } : {}) };
    }
  }
}

/** Removes keywords that the top of a schema must not have; properties of their parts stay. */
function withoutTop(
  schema: JsonObject,
  { notAtTop }: RuntimeRules,
  leftOut: (keywords: readonly string[]) => void,
): JsonObject {
  const found = notAtTop.filter((keyword) => schema[keyword] !== undefined);
  if (found.length === 0) return schema;
  leftOut(found.map((keyword) => `${keyword} at its top`));
  const { properties } = schema;
  const parts = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => {
    const list = schema[keyword];
    return found.includes(keyword) && Array.isArray(list) ? (list as readonly JsonValue[]) : [];
  });
  const all = [...parts, { properties }].flatMap((part) =>
    isJsonObject(part) && isJsonObject(part["properties"]) ? [part["properties"]] : [],
  );
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !found.includes(key)));
  return { ...rest, type: "object", properties: Object.assign({}, ...all) as JsonObject };
}

function describe(text: string, examples: readonly string[], { descriptionMaxLength }: RuntimeRules): string {
  const own = cut(text, descriptionMaxLength);
  const context = examples.length === 0 ? "" : `\n\nExamples:\n${examples.join("\n\n")}`;
  // Half an example says less than none.
  return own.length + context.length <= descriptionMaxLength ? `${own}${context}` : own;
}

/** The examples of a package: its files, then the inputs of its tests; whole ones only, up to a length. */
function examplesOf(
  { manifest, tests, files }: ExportedPackage["found"],
  maxLength: number,
  notes: string[],
): readonly string[] {
  if (maxLength <= 0) return [];
  const decoder = new TextDecoder();
  const texts = [
    ...(manifest.examples ?? []).map((path) => decoder.decode(files.get(path)?.bytes).trim()),
    ...[...tests.values()].map(({ input, expected }) =>
      expected === undefined
        ? `Input: ${JSON.stringify(input)}`
        : `Input: ${JSON.stringify(input)}\nResult: ${JSON.stringify(expected)}`,
    ),
  ].filter((text) => text !== "");
  const kept: string[] = [];
  let length = 0;
  for (const text of texts) {
    if (length + text.length > maxLength) continue;
    length += text.length;
    kept.push(text);
  }
  if (kept.length < texts.length) {
    notes.push(
      `${manifest.toolId}: ${texts.length - kept.length} of ${texts.length} examples are left out (limit of ${maxLength} characters)`,
    );
  }
  return kept;
}

/** Gives each tool its name in the document. Names that would be the same get digits of their toolIds. */
function nameAll(
  packages: readonly ExportedPackage[],
  rules: RuntimeRules,
  notes: string[],
): ExportedTools["names"] {
  const wanted = packages.map(({ found: { manifest } }) => ({
    toolId: manifest.toolId,
    name: legalName(manifest.toolId, rules),
  }));
  const byName = Map.groupBy(wanted, ({ name }) => name.toLowerCase());
  return wanted.map((one) => {
    const same = byName.get(one.name.toLowerCase()) ?? [];
    if (same.length === 1) return one;
    const name = withDigest(one.name, one.toolId, rules.nameMaxLength);
    const others = same.filter(({ toolId }) => toolId !== one.toolId).map(({ toolId }) => toolId);
    notes.push(`${one.toolId}: named "${name}", because ${others.join(", ")} would be "${one.name}", too`);
    return { ...one, name };
  });
}

/** The name of a tool by itself; in the form of MCP, that of the gateway on the wire. */
function legalName(
  toolId: string,
  { otherCharacter, startsWithLetter, nameMaxLength }: RuntimeRules,
): string {
  const safe = toolId.replace(otherCharacter, "_");
  const started = startsWithLetter && !/^[A-Za-z_]/.test(safe) ? `_${safe}` : safe;
  return started.length <= nameMaxLength ? started : withDigest(started, toolId, nameMaxLength);
}

/** The name depends on the tool alone, and not on other tools. */
function withDigest(name: string, toolId: string, maxLength: number): string {
  return `${name.slice(0, maxLength - 9)}_${hash("sha256", toolId, "hex").slice(0, 8)}`;
}

function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
